"""One command from start to end: its output, its limits, its stop, and what it leaves behind."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import time
from collections.abc import Iterator

import anyio
import pytest

from placet.kernel.signal import AbortSignal
from placet.sandbox import Command, InvalidCommand, SandboxMode, Workdir, WorkdirChanged, WorkdirUnusable
from placet.sandbox.linux import processes
from placet.testing.backends import FULL, READ_ONLY, WORKSPACE_WRITE, Rig

pytestmark = pytest.mark.anyio

SHARE = 1 if os.environ.get("PLACET_SOAK") == "1" else 10
PLACES = [("bubblewrap", WORKSPACE_WRITE), ("landlock", WORKSPACE_WRITE), ("bubblewrap", FULL)]


@pytest.fixture(params=PLACES, ids=["bubblewrap", "landlock", "full-access"])
def everywhere(request: pytest.FixtureRequest) -> Iterator[tuple[Rig, SandboxMode]]:
    """A rig and a mode, for each way in which a command can run."""
    name, mode = request.param
    yield request.getfixturevalue(name), mode


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


def zombies() -> list[tuple[int, str]]:
    """The dead children of this process that nobody has reaped, with their names."""
    dead = [seen for seen in processes.own_children() if seen.dead]
    return [(seen.pid, processes.status(seen.pid).get("Name", "")) for seen in dead]


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("sleep 8701 & echo done", 0, "done\n"),
        ("sleep 8702 >/dev/null & echo done", 0, "done\n"),
        ("sleep 8703 </dev/null >/dev/null 2>&1 & echo done", 0, "done\n"),
        ("(sleep 8704 &) ; exit 3", 3, ""),
        ("setsid sleep 8705 & echo done", 0, "done\n"),
    ],
)
async def test_bsh_01_a_silent_child_delays_nothing_and_is_gone(
    everywhere: tuple[Rig, SandboxMode], script: str, code: int, said: str
) -> None:
    rig, mode = everywhere
    began = time.monotonic()
    done = await rig.run(script, mode)
    assert time.monotonic() - began < 2
    assert (done.exit_code, done.stdout.text) == (code, said)
    assert alive(script.split("sleep ")[1][:4]) == []
    assert zombies() == []


async def test_bsh_03_after_a_timeout_nothing_goes_on(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    script = "echo before; (trap '' TERM; sleep 8.811; echo late > late.txt) & (setsid sleep 8.812 &) ; wait"
    done = await rig.run(script, mode, timeout_ms=300)
    assert (done.timed_out, done.aborted, done.exit_code, done.signal) == (True, False, None, "SIGTERM")
    assert done.stdout.text == "before\n"
    assert alive("8.81") == []
    assert zombies() == []
    assert not (rig.ws / "late.txt").exists()


async def test_bsh_03_a_child_that_ignores_sigterm_is_killed(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    done = await rig.run("trap '' TERM; sleep 8.821; sleep 8.822; sleep 8.823", mode, timeout_ms=200)
    assert (done.timed_out, done.signal) == (True, "SIGKILL")
    assert 3000 <= done.duration_ms < 8000
    assert alive("8.82") == []


async def test_c5_a_command_that_traps_the_timeout_and_exits_0_still_timed_out(
    everywhere: tuple[Rig, SandboxMode],
) -> None:
    rig, mode = everywhere
    done = await rig.run("trap 'echo caught; exit 0' TERM; while :; do sleep 0.05; done", mode, timeout_ms=300)
    assert (done.timed_out, done.exit_code, done.stdout.text) == (True, 0, "caught\n")


async def test_a_stop_ends_the_tree_and_says_so(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    stop = AbortSignal()
    begun = asyncio.Event()
    async with anyio.create_task_group() as group:

        async def run() -> None:
            done = await rig.run(
                "echo begun; sleep 8.831 & sleep 8.832", mode, signal=stop, on_output=lambda *_: begun.set()
            )
            assert (done.aborted, done.timed_out, done.exit_code, done.signal) == (True, False, None, "SIGTERM")
            assert done.stdout.text == "begun\n"

        group.start_soon(run)
        await begun.wait()
        stop.abort()
    assert alive("8.83") == []


async def test_a_stop_before_the_start_starts_nothing(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    stop = AbortSignal()
    stop.abort()
    done = await rig.run("echo ran > ran", mode, signal=stop)
    assert (done.aborted, done.exit_code, done.signal) == (True, None, None)
    assert not (rig.ws / "ran").exists()


async def test_starts_stopped_at_any_moment_leave_nothing(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    before = len(os.listdir("/proc/self/fd"))
    for number in range(300 // SHARE):
        stop = AbortSignal()
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: rig.run("sleep 8.841", mode, signal=stop))  # noqa: B023
            await anyio.sleep(number * 0.0007)
            stop.abort()
    assert alive("8.841") == []
    assert zombies() == []
    assert len(os.listdir("/proc/self/fd")) <= before + 4


async def test_a_cancelled_task_kills_its_command(everywhere: tuple[Rig, SandboxMode]) -> None:
    rig, mode = everywhere
    begun = asyncio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: rig.run("echo begun; sleep 8.851", mode, on_output=lambda *_: begun.set()))
        await begun.wait()
        group.cancel_scope.cancel()
    assert alive("8.851") == []


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


@pytest.mark.parametrize("script", ["cat", "head -1", "python3 -c 'input()'", "read x"])
async def test_bsh_08_standard_input_ends_at_once(everywhere: tuple[Rig, SandboxMode], script: str) -> None:
    rig, mode = everywhere
    done = await rig.run(script, mode, timeout_ms=10_000)
    assert not done.timed_out


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


async def test_the_command_keeps_the_umask_it_is_given(bubblewrap: Rig) -> None:
    profile = bubblewrap.sandbox.profile(bubblewrap.session, bubblewrap.workspace, READ_ONLY)
    assert Command(profile=profile, script="umask").words[1:] == ("-c", "umask", "bash")
