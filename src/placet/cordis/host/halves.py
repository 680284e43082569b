"""All halves of this process: started under the session's profile, served, and ended with the server."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from placet.cordis.host.half import Half, Offices
from placet.cordis.host.limits import Limits
from placet.cordis.host.port import Diagnosis, Ended, HostFailed, RunFacts
from placet.cordis.host.program import BEGIN, program
from placet.cordis.host.spares import Spares
from placet.cordis.vocabulary import Phase
from placet.kernel.groups import unwrapped
from placet.sandbox import Companion, Profile, Sandbox, SandboxError, SandboxMode, Workdir
from placet.session import keys
from placet.session.ids import SessionId
from placet.session.store import Store

logger = logging.getLogger(__name__)


class Halves:
    """Starts halves; works inside of `serving`, at whose end all of them are ended."""

    def __init__(self, sandbox: Sandbox, store: Store, offices: Offices, *, limits: Limits | None = None) -> None:
        self._sandbox, self._store, self._offices = sandbox, store, offices
        self.limits = limits or Limits()
        self._group: TaskGroup | None = None
        self._halves: list[Half] = []
        self.spares = Spares(self._profile, self._sent)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Let halves live inside of the block."""
        with unwrapped():
            async with anyio.create_task_group() as group:
                self._group = group
                try:
                    yield
                finally:
                    self._group = None
                    with anyio.CancelScope(shield=True):
                        await self._end_all()
                    group.cancel_scope.cancel()

    def living(self, session: SessionId | None = None) -> tuple[Half, ...]:
        """The halves that are not over, of one session or of all."""
        return tuple(half for half in self._halves if session is None or half.facts.session == session)

    async def start(
        self,
        facts: RunFacts,
        *,
        on_ended: Callable[[Ended], None],
        on_change: Callable[[], None] = lambda: None,
        on_diagnosed: Callable[[Diagnosis], None] = lambda _: None,
    ) -> Half:
        """Start a half and return once it runs or waits for a service. Raises `HostFailed`; nothing is left then."""
        group = self._group
        if group is None:
            raise HostFailed(Phase.HOST_LOAD, "placet is ending, so nothing can be started")
        half: Half | None = None
        try:
            with anyio.move_on_after(self.limits.start):
                profile = await self._profile(facts.session, facts.mode)
                companion = await self.spares.take(profile) or await self._sent(profile)
                half = Half(
                    facts, companion, self.limits, self._offices,
                    on_ended=on_ended, on_change=on_change, on_diagnosed=on_diagnosed,
                )  # fmt: skip
                self._halves.append(half)
                group.start_soon(self._live, half)
                if profile.mode is not SandboxMode.READ_ONLY:
                    await half.hold(self._sandbox.beside(profile.workspace.path))
                half.start()
                await half.settled.wait()
        except SandboxError as failure:
            await self._drop(half)
            hint = "" if failure.hint is None else f" ({failure.hint})"
            raise HostFailed(Phase.HOST_LOAD, f"{failure.why}{hint}") from failure
        except BaseException:
            await self._drop(half)
            raise
        if half is None:
            late = f"the sandbox did not start within {self.limits.start:g} seconds"
            raise HostFailed(Phase.HOST_LOAD, late)
        failed = half.failure() if half.settled.is_set() else half.overdue()
        if failed is not None:
            await half.end()
            raise failed
        half.known = True
        return half

    async def prepare(self, session: SessionId, mode: SandboxMode, *, after: float = 0.0) -> None:
        """Have an interpreter wait for the next half of a session, from some seconds on. Never raises."""
        if self._group is not None:
            self._group.start_soon(partial(self.spares.keep, session, mode, after=after))

    async def discard(self, session: SessionId) -> None:
        """End the interpreter that waits for a half of a session."""
        await self.spares.end(session)

    # ---- inside ----

    async def _live(self, half: Half) -> None:
        try:
            await half.live()
        except Exception:  # a fault of ours in one half must not end the others
            logger.exception("the half of %s failed", half.facts.plugin)
        finally:
            self._halves.remove(half)

    async def _drop(self, half: Half | None) -> None:
        if half is not None:
            with anyio.CancelScope(shield=True):
                await half.end()

    async def _sent(self, profile: Profile) -> Companion:
        companion = await self._sandbox.companion(profile, BEGIN, self.limits.share)
        try:
            await companion.send(program(native=companion.native))
        except BaseException as failure:
            with anyio.CancelScope(shield=True):
                await companion.end()
            if isinstance(failure, ConnectionError):
                raise HostFailed(Phase.HOST_LOAD, "the interpreter ended before it began") from failure
            raise
        return companion

    async def _profile(self, session: SessionId, mode: SandboxMode) -> Profile:
        created = await self._store.lookup(session, keys.created())
        if created is None:
            raise HostFailed(Phase.HOST_LOAD, "the session is gone")
        device, _, inode = created.data["cwdId"].partition(":")
        workspace = Workdir(Path(created.data["cwd"]), int(device), int(inode))
        roots = [Path(root) for root in created.data["gitRoots"]]
        return self._sandbox.profile(session, workspace, mode, git_roots=roots)

    async def _end_all(self) -> None:
        async with anyio.create_task_group() as group:
            for half in self.living():
                group.start_soon(half.end)
            group.start_soon(self.spares.end_all)
