"""One tool call from `tool/call` to `tool/result`, every stage looking first at what the log already holds.

call, schema, pre-execute, ask, guards, consume, `tool/started`, around, body, post-execute, result. Recovery enters the
same code with the facts of an interrupted call. A worker that lost its lease, or whose store is gone, gets an exception
and writes nothing more; every other trouble is a result.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from placet.approval.dispatcher import Dispatcher, NotAsked
from placet.approval.errors import SubjectInvalid, SubjectTooLarge
from placet.approval.events import asked_key
from placet.approval.outcome import Decision, Outcome, grants
from placet.approval.policy import PolicyFold
from placet.approval.subject import CoveredFile, Subject, build, parse_arguments
from placet.kernel.clock import Clock
from placet.sandbox.errors import HelperStopped, SandboxError
from placet.sandbox.mode import ModeFold, SandboxMode
from placet.sandbox.policy import Workdir
from placet.session import keys
from placet.session.codec import escape
from placet.session.errors import LeaseLost, SessionError
from placet.session.event import Draft, Event
from placet.session.ids import AskId, SessionId
from placet.session.store import Refused
from placet.tools import texts
from placet.tools.codes import Code, Unused
from placet.tools.evidence import RUNS
from placet.tools.registry import Registry
from placet.tools.stages.body import run_body
from placet.tools.stages.checks import Checked, check
from placet.tools.stages.consume import Grant, Halted, Withheld, consume, signed_workdir
from placet.tools.stages.gate import Asks, Free, need
from placet.tools.stages.hooks import Body, Finished, Request, Stages
from placet.tools.stages.result import Ended, error, finish, refused, result_draft, sound, stopped, withheld
from placet.tools.tool import (
    NO_FACTS,
    Arguments,
    CallContext,
    CallFacts,
    RunContext,
    ToolCall,
)

logger = logging.getLogger(__name__)


class Pipeline:
    """Runs calls. `modes` says the mode where the log is silent; without a dispatcher nothing can be granted."""

    def __init__(
        self,
        registry: Registry,
        dispatcher: Dispatcher | None,
        clock: Clock,
        *,
        modes: ModeFold = ModeFold(),  # noqa: B008 - a frozen value
        stages: Stages | None = None,
    ) -> None:
        self.registry, self.stages = registry, stages or Stages()
        self._dispatcher, self._clock, self._modes = dispatcher, clock, modes
        self._policy = PolicyFold() if dispatcher is None else dispatcher.policy

    async def run(self, call: ToolCall, run: RunContext, facts: CallFacts = NO_FACTS, *, called: bool = False) -> None:
        """Bring a call to its `tool/result`, from wherever the log says that it stands.

        `called` says that its `tool/call` was appended just now, together with those of its message.
        """
        if facts.result is not None:
            return
        if facts.called is None and not called:
            await self._append(run, [call_draft(call)])
        ended = await self._outcome(call, run, facts)
        output, beside = ended.output, ended.beside
        if not ended.plain:
            request = Request(call, run.session, _values(call))
            output, contexts = await finish(self.stages, request, output, self._clock)
            output = sound(output)
            self.stages.results.notify(Finished(request, output))
            beside = (*contexts, *beside)
        await self._append(run, [result_draft(call, output), *beside])

    def parallel(self, call: ToolCall, session: SessionId) -> bool:
        """Whether a call may run beside others of its message (B21)."""
        tool = self.registry.get(call.name, session)
        try:
            return tool is not None and tool.parallel(parse_arguments(call.arguments)) is True
        except Exception:  # a classifier that fails makes the call a barrier
            return False

    async def _outcome(self, call: ToolCall, run: RunContext, facts: CallFacts) -> Ended:
        if facts.started is not None:
            return Ended(error(Code.TOOL_OUTCOME_UNKNOWN, texts.UNKNOWN_OUTCOME), plain=True)
        if facts.asked is not None:
            return await self._from_ask(call, run, facts.asked, facts.decided)
        if run.signal.aborted:
            return stopped()
        checked = check(self.registry, call, run)
        if isinstance(checked, Ended):
            return checked
        await run.log.catch_up()
        try:
            needed = await need(self.stages, checked, run, run.log.see(self._modes))
        except SessionError:
            raise
        except Exception as failure:
            return _stage_failed("a pre-execute stage", failure)
        match needed:
            case Ended():
                return needed
            case Free():
                return await self._free(checked, run, needed)
            case Asks():
                return await self._ask(checked, run, needed)

    # The ask.

    async def _ask(self, checked: Checked, run: RunContext, needed: Asks) -> Ended:
        if self._dispatcher is None:
            return refused(Code.APPROVAL_UNAVAILABLE, needed.reason or texts.NO_APPROVAL)
        call = checked.request.call
        asks: list[AskId] = []

        def subject_of(ask: AskId) -> Subject:
            asks.append(ask)
            return self._subject(ask, checked, run, needed, files)

        try:
            files = await self._covered(checked, run)
            decision = await self._dispatcher.request(
                run.log,
                run.lease,
                run.turn,
                subject_of,
                call_id=call.call_id,
                reason=needed.reason,
                signal=run.signal,
                earlier_run=run.log.see(RUNS).ran_unknown(call.name, call.arguments),
            )
        except SubjectTooLarge as failure:
            return refused(Code.TOO_LARGE_TO_SHOW, f"{failure}. Nobody was asked and nothing ran.")
        except HelperStopped:
            return stopped()
        except SandboxError as failure:
            return refused(failure.code, f"{failure.why}. Nobody was asked and nothing ran.")
        if isinstance(decision, NotAsked):
            return stopped() if decision.why == "aborted" else refused(Code.TOO_MANY_ASKS, texts.TOO_MANY_ASKS)
        asked = await run.log.store.lookup(run.session, asked_key(asks[0]))
        assert asked is not None
        return await self._decided(call, run, asked, decision)

    async def _covered(self, checked: Checked, run: RunContext) -> tuple[CoveredFile, ...]:
        mode = run.log.see(self._modes)
        context = self._context(checked.request.call, run, checked.workdir, mode, escalated=False)
        return await checked.tool.covers(checked.request.args, context)

    def _subject(
        self, ask: AskId, checked: Checked, run: RunContext, needed: Asks, files: tuple[CoveredFile, ...]
    ) -> Subject:
        call, cwd = checked.request.call, str(checked.workdir.path)
        return build(
            ask=ask,
            session=run.session,
            agent=run.agent,
            call=call.key,
            tool=call.name,
            tool_digest=checked.definition,
            arguments=call.arguments,
            cwd=cwd,
            cwd_id=checked.workdir.id,
            from_mode=run.log.see(self._modes),
            to_mode=needed.to_mode,
            denied=run.log.see(RUNS).denial(call.name, call.arguments, escape(cwd)),
            files=files,
        )

    async def _from_ask(self, call: ToolCall, run: RunContext, asked: Event, decided: Event | None) -> Ended:
        """Go on with an ask of an earlier worker: decided already, or re-armed with its id and its logged subject."""
        if decided is not None:
            return await self._decided(call, run, asked, Decision.of(decided))
        if self._dispatcher is None:
            return refused(Code.APPROVAL_UNAVAILABLE, texts.NO_APPROVAL)
        decision = await self._dispatcher.resume(run.log, run.lease, asked, signal=run.signal)
        return await self._decided(call, run, asked, decision)

    async def _decided(self, call: ToolCall, run: RunContext, asked: Event, decision: Decision) -> Ended:
        subject = Subject.of(asked.data["subject"])
        if grants(decision.outcome):
            return stopped(subject.ask) if run.signal.aborted else await self._granted(call, run, asked, decision)
        if decision.outcome is Outcome.CANCELLED and run.signal.aborted:
            return stopped(subject.ask)
        tool = self.registry.get(call.name, run.session)
        code, text = texts.denial(decision, subject.to_mode, "command" if tool is None else tool.noun)
        return refused(code, text, ask=subject.ask)

    # From the guards to the body.

    async def _granted(self, call: ToolCall, run: RunContext, asked: Event, decision: Decision) -> Ended:
        subject = Subject.of(asked.data["subject"])
        grant = Grant(asked, subject, decision)
        request = Request(call, run.session, subject.values())
        denied = self._guarded(request)
        if isinstance(denied, Ended):
            return replace(denied, beside=withheld(Unused.GUARD, call.key, subject.ask).beside)
        return await self._start(request, run, grant)

    async def _free(self, checked: Checked, run: RunContext, needed: Free) -> Ended:
        denied = self._guarded(checked.request)
        if isinstance(denied, Ended):
            return denied
        ended = await self._start(checked.request, run, checked)
        if needed.note is None:
            return ended
        return replace(ended, output=replace(ended.output, text=f"{needed.note}\n{ended.output.text}"))

    def _guarded(self, request: Request) -> Ended | None:
        """Let the guards deny, also after a person's yes; one that fails denies too (B8, B9)."""
        try:
            reason = self.stages.denied(request)
        except Exception as failure:
            return _stage_failed("a guard", failure)
        return None if reason is None else refused(Code.DENIED, reason)

    async def _start(self, request: Request, run: RunContext, source: Grant | Checked) -> Ended:
        """Have what was signed stay as it is, then use the grant and run the body."""
        if not isinstance(source, Grant) or not source.subject.files:
            return await self._used(request, run, source, ())
        call, subject = request.call, source.subject
        tool = self.registry.get(call.name, run.session)
        if tool is None:
            return withheld(Unused.TOOL, call.key, subject.ask)
        workdir, mode = signed_workdir(subject), SandboxMode(subject.mode)
        context = self._context(call, run, workdir, mode, escalated=subject.to_mode is not None)
        async with tool.keep(request.args, subject.files, context) as reason:
            if reason is not None:
                return withheld(reason, call.key, subject.ask)
            return await self._used(request, run, source, subject.files)

    async def _used(
        self, request: Request, run: RunContext, source: Grant | Checked, files: tuple[CoveredFile, ...]
    ) -> Ended:
        """Consume and, with no await between the commit and the last look at the stop, run the body."""
        call, ask = request.call, source.subject.ask if isinstance(source, Grant) else None
        tool = self.registry.get(call.name, run.session)
        used = await consume(call, run, tool, source, modes=self._modes, clock=self._clock)
        if isinstance(used, Halted):
            return stopped(ask)
        if isinstance(used, Withheld):
            return withheld(used.reason, call.key, ask)
        assert tool is not None
        escalated = isinstance(source, Grant) and source.subject.to_mode is not None
        context = self._context(call, run, used.workdir, used.mode, escalated=escalated, files=files)
        ended = await run_body(self.stages, tool, Body(request, context))
        if ask is None:
            return ended
        if ended.output.code == Unused.FILE_CHANGED:
            ended = replace(ended, beside=withheld(Unused.FILE_CHANGED, call.key, ask).beside)
        return _with_meta(ended, ask=ask)

    def _context(
        self,
        call: ToolCall,
        run: RunContext,
        workdir: Workdir,
        mode: SandboxMode,
        *,
        escalated: bool,
        files: tuple[CoveredFile, ...] = (),
    ) -> CallContext:
        return CallContext(
            key=call.key,
            session=run.session,
            cwd=run.cwd,
            workdir=workdir,
            mode=mode,
            policy=run.log.see(self._policy),
            escalated=escalated,
            signal=run.signal,
            log=run.log,
            lease=run.lease,
            files=files,
        )

    async def _append(self, run: RunContext, drafts: Sequence[Draft]) -> None:
        """Append what only the holder of the lease may. A fact that is there stays; a notice that is there is left."""
        left = list(drafts)
        while left:
            outcome = await run.log.append(left, absent=[keys.end(run.turn)], lease=run.lease)
            match outcome:
                case Refused("lease"):
                    raise LeaseLost(run.session)
                case Refused("duplicate", key=stood) if stood != left[0].key:
                    left = [draft for draft in left if draft.key != stood]
                case _:
                    return


def call_draft(call: ToolCall) -> Draft:
    """Draft `tool/call`."""
    data = {**call.key.json(), "callId": call.call_id, "name": call.name, "arguments": call.arguments}
    return Draft("tool/call", data, keys.call(call.turn, call.step, call.position))


def _values(call: ToolCall) -> Arguments:
    """Return the parsed arguments, or none where they cannot be parsed."""
    try:
        return parse_arguments(call.arguments)
    except SubjectInvalid:
        return {}


def _with_meta(ended: Ended, **more: str) -> Ended:
    return replace(ended, output=replace(ended.output, meta={**ended.output.meta, **more}))


def _stage_failed(stage: str, failure: Exception) -> Ended:
    """End a call because a stage raised: nothing ran, and post-execute is skipped (B9)."""
    logger.error("%s failed", stage, exc_info=failure)
    meta = {"class": type(failure).__name__}
    return Ended(error(Code.DENIED, f"{stage} failed, so the call did not run: {failure}", meta=meta), plain=True)
