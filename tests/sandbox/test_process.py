"""One command from start to end: its output, its limits, its stop, and what it leaves behind."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from placet.kernel.signal import AbortSignal
from placet.sandbox import Bubblewrap, InvalidCommand, SandboxMode, Settings, Workdir, WorkdirChanged, WorkdirUnusable
from placet.sandbox.linux import processes
from placet.testing.backends import FULL, READ_ONLY, WORKSPACE_WRITE, Rig, rig

pytestmark = pytest.mark.anyio

SHARE = 1 if os.environ.get("PLACET_SOAK") == "1" else 10
PLACES = [("bubblewrap", WORKSPACE_WRITE), ("landlock", WORKSPACE_WRITE), ("bubblewrap", FULL)]


@pytest.fixture(params=PLACES, ids=["bubblewrap", "landlock", "full-access"])
def everywhere(request: pytest.FixtureRequest) -> tuple[Rig, SandboxMode]:
    """A rig and a mode, for each way in which a command can run."""
    name, mode = request.param
    made = request.getfixturevalue(name)
    made.sandbox.selection.choose()
    return made, mode


@pytest.fixture
def since() -> int:
    """When the test began, in the ticks of /proc: this process also adopts what servers of earlier tests leave."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


@pytest.fixture
def nap() -> str:
    """A long duration for `sleep` that no other test uses."""
    return f"61.{random.randrange(10**9):09}"


def alive(mark: str) -> list[int]:
    """The processes with the mark in their command line, zombies aside."""
    found = []
    for seen in processes.everyone():
        try:
            with open(f"/proc/{seen.pid}/cmdline", "rb") as file:
                if mark.encode() in file.read() and not seen.dead and seen.pid != os.getpid():
                    found.append(seen.pid)
        except OSError:
            continue
    return found


def zombies(since: int) -> list[tuple[int, str]]:
    """The dead children of this process that were started since then and that nobody has reaped, with their names."""
    dead = [seen for seen in processes.own_children() if seen.dead and seen.start >= since]
    return [(seen.pid, processes.status(seen.pid).get("Name", "")) for seen in dead]


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("sleep NAP & echo done", 0, "done\n"),
        ("sleep NAP >/dev/null & echo done", 0, "done\n"),
        ("sleep NAP </dev/null >/dev/null 2>&1 & echo done", 0, "done\n"),
        ("(sleep NAP &) ; exit 3", 3, ""),
        ("setsid sleep NAP & echo done", 0, "done\n"),
    ],
)
async def test_bsh_01_a_silent_child_delays_nothing_and_is_gone(
    everywhere: tuple[Rig, SandboxMode], script: str, code: int, said: str, nap: str, since: int
) -> None:
    rig, mode = everywhere
    began = time.monotonic()
    done = await rig.run(script.replace("NAP", nap), mode)
    assert time.monotonic() - began < 18  # by itself it would last for the 20 seconds of the rig
    assert (done.exit_code, done.stdout.text) == (code, said)
    assert alive(nap) == []
    assert zombies(since) == []


async def test_bsh_03_after_a_timeout_nothing_goes_on(
    everywhere: tuple[Rig, SandboxMode], nap: str, since: int
) -> None:
    rig, mode = everywhere
    script = f"echo before; (trap '' TERM; sleep {nap}; echo late > late.txt) & (setsid sleep {nap} &) ; wait"
    done = await rig.run(script, mode, timeout_ms=2_000)
    assert (done.timed_out, done.aborted, done.exit_code, done.signal) == (True, False, None, "SIGTERM")
    assert done.stdout.text == "before\n"
    assert alive(nap) == []
    assert zombies(since) == []
    assert not (rig.ws / "late.txt").exists()


async def test_bsh_03_a_child_that_ignores_sigterm_is_killed(everywhere: tuple[Rig, SandboxMode], nap: str) -> None:
    rig, mode = everywhere
    done = await rig.run(f"trap '' TERM; sleep {nap}; sleep {nap}; sleep {nap}", mode, timeout_ms=2_000)
    assert (done.timed_out, done.signal) == (True, "SIGKILL")
    assert 5000 <= done.duration_ms < 20_000
    assert alive(nap) == []


