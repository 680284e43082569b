"""How much longer a confined `bash -c true` takes than an unconfined one, beside raw bubblewrap."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import anyio

from bench.ratio import print_count, print_ratio, print_timing, side_by_side
from placet.sandbox import Bubblewrap, Command, Landlock, Profile, Sandbox, SandboxMode, Selection, Workdir
from placet.sandbox.backends.flags import Form, flags
from placet.session.ids import SessionId

ROUNDS = 100
_SESSION = SessionId("bench")
_DEV_NULL = subprocess.DEVNULL


@dataclass(frozen=True, slots=True)
class _Places:
    state: Path

    @property
    def config_file(self) -> Path:
        return self.state / "config.toml"


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="placet-bench-", dir=Path.home()) as folder:
        state, workspace = Path(folder) / "state", Path(folder) / "workspace"
        state.mkdir(mode=0o700)
        workspace.mkdir()
        await _measure(state, Workdir.of(workspace))


async def _measure(state: Path, workspace: Workdir) -> None:
    ways: dict[str, Callable[[], Awaitable[object]]] = {"bash -c true, bare": _bare(["bash", "-c", "true"])}
    confined = []
    for backend in (Bubblewrap(state), Landlock(state)):
        found = backend.probe()
        if not found.usable:
            print(f"  {backend.name} is not measured: {found.why}")
            continue
        box = Sandbox(_Places(state), Selection([backend], {}))
        ways[f"through placet, {backend.name}"] = _through(box, workspace, SandboxMode.WORKSPACE_WRITE)
        ways["through placet, full access"] = _through(box, workspace, SandboxMode.DANGER_FULL_ACCESS)
        confined.append(backend.name)
        if isinstance(backend, Bubblewrap):
            ways["raw bubblewrap, same flags"] = _bare(
                _raw(box.profile(_SESSION, workspace, SandboxMode.WORKSPACE_WRITE))
            )
    times = await side_by_side(ways, rounds=ROUNDS)
    for timing in times.values():
        print_timing(timing)
    for name in confined:
        aim = 4.5 if name == "bubblewrap" else 1.6
        slow, bare = times[f"through placet, {name}"], times["through placet, full access"]
        print_ratio(f"{name} over an unconfined one", slow, bare, aim=aim)
        print_ratio(f"{name} over a bare one", slow, times["bash -c true, bare"])
    if "bubblewrap" in confined:
        print_ratio(
            "placet over raw bubblewrap", times["through placet, bubblewrap"], times["raw bubblewrap, same flags"]
        )
    print_count("descriptors open at the end", len(os.listdir("/proc/self/fd")), "descriptors")


def _through(box: Sandbox, workspace: Workdir, mode: SandboxMode) -> Callable[[], Awaitable[object]]:
    async def way() -> object:
        return await box.run(Command(profile=box.profile(_SESSION, workspace, mode), script="true"))

    return way


def _bare(argv: list[str]) -> Callable[[], Awaitable[object]]:
    async def way() -> object:
        process = await asyncio.create_subprocess_exec(*argv, stdin=_DEV_NULL, stdout=_DEV_NULL, stderr=_DEV_NULL)
        return await process.wait()

    return way


def _raw(profile: Profile) -> list[str]:
    """The same sandbox without the filter and the status channel, which need descriptors."""
    words = flags(profile, Form.USER_NAMESPACE, seccomp=0, status=0, inside=profile.workspace.path)
    for name in ("--seccomp", "--json-status-fd"):
        at = words.index(name)
        del words[at : at + 2]
    return [shutil.which("bwrap") or "bwrap", *words, "bash", "-c", "true"]


if __name__ == "__main__":
    sys.exit(anyio.run(main))
