"""Widening the sandbox for one call: who is asked, and when nobody is (contract C11 to C22, design 7)."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from placet.approval import Outcome
from placet.approval.outcome import Who, WhoKind
from placet.permission import WIDER_MODES, Knobs
from placet.sandbox.mode import SandboxMode
from placet.session import Draft, keys
from placet.testing.responders import says
from placet.tools import Pipeline, ToolOutput
from placet.tools.pipeline import call_draft
from tests.approval.world import BY
from tests.tools.world import Probe, ToolWorld

pytestmark = pytest.mark.anyio

ALLOW, REJECT = Outcome.ALLOWED_ONCE, Outcome.REJECTED
MODES = list(SandboxMode)


def wider(mode: str = "danger-full-access") -> dict[str, str]:
    return {"sandbox_permissions": mode, "justification": "because"}


@pytest.mark.parametrize("requested", MODES)
@pytest.mark.parametrize("current", MODES)
async def test_esc_05_only_a_wider_mode_asks_and_the_one_in_force_just_runs(
    tools: ToolWorld, probe: Probe, current: SandboxMode, requested: SandboxMode
) -> None:
    responder = tools.answers(ALLOW)
    await tools.set_mode(current)
    result = await tools.call(what="this", **wider(requested))
    if requested is current:
        assert (len(responder.asks), len(probe.runs)) == (0, 1)
        assert result.data["text"].startswith(f'[sandbox: "{current}" is in force already')
    elif requested in WIDER_MODES[current]:
        assert (len(responder.asks), len(probe.runs)) == (1, 1)
        assert probe.runs[0][1].mode is requested
    else:
        assert (len(responder.asks), len(probe.runs)) == (0, 0)
        assert result.data["code"] == "NOT_WIDER"


async def test_c14_a_narrower_request_says_that_the_fields_are_to_be_dropped(tools: ToolWorld) -> None:
    await tools.set_mode(SandboxMode.DANGER_FULL_ACCESS)
    text = (await tools.call(what="this", **wider("workspace-write"))).data["text"]
    assert "without sandbox_permissions" in text


async def test_c17_nothing_is_remembered_after_a_grant(tools: ToolWorld, probe: Probe) -> None:
    tools.answers(ALLOW)
    await tools.call(what="this", **wider())
    await tools.call(what="this")
    assert [context.mode for _, context in probe.runs] == [SandboxMode.DANGER_FULL_ACCESS, SandboxMode.WORKSPACE_WRITE]


async def test_c20_the_recorded_denial_of_the_same_command_is_in_the_subject(tools: ToolWorld, probe: Probe) -> None:
    def denies(args: object, call: object) -> ToolOutput:
        value = {"sandbox": {"mode": "workspace-write", "denied": True, "path": "/etc/x"}}
        return ToolOutput("no", value, meta={"cwd": str(tools.folder)})

    probe._body = denies
    denied = await tools.call(what="this")
    await tools.call(what="this", **wider())
    (asked,) = await tools.world.events("approval/asked")
    assert asked.data["subject"]["denied"] == {
        "path": "/etc/x",
        "time": denied.time,
        "call": {"turn": 1, "step": 1, "position": 0},
    }


@pytest.mark.parametrize("difference", ["command", "folder", "not denied last", "never tried"])
async def test_c20_another_commands_denial_is_no_evidence(tools: ToolWorld, probe: Probe, difference: str) -> None:
    (tools.folder / "sub").mkdir()

    def denies(args: dict[str, str], call: object) -> ToolOutput:
        denied = args.get("denied", "yes") == "yes"
        value = {"sandbox": {"mode": "workspace-write", "denied": denied, "path": "/etc/x"}}
        folder = tools.folder / args["workdir"] if "workdir" in args else tools.folder
        return ToolOutput("no", value, meta={"cwd": str(folder)})

    probe._body = denies
    if difference == "command":
        await tools.call(what="that")
    if difference == "folder":
        await tools.call(what="this", workdir="sub")
    if difference == "not denied last":
        await tools.call(what="this")
        probe._body = lambda args, call: ToolOutput(
            "yes", {"sandbox": {"mode": "workspace-write", "denied": False}}, meta={"cwd": str(tools.folder)}
        )
        await tools.call(what="this")
    await tools.call(what="this", **wider())
    (asked,) = await tools.world.events("approval/asked")
    assert asked.data["subject"]["denied"] is None


async def test_esc_08_a_rejected_command_is_not_shown_again_in_that_turn(tools: ToolWorld, probe: Probe) -> None:
    responder = tools.answers(says(REJECT, feedback="use the other file"))
    first = await tools.call(what="this", **wider())
    again = [await tools.call(what="this", description=str(n), **wider()) for n in range(20)]
    assert "use the other file" in first.data["text"]
    assert len(responder.asks) == 1
    assert {r.data["code"] for r in again} == {"ALREADY_REJECTED"}
    assert probe.runs == []


async def test_esc_08_a_rejection_is_about_that_mode_and_folder(tools: ToolWorld) -> None:
    await tools.set_mode(SandboxMode.READ_ONLY)
    (tools.folder / "sub").mkdir()
    responder = tools.answers(REJECT, ALLOW)
    await tools.call(what="this", **wider())
    await tools.call(what="this", **wider("workspace-write"))
    await tools.call(what="this", workdir="sub", **wider())
    assert len(responder.asks) == 3


async def test_esc_08_after_three_rejections_nothing_more_of_that_turn_is_asked(tools: ToolWorld, probe: Probe) -> None:
    responder = tools.answers(REJECT)
    for n in range(20):
        result = await tools.call(what=f"try {n}", **wider())
    assert (len(responder.asks), result.data["code"], probe.runs) == (3, "ALREADY_REJECTED", [])
    assert (await tools.call(what="plain")).data["code"] is None


async def test_esc_08_a_new_turn_forgets(tools: ToolWorld) -> None:
    responder = tools.answers(REJECT)
    for n in range(4):
        await tools.call(what=f"try {n}", **wider())
    await tools.next_turn()
    call = tools.make(turn=2, what="try 0", **wider())
    await tools.pipeline.run(call, replace(tools.context, turn=2))
    assert len(responder.asks) == 4


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.UNAVAILABLE])
async def test_esc_08_only_a_rejection_is_final(tools: ToolWorld, outcome: Outcome) -> None:
    responder = tools.answers(outcome)
    for _ in range(5):
        await tools.call(what="this", **wider())
    assert len(responder.asks) == 5


async def test_pol_01_under_never_each_widening_is_rejected_with_a_pair_and_nobody_waits(
    tools: ToolWorld, probe: Probe
) -> None:
    responder = tools.answers(ALLOW)
    await tools.world.switch("never")
    results = [await tools.call(what="this", **wider()) for _ in range(5)]
    assert {r.data["code"] for r in results} == {"APPROVAL_REJECTED"}
    assert (responder.asks, probe.runs) == ([], [])
    assert len(await tools.world.events("approval/asked")) == len(await tools.world.events("approval/decided")) == 5
    assert "the user" not in results[0].data["text"]
    await tools.world.switch("ask", "p-2")
    await tools.call(what="this", **wider())
    assert len(probe.runs) == 1


async def test_a_rule_that_rejects_counts_like_a_person(tools: ToolWorld) -> None:
    responder = tools.answers(says(REJECT, who=Who(WhoKind.RULE, "house rule")))
    for _ in range(3):
        await tools.call(what="this", **wider())
    assert len(responder.asks) == 1


async def test_a_retry_after_an_unknown_outcome_says_that_an_earlier_run_may_be_alive(tools: ToolWorld) -> None:
    call = tools.make(what="this")
    data = {**call.key.json(), "ask": None, "digest": None, "mode": "workspace-write"}
    await tools.world.store.append(
        tools.world.session, [call_draft(call), Draft("tool/started", data, keys.started(1, 1, 0))]
    )
    worker = await tools.reborn()
    await worker.bring(call, await tools.facts(call))
    await worker.call(what="this", **wider())
    await worker.call(what="that", **wider())
    first, second = await tools.world.events("approval/asked")
    assert (first.data.get("earlierRun"), second.data.get("earlierRun")) == (True, None)


async def test_aud_02_the_log_alone_tells_free_approved_rejected_cancelled_and_never(tools: ToolWorld) -> None:
    tools.answers(ALLOW, REJECT, Outcome.CANCELLED)
    await tools.call(what="free")
    for what in ("approved", "rejected", "cancelled"):
        await tools.call(what=what, **wider())
    await tools.world.switch("never")
    await tools.call(what="under never", **wider())

    asked = {e.data["call"]["position"]: e for e in await tools.world.events("approval/asked")}
    decided = {e.data["id"]: e for e in await tools.world.events("approval/decided")}
    started = {e.data["position"]: e for e in await tools.world.events("tool/started")}
    assert sorted(asked) == [1, 2, 3, 4] and sorted(started) == [0, 1]
    outcomes = [decided[asked[n].data["id"]].data["outcome"] for n in (1, 2, 3, 4)]
    assert outcomes == ["allowed-once", "rejected", "cancelled", "rejected"]
    assert [decided[asked[n].data["id"]].data["who"]["kind"] for n in (2, 4)] == ["person", "policy"]
    assert (started[0].data["ask"], started[1].data["ask"]) == (None, asked[1].data["id"])
    for event in asked.values():
        assert event.data["toolName"] == "probe" and event.data["callId"] and event.data["subject"]["session"]


async def test_a_denied_path_with_a_backslash_is_evidence_too(tools: ToolWorld, probe: Probe) -> None:
    probe._body = lambda args, call: ToolOutput(
        "no",
        {"sandbox": {"mode": "workspace-write", "denied": True, "path": "/etc/a\\b"}},
        meta={"cwd": str(tools.folder)},
    )
    await tools.call(what="this")
    await tools.call(what="this", **wider())
    (asked,) = await tools.world.events("approval/asked")
    assert asked.data["subject"]["denied"]["path"] == "/etc/a\\\\b"


@pytest.mark.parametrize("preset", ["danger-full-access", "read-only"])
async def test_pol_06_a_change_of_the_preset_never_answers_an_open_card(
    tools: ToolWorld, probe: Probe, preset: str
) -> None:
    """The card stays open, and what a person then says about it counts."""
    tools.with_chain(tools.world.inbox.responder())
    call = tools.make(what="this", **wider())
    async with anyio.create_task_group() as group:
        group.start_soon(tools.bring, call)
        asked = await tools.world.open_ask()
        await Knobs(tools.world.store).select(tools.world.session, preset, by=BY, key="k")
        assert (await tools.world.inbox.open()).total == 1
        assert await tools.world.events("approval/decided") == []
        await tools.world.answer(asked, "rejected")
    assert ((await tools.result(call)).data["code"], probe.runs) == ("APPROVAL_REJECTED", [])


@pytest.mark.parametrize(
    "command",
    ["ls; touch /x", "cd y && touch /x", "ls | touch /x", "$(touch /x)", "`touch /x`", "git show > .git/hooks/p", "ls"],
)
async def test_pol_09_no_text_of_a_command_is_answered_by_itself(tools: ToolWorld, command: str) -> None:
    tools.with_chain(tools.world.inbox.responder())
    call = tools.make(what=command, **wider())
    async with anyio.create_task_group() as group:
        group.start_soon(tools.bring, call)
        asked = await tools.world.open_ask()
        await tools.world.answer(asked, "rejected")
    (decided,) = await tools.world.events("approval/decided")
    assert decided.data["who"]["kind"] == "person"


async def test_c15_widening_is_judged_before_anything_that_has_to_do_with_asking(
    tools: ToolWorld, probe: Probe
) -> None:
    """Without an approval service a narrower request still gets its own message, and so does a wider one."""
    tools.pipeline = Pipeline(tools.registry, None, tools.world.clock)
    await tools.set_mode(SandboxMode.WORKSPACE_WRITE)
    narrower = await tools.call(what="this", **wider("read-only"))
    unasked = await tools.call(what="this", **wider())
    in_force = await tools.call(what="this", **wider("workspace-write"))
    assert [r.data["code"] for r in (narrower, unasked, in_force)] == ["NOT_WIDER", "APPROVAL_UNAVAILABLE", None]
    assert len({r.data["text"] for r in (narrower, unasked, in_force)}) == 3
    assert len(probe.runs) == 1
