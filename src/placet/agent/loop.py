"""One turn, from the first step to its end: claim messages, ask the model, run its calls side by side, and again.

Everything that happens is an append; what the loop keeps in memory can be lost at any moment. The stop is the event
`turn/abort`: each append that would begin something is refused by the store once it is there, and the signal in
memory is only how a running request or command hears of it sooner.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import anyio

from placet.agent import mailbox
from placet.agent.context import REFERENCE, SOURCE, STANDING
from placet.agent.errors import AgentError, ModelError
from placet.agent.found import FOUND, FoundCall
from placet.agent.kit import Kit
from placet.agent.mailbox import MAILBOX
from placet.agent.model.port import Model, ModelRequest, ReasoningDelta, Reply, TextDelta, ToolSpec
from placet.agent.transcript import TRANSCRIPT
from placet.kernel.signal import AbortSignal
from placet.session import keys
from placet.session.codec import escape
from placet.session.errors import LeaseLost, UnknownSession
from placet.session.event import Draft
from placet.session.ids import new_message_id
from placet.session.log import SessionLog
from placet.session.store import Appended, Lease, Refused
from placet.session.turn import FIRST_OF_PLUGINS
from placet.tools.batch import run_batch
from placet.tools.tool import CallFacts, RunContext, ToolCall


class Turn:
    """One turn of a session whose lease this worker holds."""

    def __init__(self, kit: Kit, log: SessionLog, lease: Lease, number: int, signal: AbortSignal) -> None:
        self.kit = kit
        self.log = log
        self.lease = lease
        self.number = number
        self.signal = signal

    async def run(self) -> None:
        """Open the turn and drive it to its end."""
        await self.append([Draft("turn/start", {"turn": self.number}, keys.turn(self.number))])
        await self._steps(1)

    async def go_on(self, step: int, calls: Sequence[FoundCall]) -> None:
        """Take a turn of an earlier worker up again: the calls that go on, then the steps after theirs."""
        message = self.log.see(FOUND).message
        assert message is not None
        await self._calls(message.data["model"], calls)
        if await self._leave(step):
            await self._steps(step + 1)

    async def end(self, kind: str, **more: Any) -> None:
        """Close the turn, and its step if one is open. A stop that came first makes every end an aborted one."""
        await self.kit.turns.leave(self.log.session, self.kit.dispatcher)
        found = self.log.see(FOUND)
        reason: dict[str, Any] = {"kind": kind, **more}
        drafts = [Draft("turn/end", {"turn": self.number, "reason": reason}, keys.end(self.number))]
        if found.step_open:
            drafts.insert(0, self._step_end(found.step))
        absent = () if kind == "aborted" else (keys.abort(self.number),)
        if not await self.append(drafts, absent=absent):
            await self.end_stopped()

    async def end_stopped(self) -> None:
        """Close the turn as the stop wants it, with the reason that the stop gave."""
        await self.log.catch_up()
        stop = await self.kit.store.lookup(self.log.session, keys.abort(self.number))
        await self.end("aborted", reason=stop.data["reason"] if stop else "user")

    async def append(self, drafts: Sequence[Draft], *, absent: Collection[str] = ()) -> bool:
        """Append as the holder of the lease. False: the stop stands in the way. Raises `LeaseLost`, `StoreGone`."""
        match await self.log.append(drafts, absent=absent, lease=self.lease):
            case Appended():
                return True
            case Refused(why="absent", key=key) if key == keys.abort(self.number):
                return False
            case Refused(why="lease"):
                raise LeaseLost(self.log.session)
            case Refused(why="present"):  # without `created` there is no log: somebody deleted the session
                raise UnknownSession(self.log.session)
            case Refused(key=key):
                raise AgentError(f"the log of {self.log.session} already holds {key}")

    # ---- steps ----

    async def _steps(self, step: int) -> None:
        while True:
            if step > self.kit.most_steps:
                return await self.end("error", error=f"The turn was ended after {self.kit.most_steps} steps.")
            await self.log.catch_up()
            claimed = self.log.see(MAILBOX).claim(opening=step == 1)
            if step == 1 and not claimed:
                return await self.end("completed")
            if not await self._enter(step, claimed):
                return await self.end_stopped()
            if not await self._speak_and_act(step):
                return None
            step += 1

    async def _enter(self, step: int, claimed: Sequence[mailbox.Queued]) -> bool:
        """Begin a step: one append claims the messages, writes them, states the rules where they changed, and tells
        what the person refers to."""
        texts = [message.text for message in claimed if message.source.kind == mailbox.PERSON.kind]
        known = await self.kit.references(self.log.session, texts) if texts else ()
        drafts = [Draft("step/start", {"turn": self.number, "step": step}, keys.step(self.number, step))]
        if statement := self.kit.context.changed(self.log):
            drafts.append(mailbox.said(new_message_id(self.kit.clock), statement, SOURCE, self.number))
        drafts += mailbox.take(self.number, step, claimed)
        drafts += [mailbox.said(new_message_id(self.kit.clock), text, REFERENCE, self.number) for text in known]
        return await self.append(drafts, absent=[keys.abort(self.number)])

    async def _speak_and_act(self, step: int) -> bool:
        """One request and its calls. True: the turn goes on with another step; else it has been ended here."""
        name = self.log.see(STANDING).model or self.kit.default_model
        self.kit.turns.enter(self._context(name))
        try:
            reply = await self._reply(self.kit.models(name), step)
        except AgentError as error:
            await self.end("error", error=str(error))
            return False
        if reply is None or not await self._log_reply(name, step, reply):
            await self.end_stopped()
            return False
        if reply.calls:
            await self._calls(name, self.log.see(FOUND).calls)
        await self.log.catch_up()
        if not reply.calls and not self.log.see(MAILBOX).steers:
            await self.end("max-tokens" if reply.stop == "max-tokens" else "completed")
            return False
        return await self._leave(step)

    async def _leave(self, step: int) -> bool:
        """Close a step whose calls all have their results. False: the turn was stopped, and has been ended here."""
        drafts = [self._step_end(step)] if self.log.see(FOUND).step_open else []
        if self.signal.aborted or (drafts and not await self.append(drafts, absent=[keys.abort(self.number)])):
            await self.end_stopped()
            return False
        return True

    def _step_end(self, step: int) -> Draft:
        return Draft("step/end", {"turn": self.number, "step": step}, keys.step_end(self.number, step))

    # ---- the model ----

    async def _reply(self, model: Model, step: int) -> Reply | None:
        """Ask until the model answers. None: stopped; what was said until then is in the log. Raises `ModelError`."""
        tools = self.kit.tools.tools(self.log.session)
        request = ModelRequest(
            self.kit.instructions,
            self.log.see(TRANSCRIPT).messages(),
            tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in tools),
        )
        attempt = 1
        while True:
            try:
                return await self._stream(model, request, step)
            except ModelError as error:
                where = {"turn": self.number, "step": step, "attempt": attempt}
                key = keys.model_failed(self.number, step, attempt)
                await self.append([Draft("model/failed", {**where, "error": str(error)}, key)])
                wait = self.kit.retries.wait(error, attempt, self.kit.chance)
                if wait is None:
                    raise
                if await self._stopped_within(wait):
                    return None
                attempt += 1

    async def _stream(self, model: Model, request: ModelRequest, step: int) -> Reply | None:
        session, speech = self.log.session, self.kit.speech
        speech.begin(session, self.number, step)
        reply: Reply | None = None
        thoughts: list[str] = []
        try:
            with anyio.CancelScope() as scope:
                undo = self.signal.on_abort(lambda _: scope.cancel())
                try:
                    async for piece in model.stream(request):
                        match piece:
                            case TextDelta(text):
                                speech.add(session, text)
                            case Reply():
                                reply = piece
                            case ReasoningDelta(text):
                                thoughts.append(text)
                finally:
                    undo()
            if reply is None and self.signal.aborted:
                partial = speech.partial(session)
                await self._log_prefix(model.name, step, partial.text if partial else "", "".join(thoughts))
                speech.end(session)
                return None
            if reply is None:
                raise ModelError(f"{model.name} ended without a reply.", passing=True)
            if len(reply.calls) > FIRST_OF_PLUGINS:
                wanted, reply = len(reply.calls), None
                raise ModelError(f"{model.name} wants {wanted} calls at once; {FIRST_OF_PLUGINS} are possible.")
            return reply
        finally:
            if reply is None:
                speech.drop(session)

    async def _stopped_within(self, seconds: float) -> bool:
        """Wait, and return at once with True if the turn is stopped meanwhile."""
        with anyio.CancelScope() as scope:
            undo = self.signal.on_abort(lambda _: scope.cancel())
            try:
                await self.kit.clock.sleep(seconds)
            finally:
                undo()
        return self.signal.aborted

    async def _log_reply(self, name: str, step: int, reply: Reply) -> bool:
        """Write what the model said. False: the stop came first, and only the text was kept, marked as interrupted."""
        calls = [
            {
                "position": position,
                "id": whole(call.id),
                "name": whole(call.name),
                "arguments": escape(whole(call.arguments)),
            }
            for position, call in enumerate(reply.calls)
        ]
        data = self._said(name, step, reply.text, reply.reasoning or "") | {"calls": calls}
        if reply.usage is not None:
            data["usage"] = dict(reply.usage)
        draft = Draft("assistant/message", data, keys.assistant(self.number, step))
        try:
            if await self.append([draft], absent=[keys.abort(self.number)]):
                return True
            await self._log_prefix(name, step, reply.text, reply.reasoning or "")
            return False
        finally:
            self.kit.speech.end(self.log.session)

    async def _log_prefix(self, name: str, step: int, text: str, reasoning: str) -> None:
        """Keep what was said before the stop; calls that were on their way are dropped (F20)."""
        if text or reasoning:
            data = self._said(name, step, text, reasoning) | {"calls": [], "interrupted": True}
            await self.append([Draft("assistant/message", data, keys.assistant(self.number, step))])

    def _said(self, name: str, step: int, text: str, reasoning: str) -> dict[str, Any]:
        said: dict[str, Any] = {"turn": self.number, "step": step, "model": name, "text": whole(text)}
        return said | {"reasoning": whole(reasoning)} if reasoning else said

    # ---- calls ----

    def _context(self, agent: str) -> RunContext:
        return RunContext(
            log=self.log,
            lease=self.lease,
            turn=self.number,
            signal=self.signal,
            session=self.log.session,
            cwd=self.log.see(STANDING).cwd,
            agent=agent,
        )

    async def _calls(self, agent: str, calls: Iterable[FoundCall]) -> None:
        """Run calls of one message side by side until each has its result in the log."""
        run = self._context(agent)
        self.kit.turns.enter(run)
        waiting = [call for call in calls if call.result is None]
        await run_batch(
            self.kit.pipeline,
            [tool_call(self.number, call) for call in waiting],
            run,
            {(call.step, call.position): facts(call) for call in waiting},
            at_once=self.kit.side_by_side,
        )


def tool_call(turn: int, call: FoundCall) -> ToolCall:
    """The call as the pipeline takes it."""
    wanted = call.wanted
    return ToolCall(turn, call.step, call.position, wanted["id"], wanted["name"], wanted["arguments"])


def facts(call: FoundCall) -> CallFacts:
    """What the log holds already about the call, so that the pipeline goes on from there."""
    return CallFacts(call.called, call.asked, call.decided, call.started, call.result)


def whole(text: str) -> str:
    """The text with surrogate pairs joined that a vendor's chunks had split; what stays alone stays."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
