"""Confinement by Landlock, for machines without namespaces: a thread of a keeper gives up its rights and spawns."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import anyio
from anyio import to_thread

from placet.sandbox.backend import Enforcement, Launch, ProbeResult
from placet.sandbox.backends.trial import trial
from placet.sandbox.errors import SandboxError, SandboxUnavailable, WorkdirChanged
from placet.sandbox.linux import ruleset, seccomp
from placet.sandbox.policy import Network, Profile

from .kept import Keeper, KeptProcess, take

SCOPED = 6
"""The first version under which a command cannot signal the server or use abstract sockets outside."""
_OLDEST = 3
_PROBE_SECONDS = 5.0


class Landlock:
    """Landlock with a system call filter, without capabilities.

    `old_kernels` accepts versions 3 to 5 as well, under which a command can stop placet.
    """

    name = "landlock"
    enforcement = Enforcement.PARTIAL
    phrases = ("permission denied", "operation not permitted", "invalid cross-device link", "read-only file system")
    private: tuple[Path, ...] = ()
    protects = False
    counts_tasks = False

    def __init__(self, state: Path, *, old_kernels: bool = False) -> None:
        self._state, self._old_kernels = state, old_kernels
        self._version = 0

    @property
    def not_governed(self) -> tuple[str, ...]:
        said = (
            "A command can change mode, times and extended attributes of your files outside the workspace.",
            "A command can read all your files, browser profiles, keys and placet's own database among them.",
            "A command can stall placet by locking its files, and slow down your programs.",
            "A command can write in memory that your programs share (System V).",
            "The .git folder is not protected: a command can write hooks and settings that git runs later.",
            "A command sees the processes of the machine.",
            "Programs that need shared memory in /dev/shm (Python process pools, say) do not work.",
            "The network is open unless the workspace is set to none.",
        )
        return (*said, "A command can stop placet.") if 0 < self._version < SCOPED else said

    def probe(self) -> ProbeResult:
        self._version = ruleset.abi()
        if seccomp.machine() is None:
            return ProbeResult(False, f"there is no system call filter for the processor {os.uname().machine}")
        if self._version == 0:
            return ProbeResult(
                False, "the kernel does not offer Landlock", "start a kernel with Landlock (lsm=landlock,...)"
            )
        if self._version < (_OLDEST if self._old_kernels else SCOPED):
            return ProbeResult(
                False,
                f"the kernel offers version {self._version} of Landlock, and {SCOPED} is needed",
                "use Linux 6.12 or newer",
            )
        with trial(self._state) as attempt, open(os.devnull, "wb") as out:
            launch = Launch(
                attempt.profile,
                tuple(attempt.argv(own_pids=False, read_only_home=False)),
                attempt.env,
                attempt.profile.workspace,
                out.fileno(),
                out.fileno(),
            )
            try:
                code = self._try(launch)
            except (OSError, SandboxError) as error:
                return ProbeResult(False, str(error))
            said = attempt.verdict(code, "")
        return ProbeResult(said is None, said or "")

    async def spawn(self, launch: Launch) -> KeptProcess:
        with anyio.CancelScope(shield=True):
            process = await to_thread.run_sync(self._begin, launch)
        return process

    def sweep(self) -> None:
        """Nothing is left behind that this backend could remove."""

    def _begin(self, launch: Launch) -> KeptProcess:
        launch.profile.check_roots()
        handle = launch.workdir.open()
        try:
            rules = self._rules(launch.profile)
            try:
                return _started(take(), launch, rules, handle)
            finally:
                os.close(rules)
        finally:
            os.close(handle)

    def _try(self, launch: Launch) -> int:
        """Run the trial to its end; its exit code. The keeper goes too: another backend may be the one that is used."""
        keeper = self._begin(launch).keeper
        keeper.line.settimeout(_PROBE_SECONDS)
        try:
            return int(keeper.hear().get("ended", -1))
        finally:
            keeper.close()

    def _rules(self, profile: Profile) -> int:
        try:
            return ruleset.create(profile.writable, self._version)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOENT, errno.ENOTDIR):  # the roots were there a moment ago
                raise WorkdirChanged(
                    f"A folder of this session was replaced right before the start: {error.strerror}"
                ) from error
            raise SandboxUnavailable(f"Landlock could not be set up: {error}") from error


def _started(keeper: Keeper, launch: Launch, rules: int, handle: int) -> KeptProcess:
    numbers = seccomp.machine()
    assert numbers is not None
    profile = launch.profile
    network = profile.network is Network.OPEN
    program = seccomp.program(numbers, unix_sockets=profile.unix_sockets, network=network)
    try:
        return KeptProcess(keeper, keeper.start(launch, rules, handle, program))
    except BaseException:
        keeper.clear()
        raise
