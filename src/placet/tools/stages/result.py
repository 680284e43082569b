"""From what a call came to, to its `tool/result`: errors, post-execute, the check that nothing is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from placet.approval.subject import CallKey
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.session import keys
from placet.session.codec import lossless
from placet.session.errors import NotLossless
from placet.session.event import Draft
from placet.session.ids import AskId, new_message_id
from placet.tools import texts
from placet.tools.codes import Code, Unused
from placet.tools.stages.hooks import Accept, Block, Finished, Request, Stages
from placet.tools.tool import ToolCall, ToolOutput


@dataclass(frozen=True, slots=True)
class Ended:
    """A call is over. `plain` results skip post-execute (B9); `beside` goes into the same append, for the person."""

    output: ToolOutput
    plain: bool = False
    beside: tuple[Draft, ...] = ()


def error(code: str, text: str, *, meta: Mapping[str, Any] | None = None) -> ToolOutput:
    """Return an error result; the model reads `Error: ` and the text (B16)."""
    return ToolOutput(f"Error: {text}", is_error=True, code=str(code), meta=dict(meta or {}))


def refused(code: str, text: str, *, ask: AskId | None = None) -> Ended:
    """End a call with an error."""
    return Ended(error(code, text, meta=None if ask is None else {"ask": ask}))


def stopped(ask: AskId | None = None) -> Ended:
    """End a call that a stop has kept from starting."""
    return refused(Code.ABORTED_BEFORE_DISPATCH, texts.ABORTED_BEFORE_DISPATCH, ask=ask)


def withheld(reason: Unused, call: CallKey, ask: AskId | None) -> Ended:
    """End a call whose grant could not be used, and tell the person that their yes was not used.

    Where `tool/started` is there already, it cannot be said that the call never started.
    """
    meta = {"reason": reason.value}
    if reason is Unused.USED:
        output = error(Code.TOOL_OUTCOME_UNKNOWN, texts.UNKNOWN_OUTCOME, meta=meta)
    else:
        output = error(Code.TOOL_NOT_STARTED, texts.not_started(reason, allowed=ask is not None), meta=meta)
    if ask is None:
        return Ended(output)
    told = notice("warn", f"grant-unused:{reason.value}", texts.unused_notice(reason), key=f"unused:{call}", ask=ask)
    return Ended(replace(output, meta={**meta, "ask": ask}), beside=(told,))


def notice(level: str, code: str, text: str, *, key: str, ask: AskId | None = None) -> Draft:
    """Draft a line for the person; a key that is there already makes the store refuse the whole append."""
    data: dict[str, Any] = {"level": level, "code": code, "text": text}
    if ask is not None:
        data["ask"] = ask
    return Draft("notice", data, keys.client("notice", key))


def result_draft(call: ToolCall, output: ToolOutput) -> Draft:
    """Draft the `tool/result`; a value that JSON would not give back makes it an error (B15)."""
    output = sound(output)
    data = {
        **call.key.json(),
        "name": call.name,
        "text": output.text,
        "isError": output.is_error,
        "code": output.code,
        "value": output.value,
        "meta": dict(output.meta),
    }
    return Draft("tool/result", data, keys.result(call.turn, call.step, call.position))


def sound(output: ToolOutput) -> ToolOutput:
    """Return the output, or an error where the log could not hold it."""
    try:
        lossless({"text": output.text, "value": output.value, "meta": dict(output.meta)})
    except NotLossless as failure:
        return error(Code.INVALID_TOOL_OUTPUT, f"the tool returned what JSON cannot hold: {failure}")
    return output


async def finish(
    stages: Stages, request: Request, output: ToolOutput, clock: Clock = SYSTEM_CLOCK
) -> tuple[ToolOutput, tuple[Draft, ...]]:
    """Run post-execute: the output as it stands afterwards, and messages for the agent's next step (B17)."""
    try:
        decision = await stages.post(Finished(request, output))
    except Exception as failure:
        return error(Code.TOOL_FAILED, f"a post-execute stage failed: {failure}"), ()
    match decision:
        case Block(feedback, contexts):
            output = error(Code.BLOCKED, feedback, meta=output.meta)
        case Accept(text, value, contexts):
            if text is not None and value is not None:
                return error(Code.INVALID_TOOL_OUTPUT, "a post-execute stage replaced both text and value"), ()
            output = replace(output, text=text if text is not None else output.text)
            output = replace(output, value=value if value is not None else output.value)
    return output, tuple(_context(text, clock) for text in contexts)


def _context(text: str, clock: Clock) -> Draft:
    """Draft a message that waits for the agent's next step and wakes nobody."""
    message = new_message_id(clock)
    put = {"id": message, "target": "next-step", "wake": False, "text": text}
    return Draft("agent/inbox", {"put": {**put, "source": {"kind": "plugin", "name": "tools"}}}, keys.put(message))
