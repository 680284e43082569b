"""Confinement by bubblewrap: namespaces, a read-only root, our system call filter. Holds everything a profile says."""
from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio

from ...kernel.scope import Scope
from ..backend import Enforcement, Exit, Launch, ProbeResult
from ..child import ended, exit_of, on_lasting_thread, signal_name, start
from ..errors import SandboxUnavailable, WorkdirChanged
from ..linux import processes, seccomp
from ..policy import Network, Profile
from ..probe import Trial, trial
from ..workspace.sentinel import Sentinels
from .flags import Form, flags, guarded, seen_inside

_FATAL = frozenset(range(1, 32)) - {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
_PROBE_SECONDS = 5.0
_GONE_SECONDS = 5.0
# Before the command: is this the directory that was signed? The handle is closed before the command starts.
_CHECK = 'if [[ . -ef /proc/self/fd/{dir} ]]; then exec {dir}<&- {told}>&-; exec "$@"; fi; echo moved >&{told}; exit 125'


class Bubblewrap:
    """The bubblewrap program, found on the server's search path or given."""

    name = "bubblewrap"
    enforcement = Enforcement.FULL
    not_governed: tuple[str, ...] = (
        "Commands can read your files, except credentials that placet hides (placet doctor lists them).",
        "A file that was hard-linked into the workspace before can be changed through that link.",
        "The network is open unless the workspace is set to none.",
    )
    phrases = ("read-only file system", "permission denied", "operation not permitted", "device or resource busy",
               "invalid cross-device link")  # fmt: skip
    exclusive = False

    def __init__(self, state: Path, program: str | None = None) -> None:
        self._state = state
        self._given = program
        self._form: Form | None = None
        self._sentinels = Sentinels(state / "sentinels")

    def sweep(self) -> None:
        """Remove what a killed server left in workspaces."""
        self._sentinels.sweep()

    def probe(self) -> ProbeResult:
        program = self._program()
        numbers = seccomp.machine()
        if program is None:
            return ProbeResult(False, "bwrap is not installed", "install the package bubblewrap (apt, dnf, pacman, apk)")
        if numbers is None:
            return ProbeResult(False, f"there is no system call filter for the processor {os.uname().machine}")
        why = ""
        for form in Form:
            with trial(self._state) as attempt:
                said = self._try(program, form, attempt)
            if said is None:
                self._form = form
                return ProbeResult(True)
            why = why or said
        return ProbeResult(False, why, _advice(why))

    async def spawn(self, launch: Launch) -> BubblewrapProcess:
        loop = asyncio.get_running_loop()
        return await on_lasting_thread(lambda: self._begin(launch, loop))

    def _begin(self, launch: Launch, loop: asyncio.AbstractEventLoop) -> BubblewrapProcess:
        program = self._program()
        if program is None or self._form is None:
            raise SandboxUnavailable("bwrap is no longer there", "install the package bubblewrap")
        scope = self._sentinels.hold(guarded(launch.profile))
        try:
            handle = launch.workdir.open()
            with Scope("descriptors of a spawn") as opened:
                opened.add("working directory", lambda: os.close(handle))
                popen, status, told = self._start(program, self._form, launch, handle, opened)
        except BaseException:
            scope.close()
            raise
        return BubblewrapProcess(popen, status, told, scope, loop)

    def _start(
        self, program: str, form: Form, launch: Launch, handle: int, opened: Scope
    ) -> tuple[subprocess.Popen[bytes], int, int | None]:
        """Start bwrap; returns its status pipe, and the pipe on which a changed working directory is told."""
        profile = launch.profile
        status, status_in = _pipe(opened)
        filter_out = _filter(profile)
        opened.add("filter", lambda: os.close(filter_out))
        keep, argv, told = [status_in, filter_out], launch.argv, None
        if launch.workdir.path != profile.workspace.path:
            told, told_in = _pipe(opened)
            keep += [handle, told_in]
            argv = ("bash", "-c", _CHECK.format(dir=handle, told=told_in), "bash", *argv)
        inside = seen_inside(launch.workdir.path, profile)
        words = flags(profile, form, seccomp=filter_out, status=status_in, inside=inside)
        try:
            popen = start([program, *words, *argv], launch, env={**launch.env, "TMPDIR": "/tmp"}, cwd="/", keep=keep)
        except BaseException:
            for descriptor in (status, told):
                if descriptor is not None:
                    os.close(descriptor)
            raise
        return popen, status, told

    def _try(self, program: str, form: Form, attempt: Trial) -> str | None:
        """Run the trial; None if it was confined, else what went wrong."""
        with Scope("descriptors of a probe") as opened:
            status, status_in = _pipe(opened)
            opened.add("status", lambda: os.close(status))
            filter_out = _filter(attempt.profile)
            opened.add("filter", lambda: os.close(filter_out))
            words = flags(attempt.profile, form, seccomp=filter_out, status=status_in, inside=attempt.profile.workspace.path)
            try:
                run = subprocess.run(
                    [program, *words, *attempt.argv(own_pids=True, read_only_home=True)],
                    env={**attempt.env, "TMPDIR": "/tmp"}, cwd="/", stdin=subprocess.DEVNULL, capture_output=True,
                    pass_fds=(status_in, filter_out), start_new_session=True, timeout=_PROBE_SECONDS, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return f"{program} did not answer within {_PROBE_SECONDS:.0f} seconds"
            except OSError as error:
                return f"{program} could not be started: {error.strerror or error}"
        return attempt.verdict(run.returncode, run.stderr.decode(errors="replace"))

    def _program(self) -> str | None:
        return self._given or shutil.which("bwrap")


class BubblewrapProcess:
    """One bwrap with the pid namespace below it: when bwrap dies, all of it does."""

    def __init__(
        self, popen: subprocess.Popen[bytes], status: int, told: int | None, scope: Scope, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._popen, self._status, self._told, self._scope = popen, status, told, scope
        self._pidfd = os.pidfd_open(popen.pid)
        self._facts: dict[str, int] = {}
        self._unread = b""
        self._init: int | None = None
        self._loop = loop
        os.set_blocking(status, False)
        loop.call_soon_threadsafe(loop.add_reader, status, self._read_status)

    @property
    def pid(self) -> int:
        return self._popen.pid

    async def wait(self) -> Exit:
        await ended(self._pidfd)
        code = self._popen.wait()
        self._read_status()
        if self._told is not None and _read_all(self._told):
            raise WorkdirChanged("The working directory was replaced by another one between the check and the start")
        if "exit-code" not in self._facts:
            return replace(exit_of(code), broken="") if code >= 0 else exit_of(code)
        inner = self._facts["exit-code"]
        # bwrap tells a death by signal as shells do, as 128 and the number.
        return Exit(None, signal_name(inner - 128)) if inner - 128 in _FATAL else Exit(inner)

    def terminate(self) -> None:
        if (init := self._facts.get("child-pid")) is not None:
            for seen in processes.descendants([init]):
                processes.send(seen, signal.SIGTERM)

    async def clear(self) -> None:
        with anyio.CancelScope(shield=True):
            try:
                if self._popen.returncode is None:
                    self._popen.kill()
                    await ended(self._pidfd)
                    self._popen.wait()
                self._read_status()
                await self._namespace_gone()
            finally:
                self._close()

    async def _namespace_gone(self) -> None:
        """Wait for the first process of the namespace; the kernel lets it end only after all others in it."""
        if self._init is None:
            return
        with anyio.move_on_after(_GONE_SECONDS):
            await ended(self._init)
        with suppress(OSError):
            os.waitid(os.P_PIDFD, self._init, os.WEXITED | os.WNOHANG)

    def _read_status(self) -> None:
        """Take the lines of bwrap's status channel as they come; a handle on the namespace is taken at once."""
        if self._status < 0:
            return
        data = _read_all(self._status)
        if not data:
            self._loop.remove_reader(self._status)
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            with suppress(ValueError):
                self._facts |= json.loads(line)
        if self._init is None and "child-pid" in self._facts:
            with suppress(OSError):
                self._init = os.pidfd_open(self._facts["child-pid"])

    def _close(self) -> None:
        self._loop.remove_reader(self._status)
        for descriptor in (self._status, self._told, self._pidfd, self._init):
            if descriptor is not None:
                os.close(descriptor)
        self._status, self._told, self._init = -1, None, None
        self._scope.close()


def _pipe(opened: Scope) -> tuple[int, int]:
    """A pipe whose writing end is closed with the scope; the reading end belongs to the caller."""
    read, write = os.pipe2(os.O_CLOEXEC)
    opened.add("pipe", lambda: os.close(write))
    return read, write


def _filter(profile: Profile) -> int:
    """A descriptor from which bwrap reads the system call filter of the profile."""
    numbers = seccomp.machine()
    assert numbers is not None
    read, write = os.pipe2(os.O_CLOEXEC)
    os.write(write, seccomp.program(numbers, unix_sockets=profile.unix_sockets, network=profile.network is Network.OPEN))
    os.close(write)
    return read


def _read_all(descriptor: int) -> bytes:
    os.set_blocking(descriptor, False)
    with suppress(BlockingIOError):
        return os.read(descriptor, 1 << 16)
    return b""


def _advice(why: str) -> str:
    """The least drastic way to get user namespaces, for whoever administers the machine."""
    if Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").exists():
        return "give /usr/bin/bwrap an AppArmor profile that allows user namespaces (the package apparmor-profiles has one)"
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return "let the container create user namespaces (a seccomp profile that allows unshare and clone)"
    return "allow user namespaces for bwrap (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)"
