"""Between a yes and the body: what was signed is looked at again and used once (design 8)."""

from __future__ import annotations

import os
from dataclasses import replace

import anyio
import pytest

from placet.approval import Decision, Outcome, Subject
from placet.sandbox.mode import SandboxMode
from placet.session import Draft, LeaseLost, keys
from placet.testing.responders import Holds, ScriptedResponder, says
from placet.tools import CallFacts, ToolCall
from placet.tools.codes import Unused
from placet.tools.stages.consume import Grant, changed
from tests.tools.world import Probe, ToolWorld

pytestmark = pytest.mark.anyio

ALLOW, FULL = Outcome.ALLOWED_ONCE, "danger-full-access"
WIDER = {"sandbox_permissions": FULL, "justification": "because"}


async def granted(tools: ToolWorld) -> tuple[ToolCall, CallFacts]:
    """Return a call whose ask was allowed and whose worker died before it used the grant."""
    held = Holds(says(ALLOW))
    tools.answers(held)
    call = tools.make(what="this", **WIDER)
    async with anyio.create_task_group() as group:
        group.start_soon(tools.bring, call)
        await held.reached.wait()
        group.cancel_scope.cancel()
    (asked,) = await tools.world.store.unpaired("asked:", "decided:")
    await tools.world.answer(asked)
    return call, await tools.facts(call)


async def test_b11_d4_a_grant_runs_the_signed_bytes_in_the_signed_mode_once(tools: ToolWorld, probe: Probe) -> None:
    tools.answers(ALLOW)
    await tools.call(what="this", **WIDER)
    (asked,), (started,) = await tools.world.events("approval/asked"), await tools.world.events("tool/started")
    ((args, context),) = probe.runs
    assert args == Subject.of(asked.data["subject"]).values()
    assert (context.mode, context.escalated) == (SandboxMode.DANGER_FULL_ACCESS, True)
    assert started.data["ask"] == asked.data["id"]
    assert started.data["digest"] == asked.data["digest"]
    assert started.data["mode"] == FULL


async def test_an_unused_grant_is_honoured_by_the_next_worker(tools: ToolWorld, probe: Probe) -> None:
    call, facts = await granted(tools)
    other = await tools.reborn()
    result = await other.bring(call, facts)
    assert (result.data["code"], len(probe.runs)) == (None, 1)
    assert len(await tools.world.events("approval/asked")) == 1


async def test_the_signed_mode_counts_though_the_sessions_mode_changed(tools: ToolWorld, probe: Probe) -> None:
    call, facts = await granted(tools)
    await tools.set_mode(SandboxMode.READ_ONLY)
    await (await tools.reborn()).bring(call, facts)
    ((_, context),) = probe.runs
    assert context.mode is SandboxMode.DANGER_FULL_ACCESS


@pytest.mark.parametrize(("minutes", "used"), [(9.99, True), (10.01, False)])
async def test_a_grant_lives_ten_minutes(tools: ToolWorld, probe: Probe, minutes: float, used: bool) -> None:
    call, facts = await granted(tools)
    await tools.world.clock.advance(minutes * 60)
    result = await (await tools.reborn()).bring(call, facts)
    assert bool(probe.runs) is used
    if not used:
        assert (result.data["code"], result.data["meta"]["reason"]) == ("TOOL_NOT_STARTED", "expired")
        (notice,) = await tools.world.events("notice")
        (asked,) = await tools.world.events("approval/asked")
        assert (notice.data["code"], notice.data["ask"]) == ("grant-unused:expired", asked.data["id"])
        assert await tools.world.events("tool/started") == []


async def test_a_tool_that_is_defined_anew_is_not_the_signed_one(tools: ToolWorld) -> None:
    call, facts = await granted(tools)
    other = Probe()
    other.schema = {"type": "object"}
    result = await (await tools.reborn(other)).bring(call, facts)
    assert (result.data["code"], result.data["meta"]["reason"], other.runs) == ("TOOL_NOT_STARTED", "tool", [])


async def test_a_tool_that_is_gone_is_not_the_signed_one(tools: ToolWorld, probe: Probe) -> None:
    call, facts = await granted(tools)
    worker = await tools.reborn()
    worker.registry._tools.clear()
    result = await worker.bring(call, facts)
    assert (result.data["meta"]["reason"], probe.runs) == ("tool", [])


