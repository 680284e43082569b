"""What one call may touch. A profile is made for each call, so that calls in different modes can overlap."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from placet.session.ids import SessionId

from .errors import WorkdirChanged, WorkdirUnusable
from .mode import SandboxMode


class Network(StrEnum):
    """Which network a workspace's commands reach."""

    OPEN = "open"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Workdir:
    """A directory by path, device and inode: a path alone can be made to name another directory."""

    path: Path
    device: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Workdir:
        """The directory that the path names now, with symlinks resolved. Raises `WorkdirUnusable`."""
        try:
            real = Path(os.path.realpath(path, strict=True))
            facts = real.stat()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise WorkdirUnusable(f"The working directory {str(path)!r} cannot be used: {reason}") from error
        if not real.is_dir():
            raise WorkdirUnusable(f"The working directory {str(path)!r} is not a directory")
        return cls(real, facts.st_dev, facts.st_ino)

    @property
    def id(self) -> str:
        """The identity as subjects and logs write it, `DEV:INO`."""
        return f"{self.device}:{self.inode}"

    def open(self) -> int:
        """A handle (O_PATH) on exactly this directory, for the caller to close.

        Raises `WorkdirUnusable` if the path leads nowhere, `WorkdirChanged` if it leads to another directory.
        """
        try:
            handle = os.open(self.path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise WorkdirUnusable(
                f"The working directory {str(self.path)!r} cannot be used: {error.strerror}"
            ) from error
        facts = os.fstat(handle)
        if (facts.st_dev, facts.st_ino) != (self.device, self.inode):
            os.close(handle)
            raise WorkdirChanged(
                f"The directory {str(self.path)!r} has been replaced by another one since this call was made"
            )
        return handle


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What one call may touch.

    `workspace` is the session's folder; `temp` its private temp directory; `git_roots` the outside git directories that
    were resolved when the session was created; `hidden` what the call must not read; `protected` what stays read-only
    inside the workspace; `escalated` that a person granted the mode for this call only.
    """

    mode: SandboxMode
    session: SessionId
    workspace: Workdir
    temp: Path
    git_roots: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    protected: tuple[Path, ...] = ()
    network: Network = Network.OPEN
    unix_sockets: bool = False
    escalated: bool = False

    @property
    def writable(self) -> tuple[Path, ...]:
        """The roots that the call may write in, protected paths aside."""
        if self.mode is SandboxMode.READ_ONLY:
            return (self.temp,)
        return (self.workspace.path, *self.git_roots, self.temp)

    def check_roots(self) -> None:
        """Raise `WorkdirChanged` if the way to a root leads over a symlink now.

        The roots were resolved when the session was created. Another session, in a folder above, can put a symlink in
        the place of one, and the right to write would follow it to wherever it leads.
        """
        for root in (self.workspace.path, *self.git_roots):
            try:
                real = os.path.realpath(root)
            except OSError as error:  # it is being replaced in this moment
                raise WorkdirChanged(f"The folder {str(root)!r} of this session cannot be reached now") from error
            if real != str(root):
                raise WorkdirChanged(f"The folder {str(root)!r} of this session was replaced by a symlink to {real!r}")
