"""What stands behind the line of a half: tools of the pipeline, its session, other plugins, and what it registers."""

from placet.cordis.host.services.desk import Desk

__all__ = ["Desk"]
