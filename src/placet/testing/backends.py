"""The contract of a sandbox backend, as tests: subclass `BackendContract` and give it a fixture that makes a rig."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from placet.sandbox import (
    Backend,
    Command,
    Enforcement,
    Run,
    Sandbox,
    SandboxMode,
    Selection,
    Settings,
    Workdir,
    WorkdirChanged,
)
from placet.session.ids import SessionId

READ_ONLY, WORKSPACE_WRITE, FULL = SandboxMode
CONFINING = (READ_ONLY, WORKSPACE_WRITE)


@dataclass(frozen=True, slots=True)
class TestPlaces:
    """Places below one folder."""

    __test__ = False
    state: Path

    @property
    def config_file(self) -> Path:
        return self.state.parent / "config" / "config.toml"


@dataclass(frozen=True, slots=True)
class Rig:
    """A sandbox with one session: its workspace, and a folder beside it that no confined command may change."""

    sandbox: Sandbox
    workspace: Workdir
    outside: Path
    session: SessionId
    git_roots: tuple[Path, ...] = ()

    @property
    def ws(self) -> Path:
        return self.workspace.path

    async def run(self, script: str, mode: SandboxMode = WORKSPACE_WRITE, **more: Any) -> Run:
        """Run a script in a mode; `more` goes to the command."""
        profile = self.sandbox.profile(self.session, self.workspace, mode, git_roots=self.git_roots)
        return await self.sandbox.run(Command(profile=profile, script=script, **{"timeout_ms": 20_000, **more}))


@contextmanager
def rig(backends: Callable[[Path], list[Backend]], settings: Settings | None = None) -> Iterator[Rig]:
    """A rig in the home directory, removed afterwards: `/tmp` is another one inside a sandbox."""
    folder = Path(tempfile.mkdtemp(prefix=".placet-test-", dir=Path.home())).resolve()
    try:
        for name in ("state", "workspace", "outside"):
            (folder / name).mkdir(mode=0o700)
        state = folder / "state"
        box = Sandbox(TestPlaces(state), Selection(backends(state), {}), settings=settings)
        yield Rig(box, Workdir.of(folder / "workspace"), folder / "outside", SessionId("s-rig"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class BackendContract:
    """What every backend does, in both confining modes."""

    @pytest.fixture
    def rig(self) -> Iterator[Rig]:
        """A rig with the backend under test."""
        raise NotImplementedError

    async def test_d8_a_write_in_the_workspace_works_in_workspace_write_only(self, rig: Rig) -> None:
        assert (await rig.run("echo hello > note")).exit_code == 0
        assert (rig.ws / "note").read_text() == "hello\n"
        assert (await rig.run("echo more > note", READ_ONLY)).exit_code != 0
        assert (rig.ws / "note").read_text() == "hello\n"

    @pytest.mark.parametrize("mode", CONFINING)
    async def test_a_write_outside_fails_and_is_reported_with_its_path(self, rig: Rig, mode: SandboxMode) -> None:
        done = await rig.run(f"echo hello > {rig.outside}/note", mode)
        assert (done.exit_code, done.sandbox.denied, done.sandbox.path) == (1, True, f"{rig.outside}/note")
        assert list(rig.outside.iterdir()) == []

    @pytest.mark.parametrize("mode", CONFINING)
    async def test_d16_each_run_says_its_mode_and_how_far_it_was_enforced(self, rig: Rig, mode: SandboxMode) -> None:
        facts = (await rig.run("true", mode)).sandbox
        assert (facts.mode, facts.denied, facts.runner_failed) == (mode, False, None)
        assert facts.enforcement in (Enforcement.FULL, Enforcement.PARTIAL)

    async def test_d6_two_calls_at_once_have_each_its_own_mode(self, rig: Rig) -> None:
        found: dict[SandboxMode, tuple[int | None, SandboxMode]] = {}

        async def one(mode: SandboxMode, me: str, other: str) -> None:
            meet = (
                f'touch "$TMPDIR/{me}"; for _ in $(seq 300); do [ -e "$TMPDIR/{other}" ] && break; sleep 0.05; done; '
            )
            done = await rig.run(f'{meet} [ -e "$TMPDIR/{other}" ] || exit 9; echo > {me}', mode)
            found[mode] = (done.exit_code, done.sandbox.mode)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, WORKSPACE_WRITE, "wide", "narrow")
            tasks.start_soon(one, READ_ONLY, "narrow", "wide")
        assert found == {WORKSPACE_WRITE: (0, WORKSPACE_WRITE), READ_ONLY: (1, READ_ONLY)}

    @pytest.mark.parametrize("mode", CONFINING)
    async def test_d8_the_temp_directory_is_writable_and_one_for_the_session(self, rig: Rig, mode: SandboxMode) -> None:
        assert (await rig.run('echo one > "$TMPDIR/note"', mode)).exit_code == 0
        assert (await rig.run('cat "$TMPDIR/note"; mktemp', mode)).stdout.text.startswith("one\n")
        assert (rig.sandbox.temp_dir(rig.session) / "note").read_text() == "one\n"

    @pytest.mark.parametrize("mode", CONFINING)
    async def test_d5_a_workspace_that_became_a_symlink_runs_nothing(self, rig: Rig, mode: SandboxMode) -> None:
        rig.ws.rmdir()
        rig.ws.symlink_to(rig.outside.name)
        with pytest.raises(WorkdirChanged):
            await rig.run("echo x > note", mode, workdir=Workdir.of(rig.ws))
        assert list(rig.outside.iterdir()) == []

    @pytest.mark.parametrize("mode", CONFINING)
    async def test_d11_sbx_01_no_magic_link_of_a_process_leads_out(self, rig: Rig, mode: SandboxMode) -> None:
        target = rig.outside / "target"
        target.write_text("kept")
        with _beside(target) as other:
            script = f"""
                for link in /proc/self /proc/1 /proc/{os.getpid()} /proc/{other}; do
                  echo changed > "$link/root{target}"; echo changed > "$link/cwd/target"
                done; echo changed > /proc/{other}/cwd/new; echo changed > /proc/{other}/fd/0; exit 0"""
            assert (await rig.run(script, mode)).exit_code == 0
        assert target.read_text() == "kept"
        assert list(rig.outside.iterdir()) == [target]

    @pytest.mark.parametrize("mode", CONFINING)
    async def test_sbx_08_unix_sockets_lead_nowhere(self, rig: Rig, mode: SandboxMode) -> None:
        path = rig.outside / "server"
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as box:
            server.bind(str(path))
            server.listen(8)
            box.bind(f"{path}-datagrams")
            box.setblocking(False)
            done = await rig.run(f"python3 - {path} <<'E'\n{_SOCKETS}\nE", mode)
            assert done.stdout.text.split() == ["stream:EPERM", "abstract:EPERM", "pair:EPERM", "streampair:ok"]
            with pytest.raises(BlockingIOError):
                box.recv(10)

    async def test_io_uring_does_not_exist_inside(self, rig: Rig) -> None:
        done = await rig.run("python3 -c 'import ctypes; l = ctypes.CDLL(None, use_errno=True);"
                             " print(l.syscall(425, 2, None), ctypes.get_errno())'")  # fmt: skip
        assert done.stdout.text.split() == ["-1", "38"]

    async def test_the_command_has_no_capabilities_and_cannot_gain_any(self, rig: Rig) -> None:
        text = (await rig.run("grep -E 'CapEff|CapBnd|CapPrm|NoNewPrivs|Seccomp:' /proc/self/status")).stdout.text
        facts = dict(line.split(":\t") for line in text.splitlines())
        assert (int(facts["CapEff"], 16), int(facts["CapPrm"], 16)) == (0, 0)
        assert (facts["NoNewPrivs"], facts["Seccomp"]) == ("1", "2")

    async def test_no_further_user_namespace_can_be_made(self, rig: Rig) -> None:
        assert (await rig.run("unshare --user true")).exit_code not in (0, 127)

    async def test_sbx_18_no_terminal_can_be_reached(self, rig: Rig) -> None:
        done = await rig.run("python3 - <<'E'\n" + _TERMINAL + "\nE")
        assert done.stdout.text.split() == ["tty:no", "21522:EPERM", "21532:EPERM", "4294988818:EPERM"]

    async def test_bsh_08_only_the_three_standard_descriptors_are_open(self, rig: Rig) -> None:
        held = os.open(rig.outside, os.O_RDONLY)
        os.set_inheritable(held, True)  # only the start of a command keeps it from there
        done = await rig.run('for fd in /proc/self/fd/*; do echo "${fd##*/} $(readlink "$fd")"; done')
        os.close(held)
        listed = [line.split()[0] for line in done.stdout.text.splitlines() if "pipe" in line]
        assert "outside" not in done.stdout.text
        assert set(listed) <= {"1", "2", "3"}

    async def test_c21_d2_full_access_does_not_ask_the_backend(self, rig: Rig) -> None:
        done = await rig.run(f"echo hello > {rig.outside}/note", FULL)
        assert (done.exit_code, done.sandbox.denied, done.sandbox.enforcement) == (0, False, None)
        assert (rig.outside / "note").read_text() == "hello\n"

    async def test_sbx_06_files_move_and_link_across_folders_of_the_workspace(self, rig: Rig) -> None:
        done = await rig.run("mkdir a b && touch a/f && mv a/f b/f && ln b/f a/g && mv a/g . && ls b")
        assert (done.exit_code, done.stdout.text, done.stderr.text) == (0, "f\n", "")

    async def test_a_workdir_is_entered_by_its_identity(self, rig: Rig) -> None:
        (rig.ws / "sub").mkdir()
        sub = Workdir.of(rig.ws / "sub")
        assert (await rig.run("pwd", workdir=sub)).stdout.text == f"{rig.ws}/sub\n"

    async def test_names_with_blanks_and_newlines_are_no_problem(self, rig: Rig) -> None:
        odd = rig.ws / "a b\n'c\" $d"
        odd.mkdir()
        done = await rig.run("echo x > y", workdir=Workdir.of(odd))
        assert (done.exit_code, (odd / "y").read_text()) == (0, "x\n")


@contextmanager
def _beside(target: Path) -> Iterator[int]:
    """Keep a process of the host in the folder of that file, with the file open for writing; its pid."""
    with target.open("r+") as held, subprocess.Popen(["sleep", "60"], cwd=target.parent, stdin=held) as other:
        try:
            assert Path(f"/proc/{other.pid}/cwd/{target.name}").samefile(target)  # this link does lead there
            yield other.pid
        finally:
            other.kill()


_SOCKETS = """
import errno, socket, sys
def say(name, act):
    try: act(); print(name + ":ok")
    except OSError as e: print(name + ":" + errno.errorcode[e.errno])
say("stream", lambda: socket.socket(socket.AF_UNIX).connect(sys.argv[1]))
say("abstract", lambda: socket.socket(socket.AF_UNIX).connect("\\0placet"))
say("pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", sys.argv[1] + "-datagrams"))
say("streampair", lambda: socket.socketpair())
"""

_TERMINAL = """
import ctypes, errno, os
try: os.open("/dev/tty", os.O_RDWR); print("tty:yes")
except OSError: print("tty:no")
libc = ctypes.CDLL(None, use_errno=True)
for request in (0x5412, 0x541C, 0x100005412):
    result = libc.ioctl(0, ctypes.c_ulong(request), b"x")
    print(f"{request}:{errno.errorcode[ctypes.get_errno()] if result else 'ok'}")
"""
