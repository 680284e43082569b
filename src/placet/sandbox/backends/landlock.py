"""Confinement by Landlock, for machines without namespaces: a thread gives up its rights for good and spawns."""

from __future__ import annotations

import os
import secrets
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import anyio
from anyio import to_thread

from placet.sandbox.backend import Enforcement, Launch, ProbeResult
from placet.sandbox.backends.trial import trial
from placet.sandbox.errors import SandboxUnavailable, StartFailed
from placet.sandbox.execution.child import Child, start
from placet.sandbox.execution.unconfined import MARK
from placet.sandbox.linux import privilege, processes, ruleset, seccomp
from placet.sandbox.linux.processes import Seen
from placet.sandbox.policy import Network, Profile

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
    exclusive = True

    def __init__(self, state: Path, *, old_kernels: bool = False) -> None:
        self._state, self._old_kernels = state, old_kernels
        self._version = 0

    @property
    def not_governed(self) -> tuple[str, ...]:
        said = (
            "A command can change mode, times and extended attributes of your files outside the workspace.",
            "A command can read all your files, browser profiles, keys and placet's own database among them.",
            "A command can stall placet by locking its files.",
            "The .git folder is not protected: a command can write hooks and settings that git runs later.",
            "A command sees the processes of the machine.",
            "Programs that need shared memory in /dev/shm (Python process pools, say) do not work.",
            "What a command leaves running is killed when it ends, but can outlive a placet that is killed itself.",
            "Commands run one at a time.",
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
                popen = self._restricted(launch)
            except (OSError, StartFailed) as error:
                return ProbeResult(False, str(error))
            try:
                code = popen.wait(_PROBE_SECONDS)
            except subprocess.TimeoutExpired:
                popen.kill()
                code = popen.wait()
            said = attempt.verdict(code, "")
        return ProbeResult(said is None, said or "")

    async def spawn(self, launch: Launch) -> Child:
        mark = secrets.token_hex(8)
        env = {**launch.env, MARK: mark}

        def begin() -> Child:
            privilege.not_dumpable()
            privilege.subreaper()
            popen = self._restricted(launch, env)
            return Child(popen, left_by(popen.pid, mark))

        with anyio.CancelScope(shield=True):
            child = await to_thread.run_sync(begin)
        return child

    def sweep(self) -> None:
        """Nothing is left behind that this backend could remove."""

    def _restricted(self, launch: Launch, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Spawn from a thread that has given everything up and ends at once; the child inherits all of that."""
        handle = launch.workdir.open()
        try:
            rules = self._rules(launch.profile)
            try:
                return _in_thread(lambda: _confine_and_start(rules, launch, env or launch.env, handle))
            finally:
                os.close(rules)
        finally:
            os.close(handle)

    def _rules(self, profile: Profile) -> int:
        try:
            return ruleset.create(profile.writable, self._version)
        except OSError as error:
            raise SandboxUnavailable(f"Landlock could not be set up: {error}") from error


def _confine_and_start(rules: int, launch: Launch, env: Mapping[str, str], handle: int) -> subprocess.Popen[bytes]:
    numbers = seccomp.machine()
    assert numbers is not None
    profile = launch.profile
    privilege.no_new_privileges()
    ruleset.enter(rules)
    privilege.drop_capabilities()
    network = profile.network is Network.OPEN
    seccomp.install(numbers, seccomp.program(numbers, unix_sockets=profile.unix_sockets, network=network))
    return start(launch.argv, launch, env=env, cwd=f"/proc/self/fd/{handle}")


def _in_thread(call: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Call in a thread that lives for this call only, and hand over its result or its error."""
    result: list[subprocess.Popen[bytes]] = []
    failure: list[BaseException] = []

    def body() -> None:
        try:
            result.append(call())
        except BaseException as error:  # handed over to the caller
            failure.append(error)

    thread = threading.Thread(target=body, name="placet-restricted", daemon=True)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return result[0]


def left_by(session: int, mark: str) -> Callable[[Seen], bool]:
    """Whether an orphan that was left to us came from the confined command.

    Commands run one at a time, so every orphan with no_new_privs and a filter, which cannot be shed, is this one's.
    """
    variable = f"{MARK}={mark}"

    def owns(seen: Seen) -> bool:
        return seen.session == session or processes.is_restricted(seen.pid) or processes.carries(seen.pid, variable)

    return owns
