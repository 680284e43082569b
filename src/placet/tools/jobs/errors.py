"""Why a command could not be put into the background; nothing runs then."""

from __future__ import annotations

from placet.tools.errors import ToolsError


class JobRefused(ToolsError):
    """The job was not started: the agent's fault, or nobody's. The message says what to do instead."""

    code = "JOB_NOT_STARTED"
