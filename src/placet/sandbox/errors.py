"""What can go wrong when a command is to run confined, whose fault it is, and what to do about it."""

from __future__ import annotations


class SandboxError(Exception):
    """A command could not be run as asked. `code` is the word for programs, `hint` what a person can do."""

    code = "SANDBOX_ERROR"

    def __init__(self, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.hint = hint


class SandboxUnavailable(SandboxError):
    """No backend can confine commands on this machine, or the chosen one broke. The machine's fault; nothing ran."""

    code = "SANDBOX_UNAVAILABLE"


class InvalidCommand(SandboxError):
    """The command is not something that a shell can be given. The caller's fault; nothing ran."""

    code = "INVALID_COMMAND"


class WorkdirUnusable(SandboxError):
    """The working directory is missing, is no directory, or may not be entered. The caller's fault; nothing ran."""

    code = "WORKDIR_UNUSABLE"


class WorkdirChanged(SandboxError):
    """The working directory is not the one that was signed (another device or inode). Nothing ran."""

    code = "file-changed"


class StartFailed(SandboxError):
    """The system refused to start the process (memory, process limit). Nothing ran."""

    code = "START_FAILED"


class Stopped(SandboxError):
    """The stop was set before the process came to be. Nobody's fault; nothing ran."""

    code = "STOPPED"


class HelperFailed(SandboxError):
    """The confined helper did not answer: what it was asked needs more than it may use. The caller's fault."""

    code = "HELPER_FAILED"


class HelperOverran(HelperFailed):
    """The confined helper took too long and was killed. The caller's fault; ask for less at once."""

    code = "TOOK_TOO_LONG"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"It took longer than {seconds:g} seconds and was ended")


class PathLeadsAway(SandboxError):
    """A path leads through a symlink, so that a person would read another one than is used. The caller's fault."""

    code = "SYMLINK"


class HelperStopped(SandboxError):
    """The turn was stopped, and the helper with it. Nobody's fault."""

    code = "ABORTED"


class MoveFailed(SandboxError):
    """Something could not be moved away: it is gone, or the system refused. Nothing was removed."""

    code = "MOVE_FAILED"