@pytest.mark.parametrize("how", ["replaced", "removed", "link"])
async def test_a_folder_that_is_another_one_now_is_not_the_signed_one(tools: ToolWorld, probe: Probe, how: str) -> None:
    call, facts = await granted(tools)
    os.rename(tools.folder, tools.folder.with_name("old"))
    if how == "replaced":
        tools.folder.mkdir()
    if how == "link":
        tools.folder.symlink_to(tools.folder.with_name("old"))
    result = await (await tools.reborn()).bring(call, facts)
    assert (result.data["code"], result.data["meta"]["reason"]) == ("TOOL_NOT_STARTED", "file-changed")
    assert probe.runs == []


async def test_a_stop_between_the_yes_and_the_start_gives_aborted_before_dispatch(
    tools: ToolWorld, probe: Probe
) -> None:
    call, facts = await granted(tools)
    other = await tools.reborn()
    await tools.world.stop()
    result = await other.bring(call, facts)
    assert (result.data["code"], probe.runs) == ("ABORTED_BEFORE_DISPATCH", [])
    assert await tools.world.events("tool/started") == []


async def test_the_signal_is_read_once_more_between_the_commit_and_the_body(tools: ToolWorld, probe: Probe) -> None:
    """The stop comes while `tool/started` is on its way to the disk: the body never starts (model rule `recheck`)."""
    store = tools.world.store

    class Stops(type(store)):  # type: ignore[misc]
        pass

    append = store.append

    async def stopping(session, drafts, **more):  # type: ignore[no-untyped-def]
        answer = await append(session, drafts, **more)
        if drafts[0].type == "tool/started":
            await tools.world.stop()
        return answer

    store.append = stopping  # type: ignore[method-assign]
    result = await tools.call(what="this")
    assert (result.data["code"], probe.runs) == ("ABORTED_BEFORE_DISPATCH", [])
    assert len(await tools.world.events("tool/started")) == 1


async def test_a_worker_without_the_lease_starts_nothing_and_writes_nothing(tools: ToolWorld, probe: Probe) -> None:
    call, facts = await granted(tools)
    worker = await tools.reborn()
    await worker.reborn()
    before = await tools.world.events()
    with pytest.raises(LeaseLost):
        await worker.pipeline.run(call, worker.context, facts)
    assert probe.runs == []
    assert await tools.world.events() == before


async def test_a_call_that_has_started_is_never_run_again(tools: ToolWorld, probe: Probe) -> None:
    call, facts = await granted(tools)
    data = {**call.key.json(), "ask": None, "digest": None, "mode": FULL}
    await tools.world.store.append(tools.world.session, [Draft("tool/started", data, keys.started(1, 1, 0))])
    result = await (await tools.reborn()).bring(call, facts)
    assert (probe.runs, result.data["isError"]) == ([], True)
    assert result.data["code"] == "TOOL_OUTCOME_UNKNOWN"


async def test_a_call_found_started_is_outcome_unknown(tools: ToolWorld, probe: Probe) -> None:
    call, _ = await granted(tools)
    data = {**call.key.json(), "ask": None, "digest": None, "mode": FULL}
    await tools.world.store.append(tools.world.session, [Draft("tool/started", data, keys.started(1, 1, 0))])
    result = await (await tools.reborn()).bring(call, await tools.facts(call))
    assert (result.data["code"], probe.runs) == ("TOOL_OUTCOME_UNKNOWN", [])


async def test_a_re_armed_ask_has_its_id_and_its_logged_subject(tools: ToolWorld, probe: Probe) -> None:
    held = Holds()
    tools.answers(held)
    call = tools.make(what="this", **WIDER)
    async with anyio.create_task_group() as group:
        group.start_soon(tools.bring, call)
        await held.reached.wait()
        group.cancel_scope.cancel()
    await tools.set_mode(SandboxMode.READ_ONLY)
    worker = await tools.reborn()
    responder = worker.answers(ALLOW)
    await worker.bring(call, await tools.facts(call))
    (ask,), (asked,) = responder.asks, await tools.world.events("approval/asked")
    assert (ask.id, ask.subject.json(), ask.rearmed) == (asked.data["id"], asked.data["subject"], True)
    assert ask.subject.from_mode == "workspace-write"
    assert len(probe.runs) == 1


