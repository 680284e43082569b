"""Whether a folder may be the workspace of a session, and the one line that says why not."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from placet.sandbox.errors import WorkdirUnusable
from placet.sandbox.policy import Workdir

from . import git
from .hidden import homes

_PACKAGE = Path(__file__).resolve().parents[2]
_SYSTEM = tuple(Path(name) for name in ("/proc", "/sys", "/dev", "/run"))
WRITE_PROBE = 'set -C; probe=".placet-probe-$$-$RANDOM"; : > "$probe" && rm -f -- "$probe"'
"""A script that writes in the working directory and leaves nothing behind."""


@dataclass(frozen=True, slots=True)
class WorkspaceFacts:
    """A folder that may be a workspace: what `session/created` records, and what in it stays read-only."""

    workdir: Workdir
    git_roots: tuple[Path, ...]
    read_only: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class WorkspaceRefused:
    """A folder that may not, and the line for the person."""

    why: str


def check(path: Path, state: Path, config_file: Path) -> WorkspaceFacts | WorkspaceRefused:
    """Look at a folder; nothing in it is run or changed."""
    if not path.is_absolute():
        return WorkspaceRefused(f"The folder {str(path)!r} must be given with its whole path")
    try:
        workdir = Workdir.of(path)
    except WorkdirUnusable as error:
        return WorkspaceRefused(error.why.replace("The working directory", "The folder"))
    why = _too_wide(workdir.path) or _too_close(workdir.path, state, config_file)
    if why is not None:
        return WorkspaceRefused(why)
    if not os.access(workdir.path, os.R_OK | os.X_OK):
        return WorkspaceRefused(
            f"The folder {workdir.path} cannot be read by {_account(os.geteuid())}; choose a folder of your own"
        )
    return WorkspaceFacts(workdir, git.outside_roots(workdir.path), own_code(workdir.path, state, config_file))


def own_code(workspace: Path, state: Path, config_file: Path) -> tuple[Path, ...]:
    """What of placet itself lies inside the folder and is to stay read-only there; the outermost paths only."""
    below = os.path.join(workspace, "")
    inside = {Path(name) for name in _own(state, config_file) if name.startswith(below) and os.path.exists(name)}
    return tuple(sorted(path for path in inside if not inside.intersection(path.parents)))


def not_writable(path: Path) -> str:
    """Why confined commands cannot write in a folder, naming its owner where that is the reason."""
    owner, own = path.stat().st_uid, os.geteuid()
    if owner != own:
        return (
            f"The folder {path} belongs to {_account(owner)} and placet runs as {_account(own)}, so commands could not"
            f" write there: start placet as {_account(owner)}, or choose a folder of your own"
        )
    return f"Commands cannot write in {path} from inside the sandbox: the folder or its file system is read-only"


def _too_wide(path: Path) -> str | None:
    if path == Path("/"):
        return "The whole file system (/) cannot be a workspace: choose a folder in it"
    for home in homes():
        if path == home:
            return f"Your home directory {path} cannot be a workspace: choose or make a folder in it"
        if path in home.parents:
            return f"The folder {path} holds your home directory and cannot be a workspace: choose a folder further in"
    if any(path == system or system in path.parents for system in _SYSTEM if system != Path("/run")) or path == Path(
        "/run"
    ):
        return f"The folder {path} belongs to the system and cannot be a workspace"
    return None


def _too_close(path: Path, state: Path, config_file: Path) -> str | None:
    real = Path(os.path.realpath(state))
    if path == real or path in real.parents:
        return (
            f"The folder {path} holds placet's own state ({real}) and cannot be a workspace: choose a folder further in"
        )
    if real in path.parents:
        return f"The folder {path} lies in placet's own state directory and cannot be a workspace"
    for own in map(Path, _own(state, config_file)):
        if path == own or own in path.parents:
            return (
                f"The folder {path} lies in placet's own program ({own}), which must not change: choose another folder"
            )
    return None


def _own(state: Path, config_file: Path) -> Iterable[str]:
    """The code, the environment and the configuration of the running placet, and what starts it the next time.

    Looked up for each call, so these are plain texts: paths with symlinks resolved.
    """
    names = [sys.prefix, sys.exec_prefix, *(entry for entry in sys.path if os.path.isabs(entry)), str(_PACKAGE)]
    names += [str(config_file.parent), str(state), *map(str, _launchers(_PACKAGE.parents[1]))]
    return dict.fromkeys(os.path.realpath(name) for name in names)


def _launchers(checkout: Path) -> Iterable[Path]:
    """What `make run` executes, where placet runs from a checkout of its sources; nothing where it is installed."""
    if not (checkout / "src" / "placet").is_dir():
        return ()
    names = ("Makefile", "hatch_build.py", "pyproject.toml", "requirements", "tools", "ui")
    return (checkout / name for name in names if (checkout / name).exists())


def _account(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"
