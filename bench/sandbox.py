"""How much longer a confined `bash -c true` takes than an unconfined one, beside raw bubblewrap."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import anyio

from bench.ratio import print_count, print_ratio, print_timing, side_by_side
from placet.sandbox import Bubblewrap, Command, Landlock, Profile, Sandbox, SandboxMode, Selection, Workdir
from placet.sandbox.backends.flags import Form, flags
from placet.sandbox.service import Settings
from placet.session.ids import SessionId

ROUNDS = 100
_OTHERS = {"codex sandbox": ["codex", "sandbox", "linux", "bash", "-c", "true"], "srt": ["srt", "-c", "true"]}
_SESSION = SessionId("bench")
_DEV_NULL = subprocess.DEVNULL
_WRITES = 1000
_MANY_WRITES = f"for _ in {{1..{_WRITES}}}; do : > file; done"


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
    ways |= _of_others(workspace)
    times = await side_by_side(ways, rounds=ROUNDS)
    for timing in times.values():
        print_timing(timing)
    for name in confined:
        slow, bare = times[f"through placet, {name}"], times["through placet, full access"]
        if name == "bubblewrap":
            print_ratio("bubblewrap over an unconfined one", slow, bare)
            print_ratio("bubblewrap over a bare one", slow, times["bash -c true, bare"], aim=4.5)
        else:
            print_ratio("landlock over an unconfined one", slow, bare, aim=1.6)
            print_ratio("landlock over a bare one", slow, times["bash -c true, bare"])
    if "landlock" in confined:
        await _watching(state, workspace)
    if "bubblewrap" in confined:
        print_ratio(
            "placet over raw bubblewrap", times["through placet, bubblewrap"], times["raw bubblewrap, same flags"]
        )
    for backend in (Bubblewrap(state), Landlock(state)):
        if backend.name in confined:
            await _much_output(Sandbox(_Places(state), Selection([backend], {})), workspace, backend.name)
            began = time.perf_counter()
            backend.probe()
            print_count(f"trial of {backend.name}", (time.perf_counter() - began) * 1000, "ms", aim="below 100")
    print_count("descriptors open at the end", len(os.listdir("/proc/self/fd")), "descriptors")


async def _watching(state: Path, workspace: Workdir) -> None:
    """What it costs to watch what commands try to write, an option that is off by default."""
    plain = Sandbox(_Places(state), Selection([Landlock(state)], {}))
    watched = Sandbox(_Places(state), Selection([Landlock(state)], {}), settings=Settings(watch=True))
    for what, script, rounds in (("true", "true", ROUNDS), (f"{_WRITES} writes", _MANY_WRITES, 10)):
        ways = {f"landlock, {what}": plain, f"landlock, {what}, watched": watched}
        mode = SandboxMode.WORKSPACE_WRITE
        times = await side_by_side(
            {name: _through(box, workspace, mode, script) for name, box in ways.items()}, rounds=rounds
        )
        for timing in times.values():
            print_timing(timing)
        without, with_it = times.values()
        print_ratio(f"landlock, {what}: watched over not", with_it, without)


async def _much_output(box: Sandbox, workspace: Workdir, name: str) -> None:
    """How much memory this process takes more while a command writes 1 GiB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    profile = box.profile(_SESSION, workspace, SandboxMode.WORKSPACE_WRITE)
    done = await box.run(Command(profile=profile, script=f"head -c {1 << 30} /dev/zero"))
    assert done.stdout.total_bytes == 1 << 30
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print_count(f"memory for 1 GiB of output, {name}", grown, "MiB", aim="at most 32")
    print_count(f"time for 1 GiB of output, {name}", time.perf_counter() - began, "s")


def _through(
    box: Sandbox, workspace: Workdir, mode: SandboxMode, script: str = "true"
) -> Callable[[], Awaitable[object]]:
    async def way() -> object:
        return await box.run(Command(profile=box.profile(_SESSION, workspace, mode), script=script))

    return way


def _of_others(workspace: Workdir) -> dict[str, Callable[[], Awaitable[object]]]:
    """A static launcher in C that enters a ruleset, and the sandbox commands of other agents, if they work here."""
    ways: dict[str, Callable[[], Awaitable[object]]] = {}
    compiler, launcher = shutil.which("cc"), workspace.path / "launcher"
    if compiler is None:
        print("  a static Landlock launcher is not measured: there is no C compiler")
    else:
        made = subprocess.run(
            [compiler, "-O2", "-static", "-x", "c", "-o", str(launcher), "-"], input=_LAUNCHER, text=True, check=False
        )
        if made.returncode == 0:
            ways["a static Landlock launcher"] = _bare([str(launcher), str(workspace.path), "bash", "-c", "true"])
    for name, words in _OTHERS.items():
        if shutil.which(words[0]) is None:
            print(f"  {name} is not measured: it is not installed")
        elif subprocess.run(words, stdin=_DEV_NULL, capture_output=True, check=False).returncode != 0:
            print(f"  {name} is not measured: it does not run a command here")
        else:
            ways[name] = _bare(words)
    return ways


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


_LAUNCHER = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
struct __attribute__((packed)) beneath { uint64_t rights; int32_t parent; };
int main(int count, char **words) {
    uint64_t rights = 0x7ffe & ~0xdULL;  /* all that writes, up to version 3 */
    int rules = syscall(444, &rights, sizeof rights, 0);
    struct beneath rule = {rights, open(words[1], O_PATH | O_CLOEXEC)};
    if (count < 3 || rules < 0 || syscall(445, rules, 1, &rule, 0)) return 120;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(446, rules, 0)) return 121;
    execvp(words[2], words + 2);
    return 122;
}
"""


if __name__ == "__main__":
    sys.exit(anyio.run(main))
