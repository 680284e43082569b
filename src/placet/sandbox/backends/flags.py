"""The arguments of bubblewrap for one profile (bwrap(1)). Pure, but for looking at what exists."""

from __future__ import annotations

import os
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Protocol

from placet.sandbox.mode import SandboxMode
from placet.sandbox.policy import Network, Profile
from placet.sandbox.workspace import git

_TEMP = (Path("/tmp"), Path("/var/tmp"))
_RUN = Path("/run")
# Parts of /run that hold programs and settings, not sockets: without them some systems have no programs at all.
_SHOWN_OF_RUN = ("/run/current-system", "/run/booted-system", "/run/wrappers", "/run/opengl-driver")
_NAME_RESOLUTION = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf")


class Form(Enum):
    """The ways to ask bubblewrap for a sandbox, best first; a probe tells which works on a machine."""

    USER_NAMESPACE = "--unshare-user --disable-userns"
    USER_NAMESPACE_OPEN = "--unshare-user"
    """For a bubblewrap before 0.8; the system call filter refuses further user namespaces."""
    NO_USER_NAMESPACE = ""
    """For uid 0 without user namespaces (containers) and for a setuid bubblewrap."""


class Open(Protocol):
    """Opens things for bubblewrap, which closes them; `by_handle` says whether it can mount by handle."""

    @property
    def by_handle(self) -> bool: ...

    def compare(self, path: Path) -> None:
        """Have the path compared from inside, before the command, with what it leads to now."""
        ...

    def handle(self, path: Path) -> int:
        """A handle on exactly that path."""
        ...

    def copy(self, path: Path) -> int | None:
        """What a small file holds now; None for anything else."""
        ...


def flags(
    profile: Profile, form: Form, *, seccomp: int, status: int, inside: Path, handle: Open | None = None
) -> list[str]:
    """Everything up to the command: `seccomp` and `status` are descriptors, `inside` the directory to start in.

    With `handle`, what a command could have moved is mounted by handle: by its path, a symlink that another command
    puts there in the same moment would be followed, out of the workspace. Raises `OSError` if a root cannot be opened.
    """
    late = sorted(path for path in profile.hidden if _below_any(path, (profile.workspace.path, *profile.git_roots)))
    early = [path for path in profile.hidden if path not in late and not _below_any(path, (*_TEMP, _RUN, Path("/dev")))]
    covered = [*early, *late]
    return [
        *("--ro-bind", "/", "/", "--dev", "/dev", "--unshare-pid", "--proc", "/proc", "--remount-ro", "/proc"),
        *form.value.split(),
        *("--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"),
        *(("--unshare-net",) if profile.network is Network.NONE else ()),
        *("--tmpfs", str(_RUN)),
        *_name_resolution(),
        *_temp(profile),
        *(word for path in early for word in _cover(path)),
        *_roots(profile, handle),
        *(word for path in late for word in _cover(path)),
        *(word for path in covered if path.is_dir() for word in ("--remount-ro", str(path))),
        *("--remount-ro", str(_RUN)),
        *("--new-session", "--die-with-parent", "--seccomp", str(seccomp), "--json-status-fd", str(status)),
        *("--chdir", str(inside), "--"),
    ]


def guarded(profile: Profile) -> list[Path]:
    """The git directories that commands of this profile can write in, and whose configuration must not be led away."""
    if profile.mode is SandboxMode.READ_ONLY:
        return []
    own = git.directory(profile.workspace.path)
    return [*([own] if own else []), *profile.git_roots]


def seen_inside(path: Path, profile: Profile) -> Path:
    """The name that a path of the machine has inside the sandbox: the session's temp directory is `/tmp` there."""
    return _TEMP[0] / path.relative_to(profile.temp) if path.is_relative_to(profile.temp) else path


def visible(path: Path, profile: Profile) -> bool:
    """Whether a directory of the machine can be seen from inside, under its own name or in the temp directory."""
    if _below_any(path, (profile.workspace.path, *profile.git_roots, profile.temp)):
        return True
    return not _below_any(path, (*_TEMP, _RUN, Path("/dev"), Path("/proc"), *profile.hidden))


def _temp(profile: Profile) -> Iterable[str]:
    for place in _TEMP:
        if place.is_dir() and not place.is_symlink():
            yield from ("--bind", str(profile.temp), str(place))


def _roots(profile: Profile, handle: Open | None) -> Iterable[str]:
    """The workspace and the outside git directories, with what in them stays read-only."""
    if profile.mode is SandboxMode.READ_ONLY:
        yield from _mount("--ro-bind", profile.workspace.path, handle)
        return
    for path in (profile.workspace.path, *profile.git_roots):
        yield from _mount("--bind", path, handle)
    own = git.directory(profile.workspace.path)
    if own is not None:
        yield from _inner("--bind", own, handle)
    pointer = git.link(profile.workspace.path)
    fixed = [path for directory in guarded(profile) for path in git.protected(directory)]
    fixed += git.targets(own, profile.workspace.path) if own else []
    kept = [*([pointer] if pointer else []), *fixed, *profile.protected]
    for path in _pinned(kept, (profile.workspace.path, *profile.git_roots)):
        yield from _inner("--bind", path, handle)
    for path in kept:
        yield from _inner("--ro-bind", path, handle)


def _mount(how: str, path: Path, handle: Open | None) -> tuple[str, ...]:
    if handle is not None and how == "--bind":
        handle.compare(path)  # an old bubblewrap goes by the path after all, even where it is given a handle
    if handle is None or not handle.by_handle:
        return (how, str(path), str(path))
    return (f"{how}-fd", str(handle.handle(path)), str(path))


def _inner(how: str, path: Path, handle: Open | None) -> tuple[str, ...]:
    """The same for something in a root; nothing if it is gone by now, or something else than it was a moment ago.

    A file is shown as a copy: programs replace files all the time, and a handle on the old one cannot be mounted.
    """
    try:
        copy = handle.copy(path) if handle is not None and handle.by_handle and how == "--ro-bind" else None
        if copy is not None:
            return ("--ro-bind-data", str(copy), str(path))
        return _mount(how, path, handle)
    except OSError:
        return ()


def _pinned(kept: Iterable[Path], roots: tuple[Path, ...]) -> list[Path]:
    """The folders between the roots and what is kept: as mount points they cannot be renamed away with it."""
    between = {above for path in kept for above in path.parents if any(root in above.parents for root in roots)}
    return sorted(between, key=lambda path: len(path.parts))


def _name_resolution() -> Iterable[str]:
    """Bind back, read-only, the files behind name resolution that lie in /run."""
    targets = {os.path.realpath(path) for path in _NAME_RESOLUTION} | set(_SHOWN_OF_RUN)
    for path in sorted(targets):
        if path.startswith("/run/") and os.path.exists(path):
            yield from ("--ro-bind", path, path)


def _cover(path: Path) -> tuple[str, ...]:
    """An empty mount over a directory, and a file that cannot be opened over a file."""
    return ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", "/dev/null", str(path))


def _below_any(path: Path, roots: Iterable[Path]) -> bool:
    return any(path == root or root in path.parents for root in roots)
