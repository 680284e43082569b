"""What an agent can find out before it writes a plugin, and about those that it wrote. Looking changes nothing."""

from placet.cordis.inspect.provider import Inspection, Method, Platform, Provider, Reason, Unanswered

__all__ = ["Inspection", "Method", "Platform", "Provider", "Reason", "Unanswered"]
