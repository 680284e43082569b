"""One half that is up: its process, its line, its bounds, and its end."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, Protocol

import anyio

from placet.cordis.host.errors import HalfRaised, LineBroken, Refusal
from placet.cordis.host.limits import Bucket, Limits
from placet.cordis.host.line import Line
from placet.cordis.host.port import Cause, Diagnosis, Ended, HostFailed, InvokeFailed, RunFacts
from placet.cordis.host.prints import Prints
from placet.cordis.host.watch import Watch, cut
from placet.cordis.vocabulary import HalfStatus, InvokeFailure, Phase
from placet.kernel.signal import AbortSignal
from placet.sandbox import Companion

logger = logging.getLogger(__name__)

_TOGETHER = 0.03
_GONE = "the plugin is not running any more"


class Offices(Protocol):
    """What serves a half's calls, and forgets it at its end."""

    async def serve(self, half: Half, method: str, params: dict[str, Any], signal: AbortSignal) -> Any:
        """Do what a half asks for. Raises `Refusal`."""
        ...

    @property
    def events(self) -> tuple[str, ...]:
        """The events that a half may hear."""
        ...

    def begin(self, half: Half) -> None:
        """Take a half in."""
        ...

    async def follow(self, half: Half) -> None:
        """Tell it what it listens to, as long as it lives."""
        ...

    def names(self, half: Half) -> tuple[str, ...]:
        """The services of other plugins that there are now."""
        ...

    def forget(self, half: Half) -> None:
        """Take back all that it has registered."""
        ...