async def test_c5_a_command_that_traps_the_timeout_and_exits_0_still_timed_out(
    everywhere: tuple[Rig, SandboxMode],
) -> None:
    rig, mode = everywhere
    done = await rig.run("trap 'echo caught; exit 0' TERM; while :; do sleep 0.05; done", mode, timeout_ms=2_000)
    assert (done.timed_out, done.exit_code, done.stdout.text) == (True, 0, "caught\n")


async def test_a_stop_ends_the_tree_and_says_so(everywhere: tuple[Rig, SandboxMode], nap: str) -> None:
    rig, mode = everywhere
    stop = AbortSignal()
    begun = asyncio.Event()
    async with anyio.create_task_group() as group:

        async def run() -> None:
            done = await rig.run(
                f"echo begun; sleep {nap} & sleep {nap}", mode, signal=stop, on_output=lambda *_: begun.set()
            )
            assert (done.aborted, done.timed_out, done.exit_code, done.signal) == (True, False, None, "SIGTERM")
            assert done.stdout.text == "begun\n"

        group.start_soon(run)
        await begun.wait()
        stop.abort()
    assert alive(nap) == []


async def test_a_stop_before_the_start_starts_nothing(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    stop = AbortSignal()
    stop.abort()
    done = await rig.run("echo ran > ran", mode, signal=stop)
    assert (done.aborted, done.exit_code, done.signal) == (True, None, None)
    assert not (rig.ws / "ran").exists()


async def test_starts_stopped_any_time_leave_nothing(everywhere: tuple[Rig, SandboxMode], nap: str, since: int) -> None:
    rig, mode = everywhere
    before = len(os.listdir("/proc/self/fd"))
    for number in range(300 // SHARE):
        stop = AbortSignal()
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: rig.run(f"sleep {nap}", mode, signal=stop))  # noqa: B023
            await anyio.sleep(number * 0.0007)
            stop.abort()
    await rig.run("true", mode)  # takes away what was left to this process a moment after a stop
    assert alive(nap) == [] and zombies(since) == []
    assert len(os.listdir("/proc/self/fd")) <= before + 4


async def test_a_cancelled_task_kills_its_command(everywhere: tuple[Rig, SandboxMode], nap: str) -> None:
    rig, mode = everywhere
    begun = asyncio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: rig.run(f"echo begun; sleep {nap}", mode, on_output=lambda *_: begun.set()))
        await begun.wait()
        group.cancel_scope.cancel()
    assert alive(nap) == []


async def test_bsh_10_stubborn_commands_die_when_their_server_gives_up(
    everywhere: tuple[Rig, SandboxMode], nap: str, since: int
) -> None:
    rig, mode = everywhere
    count = 10
    begun: set[int] = set()
    ready = asyncio.Event()

    async def one(number: int) -> None:
        def told(*_: object) -> None:
            begun.add(number)
            if len(begun) == count:
                ready.set()

        await rig.run(f"trap '' TERM HUP INT; echo x; sleep {nap}; sleep {nap}", mode, on_output=told)

    async with anyio.create_task_group() as group:
        for number in range(count):
            group.start_soon(one, number)
        await ready.wait()
        group.cancel_scope.cancel()
    assert alive(nap) == []
    assert zombies(since) == []


