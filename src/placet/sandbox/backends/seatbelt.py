"""Confinement on macOS: the profile for `sandbox-exec`, as text. It was never tried, so nothing is run with it yet."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from placet.sandbox.backend import Enforcement, Launch, ProbeResult, Process
from placet.sandbox.errors import SandboxUnavailable
from placet.sandbox.mode import SandboxMode
from placet.sandbox.policy import Network, Profile
from placet.sandbox.workspace import git

_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_UNTRIED = "its profile was never tried on a Mac, so no command is trusted to it"


class Seatbelt:
    """The sandbox of macOS. `profile_text` is what `sandbox-exec -p` would be given."""

    name = "seatbelt"
    enforcement = Enforcement.UNTESTED
    not_governed: tuple[str, ...] = (
        "Nothing is known about what it holds: it was never tried.",
        "Commands can read your files, except the credentials that placet hides.",
        "The network is open unless the workspace is set to none.",
    )
    phrases = ("operation not permitted",)
    private: tuple[Path, ...] = ()
    protects = True
    counts_tasks = False

    def probe(self) -> ProbeResult:
        """Never usable: elsewhere there is none, and on a Mac it would be a promise that nobody has kept yet."""
        if sys.platform != "darwin":
            return ProbeResult(False, "it is a part of macOS")
        return ProbeResult(False, _UNTRIED, "run placet on Linux, or in a Linux virtual machine")

    async def spawn(self, launch: Launch) -> Process:
        raise SandboxUnavailable(f"Seatbelt is not used: {_UNTRIED}")

    def sweep(self) -> None:
        """Nothing is left behind that this backend could remove."""


def profile_text(profile: Profile) -> str:
    """The profile in the language of `sandbox-exec`: of the rules that fit, the last one counts."""
    rules = ["(version 1)", "(allow default)", "(deny file-write*)"]
    rules += [f"(allow file-write* (subpath {_quoted(root)}))" for root in profile.writable]
    rules += [f"(allow file-write-data (literal {_quoted(device)}))" for device in _DEVICES]
    rules += [f"(deny file-write* (subpath {_quoted(path)}))" for path in _kept(profile)]
    rules += [f"(deny file-read* file-write* (subpath {_quoted(path)}))" for path in profile.hidden]
    if not profile.unix_sockets:
        rules.append("(deny network* (remote unix-socket))")
    if profile.network is Network.NONE:
        rules.append("(deny network*)")
    rules += ["(deny process-info* (target others))", "(deny signal (target others))", "(deny mach-priv*)"]
    return "\n".join(rules) + "\n"


def _kept(profile: Profile) -> Iterable[Path]:
    """What stays read-only inside the writable roots, whether it is there or not."""
    if profile.mode is SandboxMode.READ_ONLY:
        return
    own = git.directory(profile.workspace.path)
    for directory in [*([own] if own else [profile.workspace.path / ".git"]), *profile.git_roots]:
        yield from (directory / name for name in git.READ_ONLY)
    yield from profile.protected


def _quoted(path: Path | str) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