class Half:
    """A half from its first message to its end; `live` is its life."""

    def __init__(
        self,
        facts: RunFacts,
        companion: Companion,
        limits: Limits,
        offices: Offices,
        *,
        on_ended: Callable[[Ended], None],
        on_change: Callable[[], None],
        on_diagnosed: Callable[[Diagnosis], None],
    ) -> None:
        self.facts, self.limits = facts, limits
        self._companion, self._offices = companion, offices
        self._on_ended, self._on_change, self._on_diagnosed = on_ended, on_change, on_diagnosed
        self._line = Line(companion.line, limits, self._serve, self._hear)
        self._prints = Prints(companion.printed, facts.plugin, limits)
        self.settled, self.over = anyio.Event(), anyio.Event()
        self._watch = Watch(companion, self._line, self._prints, limits, self.settled)
        self._held = AsyncExitStack()
        self._scope = anyio.CancelScope()
        self._applying_since: float | None = None
        self._applied_once = False
        self._failure: HostFailed | None = None
        self._ended: Ended | None = None
        self._asked_to_end = False
        self.status = HalfStatus.PENDING
        self.waiting_for: tuple[str, ...] = ()
        self.handlers: tuple[str, ...] = ()
        self.provided: dict[str, frozenset[str]] = {}
        self.calls = 0
        now = time.monotonic()
        self._calls, self._changes = Bucket(limits.calls, now), Bucket(limits.changes, now)
        self._diagnoses, self._logged = Bucket(limits.diagnoses, now), Bucket(limits.logged, now)
        self._told_of_log = False
        self._told: object = None
        self._news = anyio.Event()
        self.known = self._sent = False

    @property
    def provides(self) -> tuple[str, ...]:
        """The names of the services that it provides now."""
        return tuple(sorted(self.provided))

    @property
    def pid(self) -> int:
        """The process under which all of it is found."""
        return self._companion.pid

    @property
    def ending(self) -> bool:
        """Whether it is on its way out; nothing of it counts any more."""
        return self._asked_to_end or self._ended is not None or self.over.is_set()

    # ---- start ----

    def start(self) -> None:
        """Send the source."""
        self._offices.begin(self)
        self._sent = True
        facts = self.facts
        words = {
            "plugin": facts.plugin,
            "package": facts.package,
            "run": facts.run,
            "source": facts.source,
            "services": list(self._offices.names(self)),
            "events": list(self._offices.events),
        }
        try:
            self._line.send({"jsonrpc": "2.0", "method": "start", "params": words})
        except Refusal as refusal:
            raise HostFailed(Phase.HOST_LOAD, f"the code cannot be handed over: {refusal.text}") from refusal

    def failure(self) -> HostFailed | None:
        """Why it did not come up, once `settled` is set; None if it did."""
        if self._failure is not None:
            return self._failure
        if self._ended is not None:
            return HostFailed(self._phase(), self._ended.message, self._ended.stack, self._ended.line)
        return None

    def overdue(self) -> HostFailed:
        """Word that it did not come up in time."""
        seconds = f"{self.limits.start:g} seconds"
        if not self._sent:
            why = "a signed script has the workspace to itself now; try again when it is done"
            return HostFailed(Phase.HOST_LOAD, f"it was not started within {seconds}: {why}")
        if self._applying_since is None:
            return HostFailed(Phase.HOST_LOAD, f"its code did not load within {seconds}: its top level blocks")
        why = "start what takes long with ctx.timer.after(0.1, fn)"
        return HostFailed(Phase.HOST_APPLY, f"apply(ctx) did not return within {seconds}; {why}")

    # ---- life ----

    async def live(self) -> None:
        """Follow it until it ends, by itself, by a bound or by `end`; clear it away, and tell the end."""
        try:
            with self._scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._offices.follow, self)
                    for watch in (*self._watch.all(), self._applying, self._telling):
                        group.start_soon(self._until, watch)
        except Exception:  # what placet cannot follow any more must not go on, nor end untold
            logger.exception("plugin %s: run %s was lost", self.facts.plugin, self.facts.run)
            self._ended = self._ended or Ended(
                Cause.CRASHED, Phase.GUARD, "placet lost the plugin by a fault of its own"
            )
        finally:
            with anyio.CancelScope(shield=True):
                await self._clear()

    async def _until(self, watch: Callable[[], Awaitable[Ended]]) -> None:
        ended = await watch()
        if self._ended is None:
            self._ended = ended
        self._leave()

    async def _applying(self) -> Ended:
        """After the start, each new `apply` has the same time as the first one."""
        await self.settled.wait()
        while True:
            await anyio.sleep(self.limits.start / 10)
            since = self._applying_since
            if since is not None and time.monotonic() - since > self.limits.start:
                return Ended(Cause.FAILED, Phase.HOST_APPLY, self.overdue().message)

    async def _telling(self) -> Ended:
        """Tell of changes in what it offers: those that come together once, and only real ones."""
        await self.settled.wait()
        self._told = self._offer()
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            await anyio.sleep(_TOGETHER)
            if self._offer() == self._told:
                continue
            if not self._changes.take(1, time.monotonic()):
                return cut(f"it changed what it offers more than {self.limits.changes[1]:g} times at once")
            self._told = self._offer()
            if self.known and not self.ending:
                self._on_change()

    def _offer(self) -> object:
        return self.status, self.provides, self.waiting_for, self.handlers

    async def _clear(self) -> None:
        self._offices.forget(self)
        self._line.close()
        self._prints.close()
        try:
            await self._companion.end()
        finally:
            await self._held.aclose()
            self.status, self.waiting_for, self.handlers = HalfStatus.STOPPED, (), ()
            self.settled.set()
            self.over.set()
            if self.known and not self._asked_to_end and self._ended is not None:
                self._on_ended(self._ended)

    async def hold(self, what: Any) -> None:
        """Enter a context that is left when it is over."""
        await self._held.enter_async_context(what)

    async def end(self) -> None:
        """Let it undo what it registered, kill it, and return when nothing of it is left."""
        first, self._asked_to_end = not self._asked_to_end, True
        if first and not self.over.is_set():
            self._offices.forget(self)
            if self.settled.is_set() and self.failure() is None:
                with anyio.move_on_after(self.limits.stop):
                    await self._stopped()
            self._leave()
        with anyio.CancelScope(shield=True):
            await self.over.wait()

    def _leave(self) -> None:
        """Break off everything: what is being done for it hears of that first."""
        self._line.close()
        self._scope.cancel()

    async def _stopped(self) -> None:
        try:
            await self._line.call("stop", {}, self.limits.stop, bounded=False)
        except (LineBroken, HalfRaised, TimeoutError):
            return  # it is killed either way

    # ---- calls to it ----

    async def invoke(self, method: str, args: Any) -> Any:
        """Call a method for the client half. Raises `InvokeFailed`."""
        if self.ending:
            raise InvokeFailed(InvokeFailure.PLUGIN_NOT_RUNNING, _GONE)
        if method not in self.handlers:
            raise InvokeFailed(InvokeFailure.METHOD_NOT_FOUND, f"the host half handles no method {method!r:.80}")
        try:
            return await self.call({"kind": "method", "name": method, "args": args})
        except HalfRaised as raised:
            if raised.code == "cancelled" and self.ending:
                raise InvokeFailed(InvokeFailure.PLUGIN_NOT_RUNNING, _GONE) from raised
            gone = raised.code == InvokeFailure.METHOD_NOT_FOUND
            code = InvokeFailure.METHOD_NOT_FOUND if gone else InvokeFailure.HANDLER_ERROR
            raise InvokeFailed(code, raised.message, raised.stack) from raised
        except Refusal as refusal:
            raise InvokeFailed(InvokeFailure.HANDLER_ERROR, refusal.text) from refusal

    async def call(self, params: dict[str, Any]) -> Any:
        """Call one of its functions. Raises `HalfRaised`, and `Refusal` where it is gone, busy or too slow."""
        try:
            return await self._line.call("call", params, self.limits.answer)
        except LineBroken:
            raise Refusal("not-running", _GONE) from None
        except TimeoutError:
            raise Refusal("timeout", f"the plugin did not answer within {self.limits.answer:g} seconds") from None

    async def paced(self) -> None:
        """Wait until one more call of a tool may be made."""
        while not self._calls.take(1, time.monotonic()):  # noqa: ASYNC110 - only time brings the next one
            await anyio.sleep(self._calls.wait(time.monotonic()))

    def put_into_log(self, size: int) -> None:
        """Count what a call of it puts into the session's log. Raises `Refusal`, which its own log tells once."""
        now = time.monotonic()
        if self._logged.take(size, now):
            self._told_of_log = False
            return
        seconds = math.ceil(self._logged.wait(now, size))
        text = (
            "calls that are kept in the session's log, each with its arguments, come too fast: "
            f"at most {int(self.limits.logged[0]) >> 10} KiB a second in the long run; "
            f"write less often or less at once, or go on in {seconds} seconds"
        )
        if not self._told_of_log:
            self._told_of_log = True
            self._prints.say(f"placet refuses some calls: {text}")
        raise Refusal("too-much-logged", text)

    def was_put_into_log(self, size: int) -> None:
        """Count what stands there already: the result of a call."""
        self._logged.owe(size, time.monotonic())

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Tell it something."""
        if not self.ending:
            self._line.tell(method, params)

    def changed(self) -> None:
        """Tell that what it offers is other than before."""
        self._news.set()

    # ---- what it says ----

    async def _serve(self, method: str, params: dict[str, Any], signal: AbortSignal) -> Any:
        if self.ending:
            raise Refusal("stopping", "the plugin is stopping")
        return await self._offices.serve(self, method, params, signal)

    def _hear(self, method: str, params: dict[str, Any]) -> None:
        match method, params:
            case "state", {"status": "applying"}:
                self._applying_since = time.monotonic()
            case "state", {"status": "running" | "waiting" as status, "waitingFor": list(names)}:
                self._applying_since = None
                self.status = HalfStatus(status)
                self.waiting_for = _texts(names)
                self.changed()
                self.settled.set()
            case "handlers", {"names": list(names)}:
                self.handlers = _texts(names)
                self.changed()
            case "failed", {"phase": "host-load" | "host-apply" as phase}:
                self._failed(Phase(phase), HalfRaised(params))
            case "diagnosed", _:
                if not self._diagnoses.take(1, time.monotonic()):
                    return  # it stands in the log of its prints
                raised = HalfRaised(params)
                self._on_diagnosed(Diagnosis(str(params.get("label"))[:80], raised.message, raised.stack))
            case _:
                pass  # "up", and what a later SDK may say

    def _failed(self, phase: Phase, raised: HalfRaised) -> None:
        if self.settled.is_set():
            self._ended = self._ended or Ended(Cause.FAILED, phase, raised.message, raised.stack, raised.line)
            self._leave()
        else:
            self._failure = HostFailed(phase, raised.message, raised.stack, raised.line)
            self.settled.set()

    def _phase(self) -> Phase:
        return Phase.HOST_LOAD if self._applying_since is None else Phase.HOST_APPLY


def _texts(names: list[Any]) -> tuple[str, ...]:
    return tuple(str(name)[:80] for name in names[:200])
