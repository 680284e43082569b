"""Confinement by bubblewrap: namespaces, a read-only root, our system call filter. Holds everything a profile says."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

from placet.kernel.scope import Scope
from placet.sandbox.backend import Enforcement, Launch, ProbeResult
from placet.sandbox.backends.trial import Trial, trial
from placet.sandbox.errors import SandboxUnavailable, WorkdirChanged, WorkdirUnusable
from placet.sandbox.execution.child import on_lasting_thread, start
from placet.sandbox.linux import awaited, handles, privilege, seccomp
from placet.sandbox.policy import Network, Profile
from placet.sandbox.workspace.sentinel import Sentinels

from .covering import covering
from .flags import Form, flags, guarded, seen_inside, visible
from .look import Look, first_read
from .namespace import NamespaceProcess, available, take_away

_PROBE_SECONDS = 5.0
_SILENT = "bwrap did not answer"
_BY_HANDLE = "bind-fd"  # the option that an older bwrap does not know


class Bubblewrap:
    """The bubblewrap program, found on the server's search path or given."""

    name = "bubblewrap"
    enforcement = Enforcement.FULL
    _limits = (
        "Commands can read your files, except the credentials that placet hides.",
        "A command can write into named pipes outside the workspace that a program of yours reads.",
        "A file that was hard-linked into the workspace before can be changed through that link.",
        "The network is open unless the workspace is set to none.",
    )
    phrases = ("read-only file system", "permission denied", "operation not permitted", "device or resource busy",
               "invalid cross-device link")  # fmt: skip
    private = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))
    protects = True

    def __init__(self, state: Path, program: str | None = None) -> None:
        self._state = state
        self._given = program
        self._form: Form | None = None
        self._by_handle = True
        self._sentinels = Sentinels(state / "sentinels")

    @property
    def not_governed(self) -> tuple[str, ...]:
        """What is not held."""
        return self._limits

    @property
    def counts_tasks(self) -> bool:
        """Whether the kernel counts processes and threads for each command alone: by account, and each has its own.

        Not for root, whom no such limit holds, and not before Linux 5.14, which knows one count for all namespaces.
        """
        return self._form is not Form.NO_USER_NAMESPACE and os.geteuid() != 0 and privilege.linux() >= (5, 14)

    def sweep(self) -> None:
        """Remove what a killed server left in workspaces."""
        self._sentinels.sweep()

    def probe(self) -> ProbeResult:
        program = self._program()
        numbers = seccomp.machine()
        if program is None:
            return ProbeResult(
                False,
                "bwrap is not installed",
                "install bubblewrap (the package has that name with apt, dnf, pacman and apk)",
            )
        if numbers is None:
            return ProbeResult(False, f"there is no system call filter for the processor {os.uname().machine}")
        why = ""
        for form in Form:
            for self._by_handle in (True, False):
                with trial(self._state) as attempt:
                    said = self._try(program, form, attempt)
                if said is None or _BY_HANDLE not in said:
                    break
            if said is None:
                self._form = form
                return ProbeResult(True, version=_version(program))
            why = why or said
            if said.startswith(_SILENT):
                break
        return ProbeResult(False, why, _advice(), _version(program))

    async def spawn(self, launch: Launch) -> NamespaceProcess:
        loop = asyncio.get_running_loop()
        return await on_lasting_thread(lambda: self._begin(launch, loop))

    def _begin(self, launch: Launch, loop: asyncio.AbstractEventLoop) -> NamespaceProcess:
        program = self._program()
        if program is None or self._form is None:
            raise SandboxUnavailable("bwrap is no longer there", "install bubblewrap")
        launch.profile.check_roots()
        if not visible(launch.workdir.path, launch.profile):
            raise WorkdirUnusable(f"The directory {launch.workdir.path} cannot be seen from inside the sandbox")
        scope = self._sentinels.hold(guarded(launch.profile))
        try:
            handle = launch.workdir.open()
            with Scope("descriptors of a spawn") as opened:
                opened.add("working directory", lambda: os.close(handle))
                popen, status, told = self._start(program, self._form, launch, handle, opened)
        except BaseException:
            scope.close()
            raise
        return NamespaceProcess(popen, status, told, scope, loop)

    def _start(
        self, program: str, form: Form, launch: Launch, handle: int, opened: Scope
    ) -> tuple[subprocess.Popen[bytes], int, int]:
        """Start bwrap; returns its status pipe, and the pipe on which a directory that was replaced is told."""
        profile = launch.profile
        status, status_in = _pipe(opened)
        filter_out = _filter(profile)
        opened.add("filter", lambda: os.close(filter_out))
        told, told_in = _pipe(opened)
        keep = [status_in, filter_out, handle, told_in]
        inside = seen_inside(launch.workdir.path, profile)
        handing = _Handing(opened, keep, by_handle=self._by_handle)
        try:
            try:
                words = flags(profile, form, seccomp=filter_out, status=status_in, inside=inside, handle=handing)
            except OSError as error:
                raise WorkdirChanged(
                    f"The folder {profile.workspace.path} cannot be opened: {error.strerror}"
                ) from error
            group, tasks = self._taken_on(launch, keep)
            look = Look(handle, handing.compared, told_in, group, tasks)
            argv, options = look.before(launch.argv, opened, keep)
            words = [*words[:-1], *covering(launch.covered, opened, keep), *options, "--"]
            popen = start([program, *words, *argv], launch, env={**launch.env, "TMPDIR": "/tmp"}, cwd="/", keep=keep)
        except BaseException:
            os.close(status)
            os.close(told)
            raise
        return popen, status, told

    def _taken_on(self, launch: Launch, keep: list[int]) -> tuple[int | None, int | None]:
        """The bounds that the command takes on before it begins, as the look wants them."""
        allowed = launch.allowance
        if allowed is None:
            return None, None
        keep += [] if allowed.group is None else [allowed.group[0]]
        return allowed.group and allowed.group[0], allowed.tasks if self.counts_tasks else None

    def _try(self, program: str, form: Form, attempt: Trial) -> str | None:
        """Run the trial; None if it was confined, else what went wrong."""
        with Scope("descriptors of a probe") as opened:
            status, status_in = _pipe(opened)
            opened.add("status", lambda: os.close(status))
            filter_out = _filter(attempt.profile)
            opened.add("filter", lambda: os.close(filter_out))
            workspace, kept = attempt.profile.workspace.path, [status_in, filter_out]
            handing = _Handing(opened, kept, by_handle=self._by_handle)
            words = flags(attempt.profile, form, seccomp=filter_out, status=status_in, inside=workspace, handle=handing)
            words = [*words[:-1], *first_read("LOOKED=yes\n", opened, kept), "--"]
            try:
                with awaited.hidden():
                    run = subprocess.run(
                        [program, *words, *attempt.argv(own_pids=True, read_only_home=True)],
                        env={**attempt.env, "TMPDIR": "/tmp"}, cwd="/", stdin=subprocess.DEVNULL, capture_output=True,
                        pass_fds=kept, start_new_session=True, timeout=_PROBE_SECONDS, check=False,
                    )  # fmt: skip
            except subprocess.TimeoutExpired:
                return f"{_SILENT} within {_PROBE_SECONDS:.0f} seconds"
            except OSError as error:
                return f"{program} could not be started: {error.strerror or error}"
            take_away(available(status))
        return attempt.verdict(run.returncode, run.stderr.decode(errors="replace"))

    def _program(self) -> str | None:
        return shutil.which(self._given or "bwrap")


