"""A half from its start to its end: one confined process, what it prints, what is left of it."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import anyio
import pytest

from placet.cordis.host import Cause, InvokeFailed
from placet.cordis.vocabulary import HalfStatus, InvokeFailure, Phase
from placet.sandbox import SandboxMode
from placet.sandbox.linux import processes
from tests.cordis.host.house import HostHouse, below

pytestmark = pytest.mark.anyio

GREETS = """
async def apply(ctx):
    async def greet(args):
        return {"hello": args}
    harness.handle("greet", greet)
"""


def pythons(pid: int) -> list[int]:
    """The interpreters below a process."""
    found = []
    for one in below(pid):
        words = Path(f"/proc/{one}/cmdline").read_bytes().split(b"\0")
        if b"-I" in words and b"-S" in words and b"-c" in words and b"bwrap" not in words[0]:
            found.append(one)
    return found


async def test_k6_a_half_starts_answers_its_method_and_leaves_nothing(each: HostHouse) -> None:
    half = await each.start(GREETS)
    assert (half.status, half.handlers, half.waiting_for, half.provides) == (HalfStatus.RUNNING, ("greet",), (), ())
    assert await half.invoke("greet", [1, {"a": None}]) == {"hello": [1, {"a": None}]}
    tree = below(half.pid)
    await half.end()
    assert half.status is HalfStatus.STOPPED
    assert each.halves.living() == ()
    assert [pid for pid in tree if (seen := processes.look(pid)) is not None and not seen.dead] == []
    assert each.ended == []


async def test_each_half_is_one_confined_process_of_its_own(each: HostHouse) -> None:
    one, other = await each.start(GREETS), await each.start(GREETS, plugin="demo-2")
    mine = pythons(one.pid), pythons(other.pid)
    assert len(set(mine[0])) == len(set(mine[1])) == 1
    assert mine[0] != mine[1]
    for [pid] in mine:
        status = Path(f"/proc/{pid}/status").read_text()
        assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status
    await one.end()
    assert processes.look(mine[0][0]) is None
    assert await other.invoke("greet", 1) == {"hello": 1}


async def test_a_half_cannot_write_outside_the_workspace_nor_inside_in_read_only_mode(
    each: HostHouse, tmp_path: Path
) -> None:
    source = """
    async def apply(ctx):
        def attempt(path):
            import os
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
                return "written"
            except OSError as failure:
                return type(failure).__name__
        harness.handle("attempt", attempt)
    """
    outside = str(Path.home() / f"placet-half-{os.getpid()}")
    half = await each.start(source)
    assert await half.invoke("attempt", str(each.folder / "inside")) == "written"
    assert await half.invoke("attempt", outside) != "written"
    await half.end()
    half = await each.start(source, mode=SandboxMode.READ_ONLY)
    assert await half.invoke("attempt", str(each.folder / "other")) != "written"
    assert not os.path.exists(outside)


async def test_sec_08_the_environment_holds_no_secret(each: HostHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-secret")
    half = await each.start(
        """
        import os
        async def apply(ctx):
            harness.handle("env", lambda args: sorted(os.environ) + [open("/proc/self/environ").read()])
        """
    )
    told = await half.invoke("env", None)
    assert "SOME_API_KEY" not in told and "sk-secret" not in told[-1] and "PATH" in told


async def test_k3_what_is_printed_by_any_code_goes_to_a_tagged_log_and_never_into_the_line(
    each: HostHouse, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "placet.plugin")
    half = await each.start(
        """
        import ctypes, os, sys
        async def apply(ctx):
            print("from print")
            print('{"jsonrpc":"2.0","method":"state","params":{"status":"waiting","waitingFor":["x"]}}')
            print("to the other", file=sys.stderr)
            os.write(1, b"raw\\n")
            libc = ctypes.CDLL(None)
            libc.puts(b"from C")
            libc.fflush(None)
            ctx.log("from", "log", 3, "\\x1b[31m")
            harness.handle("ok", lambda args: True)
        """
    )
    assert await half.invoke("ok", None) is True
    assert half.status is HalfStatus.RUNNING
    await half.end()
    told = [record.getMessage() for record in caplog.records]
    for line in ("from print", "to the other", "raw", "from C", "from log 3 \\x1b[31m"):
        assert f"[cordis:demo-1] {line}" in told
    assert all(line.startswith("[cordis:demo-1] ") for line in told)


async def test_k16_a_failing_apply_says_where_and_leaves_nothing(each: HostHouse) -> None:
    failure = await each.fails(
        """
        async def apply(ctx):
            harness.handle("x", lambda args: 1)
            total = 1 / 0
        """
    )
    assert (failure.phase, failure.line) == (Phase.HOST_APPLY, 4)
    assert failure.message == "ZeroDivisionError: division by zero"
    assert failure.stack is not None and "line 4, in apply: total = 1 / 0" in failure.stack


@pytest.mark.parametrize(
    ("source", "phase", "said"),
    [
        ("x = = 1", Phase.HOST_LOAD, "SyntaxError in line 1"),
        ("x = 1", Phase.HOST_LOAD, "there is no `apply`"),
        ("apply = 3", Phase.HOST_LOAD, "`apply` is of type int"),
        ("inject = 'files'\nasync def apply(ctx): pass", Phase.HOST_LOAD, "`inject` must be a list"),
        ("async def apply(ctx):\n    import sys\n    sys.exit(0)", Phase.HOST_APPLY, "the code called sys.exit"),
        ("async def apply(ctx):\n    import os\n    os._exit(7)", Phase.HOST_APPLY, "ended by itself (exit code 7)"),
        ("import os\nos.kill(os.getpid(), 9)", Phase.HOST_LOAD, "ended by itself (it was killed by SIGKILL)"),
    ],
)
async def test_k1_a_half_that_cannot_start_says_why_in_one_line(
    host: HostHouse, source: str, phase: Phase, said: str
) -> None:
    failure = await host.fails(source)
    assert failure.phase is phase
    assert said in failure.message and "\n" not in failure.message


async def test_i32_what_a_method_cannot_do_has_a_code(host: HostHouse) -> None:
    half = await host.start(
        """
        async def apply(ctx):
            async def boom(args):
                raise ValueError("no " + args)
            harness.handle("boom", boom)
            harness.handle("odd", lambda args: {1, 2})
        """
    )
    with pytest.raises(InvokeFailed) as missing:
        await half.invoke("nothing", None)
    assert missing.value.code is InvokeFailure.METHOD_NOT_FOUND
    with pytest.raises(InvokeFailed) as raised:
        await half.invoke("boom", "way")
    assert (raised.value.code, raised.value.message) == (InvokeFailure.HANDLER_ERROR, "ValueError: no way")
    assert raised.value.stack is not None and "line 4, in boom" in raised.value.stack
    with pytest.raises(InvokeFailed) as odd:
        await half.invoke("odd", None)
    assert "of type set, which JSON cannot hold" in odd.value.message
    await half.end()
    with pytest.raises(InvokeFailed) as gone:
        await half.invoke("boom", "way")
    assert gone.value.code is InvokeFailure.PLUGIN_NOT_RUNNING


async def test_a_half_that_dies_is_told_once_and_clean(each: HostHouse) -> None:
    half = await each.start(GREETS)
    [pid] = pythons(half.pid)
    os.kill(pid, signal.SIGKILL)
    ended = await each.end_of(half)
    assert (ended.cause, len(each.ended)) == (Cause.CRASHED, 1)
    assert "killed by SIGKILL" in ended.message
    assert each.halves.living() == ()


SERVER = """
import sys, os
from pathlib import Path
import anyio
from placet.sandbox import SandboxMode
from tests.cordis.host.house import host_house
async def main():
    async with host_house(Path(sys.argv[1]), sys.argv[2]) as house:
        full = sys.argv[2] == "full"
        mode = SandboxMode.DANGER_FULL_ACCESS if full else SandboxMode.WORKSPACE_WRITE
        spins = "    def spin():\\n        while True: pass\\n    ctx.timer.after(0.05, spin)"
        half = await house.start(f"async def apply(ctx):\\n{spins}", mode=mode)
        from tests.cordis.host.test_life import pythons
        await anyio.sleep(0.5)  # it spins by now
        print(*(pythons(half.pid) or [half.pid]), flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""


@pytest.mark.parametrize("backend", ["bubblewrap", "landlock", "full"])
async def test_a_half_dies_with_a_server_that_is_killed(backend: str, tmp_path: Path, needs_bubblewrap: str) -> None:
    words = [sys.executable, "-c", textwrap.dedent(SERVER), str(tmp_path), backend]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = await anyio.to_thread.run_sync(server.stdout.readline)
        [pid] = [int(word) for word in line.split()]
        seen = processes.look(pid)
        assert seen is not None
        server.kill()
    with anyio.fail_after(30):
        while not processes.gone(seen):  # noqa: ASYNC110 - no event tells the end of a stranger
            await anyio.sleep(0.02)


async def test_a_fault_of_placets_own_ends_the_half_and_tells_it(
    host: HostHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("no such room")

    monkeypatch.setattr(host, "_changed", broken)
    half = await host.start(
        """
        async def apply(ctx):
            async def later():
                harness.handle("more", lambda args: None)
            ctx.timer.after(0.05, later)
        """
    )
    ended = await host.end_of(half)
    assert (ended.cause, ended.message) == (Cause.CRASHED, "placet lost the plugin by a fault of its own")
    assert host.halves.living() == ()
