"""Control groups keep the bounds of a command where placet was given one to divide, and nothing is left of them."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from placet.sandbox.linux.cgroup import NoGroups, delegated
from tests.conftest import missing

Serve = Callable[..., Any]


def _mounted() -> Path | None:
    """Where groups of version 2 with the two controllers can be made by this account."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, facts = line.partition(" - ")
        top = Path(fields.split()[4])
        if facts.startswith("cgroup2 ") and os.access(top, os.W_OK):
            offered = (top / "cgroup.controllers").read_text().split()
            return top if {"memory", "pids"} <= set(offered) else None
    return None


@pytest.fixture
def base() -> Iterator[Path]:
    """A group of its own that divides nothing yet, as systemd delegates one."""
    top = _mounted()
    if top is None:
        missing("control groups", "there are none of version 2 with memory and pids that this account can make")
    try:
        (top / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError as error:
        missing("control groups", f"the controllers cannot be handed down: {error}")
    made = top / f"placet-test-{secrets.token_hex(4)}"
    made.mkdir()
    yield made
    for folder, _, _ in os.walk(made, topdown=False):
        os.rmdir(folder)


@pytest.fixture(params=["Bubblewrap", "Landlock"])
def serve(request: pytest.FixtureRequest, base: Path) -> Serve:
    """Runs the body of an async function in a server of its own in the group, with `rig`; what it prints as JSON."""

    def run(body: str, *, end: signal.Signals | None = None) -> Any:
        start = base / "placet-server" if (base / "placet-server").is_dir() else base  # where an earlier one has been
        script = _SERVER.format(backend=request.param, body=textwrap.indent(textwrap.dedent(body), " " * 8))
        argv = ["sh", "-c", f'echo $$ > {start}/cgroup.procs && exec "$@"', "sh", sys.executable, "-c", script]
        if end is None:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stderr
            said = json.loads(done.stdout)
            if isinstance(said, dict) and "unusable" in said:
                missing(request.param.lower(), said["unusable"])
            return said
        server = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        line = server.stdout.readline()
        server.send_signal(end)
        server.wait()
        server.stdout.close()
        said = json.loads(line)
        if isinstance(said, dict) and "unusable" in said:
            missing(request.param.lower(), said["unusable"])
        return said

    return run


def commands(base: Path) -> list[str]:
    return sorted(path.name for path in base.glob("placet-command-*"))


def test_a_command_is_in_a_group_of_its_own_which_is_gone_after_it(serve: Serve, base: Path) -> None:
    said = serve("""
        done = await rig.run("cat /proc/self/cgroup; (setsid sleep 60 &); true")
        say({"code": done.exit_code, "text": done.stdout.text, "own": Path("/proc/self/cgroup").read_text()})
    """)
    assert (said["code"], "/placet-command-" in said["text"]) == (0, True)
    assert said["own"].strip().endswith("/placet-server")
    assert commands(base) == []


def test_too_many_processes_are_refused_and_the_command_is_ended(serve: Serve) -> None:
    said = serve("""
        done = await rig.run("bomb() { bomb | bomb & }; bomb; wait; sleep 60", timeout_ms=60_000)
        say([done.exceeded, done.signal, done.timed_out])
    """)
    assert said == ["more than 30 processes at once", "SIGKILL", False]


def test_a_hog_is_ended_by_the_kernel_and_the_line_says_why(serve: Serve) -> None:
    said = serve("""
        began = time.monotonic()
        hog = "tail /dev/zero"
        done = await rig.run(f"{hog}; echo survived", timeout_ms=60_000)
        say([done.exceeded, done.signal, done.stdout.text, time.monotonic() - began < 50])
    """)
    assert said == ["more than 96 MiB of memory", "SIGKILL", "", True]


def test_many_at_once_have_each_its_own_group(serve: Serve, base: Path) -> None:
    said = serve("""
        seen = []
        async def one():
            seen.append((await rig.run("grep -o 'placet-command.*' /proc/self/cgroup")).stdout.text)
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(one)
        say(len(set(seen)))
    """)
    assert said == 10
    assert commands(base) == []


def test_what_a_killed_server_leaves_is_swept_at_the_next_start(serve: Serve, base: Path) -> None:
    serve('await rig.run("echo begun; sleep 60", on_output=lambda *_: say({}))', end=signal.SIGKILL)
    assert len(commands(base)) == 1
    (base / "placet-command-x-y-z").mkdir()
    said = serve("rig.sandbox.sweep(); say(True)")
    assert said is True
    assert commands(base) == ["placet-command-x-y-z"]


def test_a_group_with_other_programs_in_it_is_left_alone(base: Path) -> None:
    other = subprocess.Popen(["sleep", "60"])
    try:
        (base / "cgroup.procs").write_text(str(other.pid))
        script = "from placet.sandbox.linux.cgroup import delegated; delegated()"
        argv = ["sh", "-c", f'echo $$ > {base}/cgroup.procs && exec "$@"', "sh", sys.executable, "-c", script]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        assert "NoGroups: other programs are in the control group" in done.stderr
        assert [path.name for path in base.iterdir() if path.is_dir()] == []
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize(
    ("own", "mounts"),
    [
        ("", ""),
        ("4:memory:/x\n", "30 1 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
        ("0::/gone\n", "30 1 0:1 / /nowhere rw - cgroup2 cgroup2 rw\n"),
    ],
)
def test_a_machine_without_them_says_so(tmp_path: Path, own: str, mounts: str) -> None:
    (tmp_path / "cgroup").write_text(own)
    (tmp_path / "mountinfo").write_text(mounts)
    with pytest.raises(NoGroups, match="no control groups of version 2"):
        delegated(tmp_path)


def test_a_group_without_the_two_bounds_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "g r").mkdir()
    (tmp_path / "g r" / "cgroup.controllers").write_text("cpu pids\n")
    (tmp_path / "cgroup").write_text("0::/g r\n")
    escaped = str(tmp_path).replace(" ", "\\040")
    (tmp_path / "mountinfo").write_text(f"30 1 0:1 / {escaped} rw - cgroup2 cgroup2 rw\n")
    with pytest.raises(NoGroups, match="no bounds for memory here"):
        delegated(tmp_path)


_SERVER = """
import json, sys, time
from pathlib import Path
import anyio
from placet.sandbox import Bubblewrap, Landlock, Settings
from placet.sandbox.execution.bounds import Bounds
from placet.testing.backends import rig as make
def say(what): print(json.dumps(what), flush=True)
async def main():
    with make(lambda state: [{backend}(state)], Settings(bounds=Bounds(processes=30, memory=96 << 20))) as rig:
        row = rig.sandbox.selection.report()["backends"][0]
        if not row["usable"]:
            return say({{"unusable": row["why"]}})
{body}
anyio.run(main)
"""