async def test_a_logged_ask_under_never_without_a_decision_is_rejected_and_never_shown(
    tools: ToolWorld, probe: Probe
) -> None:
    """Only a log of another writer holds such an ask (model rule `hide_never`)."""
    call, facts = await foreign_never(tools)
    worker = await tools.reborn()
    responder = worker.answers(ALLOW)
    assert (await tools.world.inbox.open()).total == 0
    assert facts.asked is not None
    answer = await tools.world.answer(facts.asked)
    assert answer.why == "nobody is asked under the policy never"
    result = await worker.bring(call, facts)
    assert (result.data["code"], responder.asks, probe.runs) == ("APPROVAL_REJECTED", [], [])


async def foreign_never(tools: ToolWorld) -> tuple[ToolCall, CallFacts]:
    """Return a call with an open ask under `never`, written by hand."""
    held = Holds()
    tools.answers(held)
    call = tools.make(what="this", **WIDER)
    source = await tools.reborn()
    source.answers(held)
    store, append = tools.world.store, tools.world.store.append

    async def never(session, drafts, **more):  # type: ignore[no-untyped-def]
        changed = [replace(d, data={**d.data, "policy": "never"}) if d.type == "approval/asked" else d for d in drafts]
        return await append(session, changed, **more)

    store.append = never  # type: ignore[method-assign]
    async with anyio.create_task_group() as group:
        group.start_soon(source.bring, call)
        await held.reached.wait()
        group.cancel_scope.cancel()
    store.append = append  # type: ignore[method-assign]
    return call, await tools.facts(call)


async def a_grant(tools: ToolWorld) -> tuple[ToolCall, Grant]:
    """Return a grant as consume gets it."""
    call, facts = await granted(tools)
    assert facts.asked is not None and facts.decided is not None
    return call, Grant(facts.asked, Subject.of(facts.asked.data["subject"]), Decision.of(facts.decided))


async def test_every_refusal_has_its_own_reason(tools: ToolWorld) -> None:
    call, grant = await a_grant(tools)
    now = tools.world.clock.now()
    other_bytes = replace(grant.asked, data={**grant.asked.data, "subject": {**grant.asked.data["subject"], "v": 2}})
    assert changed(call, tools.tool, grant, now) is None
    assert changed(call, tools.tool, replace(grant, asked=other_bytes), now) is Unused.DIGEST
    assert changed(replace(call, arguments="{}"), tools.tool, grant, now) is Unused.DIGEST
    assert changed(replace(call, position=9), tools.tool, grant, now) is Unused.DIGEST
    assert changed(replace(call, name="bash"), tools.tool, grant, now) is Unused.DIGEST
    rejected = replace(grant.decision, outcome=Outcome.REJECTED)
    assert changed(call, tools.tool, replace(grant, decision=rejected), now) is Unused.DIGEST
    assert changed(call, tools.tool, grant, now + 600_001) is Unused.EXPIRED
    assert changed(call, tools.tool, grant, now - 1) is None
    assert changed(call, tools.tool, grant, now - 600_001) is Unused.EXPIRED
    assert changed(call, None, grant, now) is Unused.TOOL
    moved = replace(grant, subject=replace(grant.subject, cwd_id="0:0"))
    assert changed(call, tools.tool, moved, now) is Unused.FILE_CHANGED


async def test_apr_13_once_means_once(tools: ToolWorld, probe: Probe) -> None:
    """The byte-identical call asks again: in the same turn, in the next one, and after a restart."""
    responder = tools.answers(ALLOW)
    await tools.call(what="this", **WIDER)
    await tools.call(what="this", **WIDER)
    worker = await tools.reborn()
    again = worker.answers(ALLOW)
    await worker.call(what="this", **WIDER)
    assert (len(responder.asks), len(again.asks), len(probe.runs)) == (2, 1, 3)