def _version(program: str) -> str:
    """What bwrap says its version is; empty if it says nothing."""
    try:
        with awaited.hidden():
            said = subprocess.run(
                [program, "--version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PROBE_SECONDS,
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = said.stdout.decode(errors="replace").split()
    return words[-1][:40] if words else ""


def _pipe(opened: Scope) -> tuple[int, int]:
    """A pipe whose writing end is closed with the scope; the reading end belongs to the caller."""
    read, write = os.pipe2(os.O_CLOEXEC)
    opened.add("pipe", lambda: os.close(write))
    return read, write


class _Handing:
    """Opens exactly what paths name, for bwrap to have and the scope to close."""

    def __init__(self, opened: Scope, keep: list[int], *, by_handle: bool) -> None:
        self._opened, self._keep = opened, keep
        self.by_handle = by_handle
        self.compared: list[tuple[str, int]] = []

    def compare(self, path: Path) -> None:
        self.compared.append((str(path), self._kept(path, handles.exactly(path))))

    def handle(self, path: Path) -> int:
        return self._kept(path, handles.exactly(path))

    def copy(self, path: Path) -> int | None:
        found = handles.content(path)
        return None if found is None else self._kept(path, found)

    def _kept(self, path: Path, found: int) -> int:
        self._opened.add(f"handle on {path}", lambda: os.close(found))
        self._keep.append(found)
        return found


def _filter(profile: Profile) -> int:
    """A descriptor from which bwrap reads the system call filter of the profile."""
    numbers = seccomp.machine()
    assert numbers is not None
    read, write = os.pipe2(os.O_CLOEXEC)
    os.write(
        write, seccomp.program(numbers, unix_sockets=profile.unix_sockets, network=profile.network is Network.OPEN)
    )
    os.close(write)
    return read


def _advice() -> str:
    """The least drastic way to get user namespaces, for whoever administers the machine."""
    if Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").exists():
        return "give bwrap an AppArmor profile that allows user namespaces (the package apparmor-profiles has one)"
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return "let the container create user namespaces (a seccomp profile that allows unshare and clone)"
    return "allow user namespaces for bwrap (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)"
