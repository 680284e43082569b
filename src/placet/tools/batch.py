"""The calls of one message: side by side where their tools allow it, the others as barriers between (B21)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import anyio

from placet.session import keys
from placet.session.errors import LeaseLost
from placet.session.store import Refused
from placet.tools.pipeline import Pipeline, call_draft
from placet.tools.tool import NO_FACTS, CallFacts, RunContext, ToolCall

AT_ONCE = 10
"""How many calls of a message run beside each other."""


async def run_batch(
    pipeline: Pipeline,
    calls: Sequence[ToolCall],
    run: RunContext,
    facts: Mapping[tuple[int, int], CallFacts] | None = None,
    *,
    at_once: int = AT_ONCE,
) -> None:
    """Bring every call to its result, each written as soon as it is known.

    `facts` are what the log holds already, by step and position. All `tool/call` of the message are one append. A stop
    lets what has started settle; the rest ends `ABORTED_BEFORE_DISPATCH` (B22). The first exception ends all.
    """
    known = {(call.step, call.position): (facts or {}).get((call.step, call.position), NO_FACTS) for call in calls}
    await _log_calls([call for call in calls if known[call.step, call.position].called is None], run)
    failure: list[Exception] = []
    limiter = anyio.CapacityLimiter(at_once)

    async def one(call: ToolCall, scope: anyio.CancelScope) -> None:
        try:
            async with limiter:
                await pipeline.run(call, run, known[call.step, call.position], called=True)
        except Exception as error:  # raised below, bare: a task group would wrap it
            failure.append(error)
            scope.cancel()

    for _, group in groupby(enumerate(calls), lambda item: _group(pipeline, item, run)):
        async with anyio.create_task_group() as tasks:
            for _, call in group:
                tasks.start_soon(one, call, tasks.cancel_scope)
        if failure:
            raise failure[0]


def _group(pipeline: Pipeline, item: tuple[int, ToolCall], run: RunContext) -> int:
    """Return the same number for neighbours that may run beside each other, and one of its own for a barrier."""
    index, call = item
    return -1 if pipeline.parallel(call, run.session) else index


async def _log_calls(calls: Sequence[ToolCall], run: RunContext) -> None:
    if not calls:
        return
    outcome = await run.log.append([call_draft(call) for call in calls], absent=[keys.end(run.turn)], lease=run.lease)
    if isinstance(outcome, Refused) and outcome.why == "lease":
        raise LeaseLost(run.session)