async def test_d4_esc_06_the_mode_is_that_of_the_approved_request(tools: ToolWorld, probe: Probe) -> None:
    await tools.set_mode(SandboxMode.READ_ONLY)
    tools.with_chain(ScriptedResponder(ALLOW))
    await tools.call(what="this", sandbox_permissions="workspace-write", justification="because")
    await tools.call(what="this")
    assert [context.mode for _, context in probe.runs] == [SandboxMode.WORKSPACE_WRITE, SandboxMode.READ_ONLY]


async def test_esc_06_a_yes_to_one_mode_is_no_yes_to_a_wider_one(tools: ToolWorld, probe: Probe) -> None:
    await tools.set_mode(SandboxMode.READ_ONLY)
    tools.answers(ALLOW, Outcome.REJECTED, ALLOW)
    for mode in ("workspace-write", "danger-full-access", "workspace-write"):
        await tools.call(what="this", sandbox_permissions=mode, justification="because")
    asked = await tools.world.events("approval/asked")
    assert [event.data["subject"]["toMode"] for event in asked] == [
        "workspace-write",
        "danger-full-access",
        "workspace-write",
    ]
    assert [context.mode for _, context in probe.runs] == [SandboxMode.WORKSPACE_WRITE] * 2


async def test_a_narrowing_that_slips_in_before_tool_started_counts(tools: ToolWorld, probe: Probe) -> None:
    store, append = tools.world.store, tools.world.store.append

    async def narrowing(session, drafts, **more):  # type: ignore[no-untyped-def]
        if drafts[0].type == "tool/started":
            store.append = append  # type: ignore[method-assign]
            await tools.set_mode(SandboxMode.READ_ONLY)
        return await append(session, drafts, **more)

    store.append = narrowing  # type: ignore[method-assign]
    await tools.call(what="this")
    ((_, context),) = probe.runs
    assert context.mode is SandboxMode.READ_ONLY


@pytest.mark.parametrize(
    ("outcome", "code"),
    [(Outcome.REJECTED, "APPROVAL_REJECTED"), (Outcome.UNAVAILABLE, "APPROVAL_UNAVAILABLE")],
)
async def test_a_call_found_decided_has_the_text_of_its_outcome(
    tools: ToolWorld, probe: Probe, outcome: Outcome, code: str
) -> None:
    """The worker died between the decision and the result; nobody is asked again (model rule `full_table`)."""
    store, append = tools.world.store, tools.world.store.append
    tools.answers(says(outcome, feedback="use the other one" if outcome is Outcome.REJECTED else None))
    call = tools.make(what="this", **WIDER)

    async def dies(session, drafts, **more):  # type: ignore[no-untyped-def]
        if drafts[0].type == "tool/result":
            raise LeaseLost(session)
        return await append(session, drafts, **more)

    store.append = dies  # type: ignore[method-assign]
    with pytest.raises(LeaseLost):
        await tools.pipeline.run(call, tools.context)
    store.append = append  # type: ignore[method-assign]
    worker = await tools.reborn()
    responder = worker.answers(ALLOW)
    result = await worker.bring(call, await tools.facts(call))
    assert (result.data["code"], responder.asks, probe.runs) == (code, [], [])
    assert ("use the other one" in result.data["text"]) is (outcome is Outcome.REJECTED)


async def test_a_worker_that_comes_after_the_stop_starts_nothing(tools: ToolWorld, probe: Probe) -> None:
    """Its signal is read from the log, and the store refuses the rest (model rule `signal_from_log`)."""
    call, facts = await granted(tools)
    await tools.world.stop()
    worker = await tools.reborn()
    assert not worker.context.signal.aborted
    result = await worker.bring(call, facts)
    assert (result.data["code"], probe.runs) == ("ABORTED_BEFORE_DISPATCH", [])


async def test_a_tool_that_is_defined_anew_between_check_and_start_does_not_run(tools: ToolWorld, probe: Probe) -> None:
    tools.stages.on_guard(lambda request: probe.schema.update(changed=True))
    result = await tools.call(what="this")
    assert (result.data["code"], result.data["meta"]["reason"], probe.runs) == ("TOOL_NOT_STARTED", "tool", [])
    assert "the user" not in result.data["text"]