async def test_commands_at_once_do_not_disturb_each_other(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    results: dict[int, tuple[int | None, str]] = {}

    async def one(number: int) -> None:
        done = await rig.run(f"echo {number}; exit {number}", mode)
        results[number] = (done.exit_code, done.stdout.text)

    async with anyio.create_task_group() as group:
        for number in range(40):
            group.start_soon(one, number)
    assert results == {number: (number, f"{number}\n") for number in range(40)}


async def test_bsh_05_bytes_that_are_no_text_are_shown_and_counted(bubblewrap: Rig) -> None:
    done = await bubblewrap.run(r"printf 'a\xff\xfe\xf0\x9fz'; printf 'caf\xc3'; sleep 0.1; printf '\xa9'")
    assert done.stdout.text == "a����zcafé"
    assert (done.stdout.replaced_bytes, done.stdout.dropped_bytes) == (4, 0)


async def test_bsh_05_a_lone_surrogate_is_three_bytes_that_are_no_text(bubblewrap: Rig) -> None:
    done = await bubblewrap.run(r"""python3 -c 'import os; os.write(1, "\ud800".encode("utf-8", "surrogatepass"))'""")
    assert (done.stdout.text, done.stdout.replaced_bytes) == ("���", 3)


@pytest.fixture
def spoken_to() -> Iterator[int]:
    """Have the standard input of this process be what a protocol speaks on: two lines wait, and it never ends."""
    reading, writing = os.pipe()
    before = os.dup(0)
    try:
        os.write(writing, b"one\ntwo\n")
        os.dup2(reading, 0)
        yield reading
    finally:
        os.dup2(before, 0)
        for descriptor in (reading, writing, before):
            os.close(descriptor)


async def test_bsh_08_standard_input_is_not_read(everywhere: tuple[Rig, SandboxMode], spoken_to: int) -> None:
    rig, mode = everywhere
    script = "cat; head -1; python3 -c 'input()'; read x; (cat) & wait; readlink /proc/self/fd/0"
    done = await rig.run(script, mode, timeout_ms=10_000)
    assert (done.timed_out, done.stdout.text) == (False, "/dev/null\n")
    os.set_blocking(spoken_to, False)
    assert os.read(spoken_to, 100) == b"one\ntwo\n"


async def test_bsh_11_three_gigabytes_of_output_take_little_memory(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    size = 3 * 1024**3 // SHARE
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = await rig.run(f"head -c {size} /dev/zero; echo end", mode, timeout_ms=120_000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 32 * 1024
    assert (done.exit_code, done.stdout.truncated, done.stdout.total_bytes) == (0, True, size + 4)
    assert done.stdout.text.endswith("end\n")
    assert done.stdout.dropped_bytes == size + 4 - 64_000
    spill = done.stdout.spill_path
    assert spill is not None
    assert spill.is_relative_to(rig.sandbox.temp_dir(rig.session).parents[1] / "spill")
    assert spill.stat().st_size == 64 * 1024 * 1024
    assert done.stdout.spill_truncated


async def test_c3_an_exit_code_and_a_signal_are_plain_results(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    assert ((done := await rig.run("exit 3", mode)).exit_code, done.signal) == (3, None)
    assert ((done := await rig.run("kill -9 $$", mode)).exit_code, done.signal) == (None, "SIGKILL")
    assert ((done := await rig.run("kill -SYS $$", mode)).exit_code, done.signal) == (None, "SIGSYS")


@pytest.mark.parametrize("script", ["echo \0", "echo \ud800", "x" * 200_000])
async def test_a_command_that_no_process_can_be_given_is_refused(bubblewrap: Rig, script: str) -> None:
    with pytest.raises(InvalidCommand):
        await bubblewrap.run(script)


async def test_13_a_workdir_that_was_replaced_is_not_entered(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    (rig.ws / "sub").mkdir()
    signed = Workdir.of(rig.ws / "sub")
    (rig.ws / "sub").rename(rig.ws / "old")
    (rig.ws / "sub").mkdir()
    with pytest.raises(WorkdirChanged):
        await rig.run("echo ran > ran", mode, workdir=signed)
    (rig.ws / "sub").rmdir()
    with pytest.raises(WorkdirUnusable):
        await rig.run("echo ran > ran", mode, workdir=signed)
    assert not list(rig.ws.rglob("ran"))


async def test_13_a_workdir_that_is_swapped_all_the_time_is_never_mistaken(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    for name in ("signed", "other"):
        (rig.ws / name).mkdir()
        (rig.ws / name / "name").write_text(name)
    signed = Workdir.of(rig.ws / "signed")
    swapping = await asyncio.create_subprocess_exec(
        "bash", "-c", "while :; do mv signed x; mv other signed; mv signed other; mv x signed; sleep 0.02; done",
        cwd=rig.ws, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    ran = 0
    try:
        for _ in range(500 // SHARE):
            try:
                done = await rig.run("cat /proc/self/cwd/name", mode, workdir=signed)
            except (WorkdirChanged, WorkdirUnusable):
                await anyio.sleep(0.005)  # else all rounds are over while it is away once
                continue
            ran += 1
            assert done.stdout.text in ("signed", "")
    finally:
        swapping.send_signal(signal.SIGKILL)
        await swapping.wait()
    assert ran


@pytest.mark.parametrize(
    "script",
    [
        "less f",
        "ssh-keygen -q",
        "sudo -k true",
        "python3",
        "git log",
        "git commit",
        "ssh -o BatchMode=no localhost",
    ],
)
async def test_bsh_07_nothing_waits_for_a_person(bubblewrap: Rig, script: str) -> None:
    done = await bubblewrap.run(f"git init -q .; echo x > f; git add f; {script}", timeout_ms=15_000)
    assert not done.timed_out


async def test_the_command_has_the_umask_of_the_person(needs_bubblewrap: str) -> None:
    with rig(lambda state: [Bubblewrap(state, needs_bubblewrap)], Settings(umask=0o027)) as made:
        for mode in (READ_ONLY, FULL):
            assert (await made.run("umask", mode)).stdout.text == "0027\n"


@pytest.mark.parametrize("confined", ["bubblewrap", "landlock"])
async def test_d11_attack_4_whatever_a_command_has_left_dies_with_its_server(
    confined: str, nap: str, request: pytest.FixtureRequest
) -> None:
    made: Rig = request.getfixturevalue(confined)
    state = made.sandbox.temp_dir(made.session).parents[1]
    script = _SERVER.format(backend=confined.capitalize(), state=state, workspace=made.ws, nap=nap)
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    assert await server.stdout.readline() == b"running\n"
    assert len(alive(nap)) >= 3
    server.send_signal(signal.SIGKILL)
    await server.wait()
    with anyio.fail_after(60):
        while alive(nap):  # noqa: ASYNC110 - nothing tells when somebody else's process is gone
            await anyio.sleep(0.02)


@pytest.mark.parametrize("adopting", [False, True])
async def test_a_program_for_the_person_is_nobodys_child(tmp_path: Path, adopting: bool) -> None:
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)
    script = f"""
import os, signal
from placet.sandbox import start_detached
from placet.sandbox.linux import privilege, processes
if {adopting}:
    privilege.subreaper()
start_detached(["sh", "-c", "echo $$ > {fifo}; exec sleep 60"], dict(os.environ))
pid = int(open("{fifo}").read())
print(processes.look(pid).parent != os.getpid())
os.kill(pid, signal.SIGKILL)
left = os.spawnlp(os.P_WAIT, "sh", "sh", "-c", "sleep 5 >/dev/null 2>&1 & exit 0")
mine = [seen.pid for seen in processes.own_children()]
print(bool(mine) == {adopting})
[os.kill(pid, signal.SIGKILL) for pid in mine]
"""
    asker = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    said, _ = await asker.communicate()
    assert said.decode().split() == ["True", "True"]  # it is nobody's, and what commands leave is adopted as before


async def test_a_hardened_process_is_closed_to_others() -> None:
    script = "from placet.sandbox import harden; harden(); import ctypes; print(ctypes.CDLL(None).prctl(3))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    assert (await process.communicate())[0] == b"0\n"


_SERVER = """
from pathlib import Path
import anyio
from placet.sandbox import Bubblewrap, Command, Landlock, Sandbox, SandboxMode, Selection, Workdir
from placet.testing.backends import TestPlaces
state = Path("{state}")
box = Sandbox(TestPlaces(state), Selection([{backend}(state)], {{}}))
profile = box.profile("s-killed", Workdir.of(Path("{workspace}")), SandboxMode.WORKSPACE_WRITE)
said = lambda *_: print("running", flush=True)
daemon = "(setsid bash -c '(trap \\"\\" TERM HUP; sleep {nap}; :) &' &) >/dev/null 2>&1; sleep 0.5;"
wait = "trap '' TERM; echo x; sleep {nap}; sleep {nap}"
anyio.run(box.run, Command(profile=profile, script=daemon + wait, on_output=said))
"""
