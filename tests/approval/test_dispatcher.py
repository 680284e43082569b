"""From a question to the outcome that the log holds (contract A)."""

from __future__ import annotations

import anyio
import pytest

from placet.approval import (
    Answer,
    InLog,
    NoOpenTurn,
    NotAsked,
    Outcome,
    Policy,
    PolicyFold,
    Responders,
    Scoped,
    UnknownResponder,
    Who,
    WhoKind,
    grants,
)
from placet.kernel.signal import AbortSignal
from placet.session import SessionId
from placet.testing.faults import FaultyStore
from placet.testing.responders import Holds, Passes, ScriptedResponder, says
from tests.approval.world import World

pytestmark = pytest.mark.anyio

ALLOW, REJECT = Outcome.ALLOWED_ONCE, Outcome.REJECTED


async def test_a1_only_allowed_once_grants() -> None:
    assert [outcome for outcome in Outcome if grants(outcome)] == [ALLOW]


async def test_a2_an_ask_before_any_turn_is_an_error_and_logs_nothing(world: World) -> None:
    before = await world.events()
    with pytest.raises(NoOpenTurn):
        await world.request(turn=2)
    assert await world.events() == before


async def test_a2_an_ask_after_the_end_of_its_turn_is_an_error_and_logs_nothing(world: World) -> None:
    await world.end()
    before = await world.events()
    with pytest.raises(NoOpenTurn):
        await world.request()
    assert await world.events() == before


async def test_a3_one_asked_then_one_decided_with_the_same_fresh_id(world: World) -> None:
    world.chain(ScriptedResponder(ALLOW, REJECT))
    first, second = await world.decide(), await world.decide()
    asked, decided = await world.events("approval/asked"), await world.events("approval/decided")
    assert [first.outcome, second.outcome] == [ALLOW, REJECT]
    assert [e.data["id"] for e in asked] == [e.data["id"] for e in decided]
    assert len({e.data["id"] for e in asked}) == 2
    assert all(a.seq < d.seq for a, d in zip(asked, decided, strict=True))


async def test_a3_the_decision_tells_who_through_what_and_about_which_bytes(world: World) -> None:
    world.chain(ScriptedResponder(says(REJECT, feedback="not there")))
    decision = await world.decide()
    (asked,), (decided,) = await world.events("approval/asked"), await world.events("approval/decided")
    assert decided.data == {
        "id": asked.data["id"],
        "outcome": "rejected",
        "detail": None,
        "who": {"kind": "person", "name": "Ada", "account": "ada"},
        "channel": "test",
        "evidence": "a script",
        "strength": "none",
        "digest": asked.data["digest"],
        "feedback": "not there",
        "key": None,
        "asked": 0,
    }
    assert (decision.feedback, decision.time, decision.digest) == ("not there", decided.time, asked.data["digest"])


async def test_a4_what_the_request_does_not_have_is_absent_in_asked(world: World) -> None:
    await world.request(call_id=None, reason=None)
    await world.request()
    bare, full = await world.events("approval/asked")
    assert "callId" not in bare.data and "reason" not in bare.data
    assert (full.data["callId"], full.data["reason"]) == ("c-1", "because")


@pytest.mark.parametrize("how", ["pre-aborted", "never", "unanswered"])
async def test_a5_no_shortcut_skips_the_pair(world: World, how: str) -> None:
    if how == "pre-aborted":
        world.signal.abort("caller")
    if how == "never":
        await world.switch("never")
    await world.decide()
    assert [e.type for e in await world.events("approval/asked", "approval/decided")] == [
        "approval/asked",
        "approval/decided",
    ]


async def test_a6_under_never_the_pair_is_one_append_and_no_responder_runs(world: World) -> None:
    responder = ScriptedResponder(ALLOW)
    world.chain(responder)
    await world.switch("never")
    commits = world.store.commits  # type: ignore[attr-defined]
    decision = await world.decide()
    assert (decision.outcome, decision.who) == (REJECT, Who(WhoKind.POLICY, "never"))
    assert (decision.detail, responder.asks) == ("policy-never", [])
    assert world.store.commits == commits + 1  # type: ignore[attr-defined]
    (asked,) = await world.events("approval/asked")
    assert (asked.data["policy"], asked.data["chain"]) == ("never", [])


async def test_a6_a_person_cannot_answer_what_was_asked_under_never(world: World) -> None:
    await world.switch("never")
    await world.decide()
    (asked,) = await world.events("approval/asked")
    answer = await world.answer(asked)
    assert answer.why == "nobody is asked under the policy never"
    assert len(await world.events("approval/decided")) == 1


async def test_a7_no_order_of_responders_gets_around_never(world: World) -> None:
    early, late = ScriptedResponder(ALLOW, name="early"), ScriptedResponder(ALLOW, name="late")
    world.chain(early, order=("late", "early"))
    await world.switch("never")
    world.responders.register(late)
    assert (await world.decide()).outcome is REJECT
    assert early.asks == late.asks == []


async def test_a8_a_set_signal_comes_before_never(world: World) -> None:
    await world.switch("never")
    world.signal.abort("caller")
    decision = await world.decide()
    assert (decision.outcome, decision.detail) == (Outcome.CANCELLED, "aborted-before-asking")


async def test_a9_the_first_answer_decides_and_later_responders_do_not_run(world: World) -> None:
    steps = (Passes(), REJECT, ALLOW)
    first, second, third = (ScriptedResponder(step, name=f"r{n}") for n, step in enumerate(steps))
    world.chain(first, second, third)
    assert (await world.decide()).outcome is REJECT
    assert [len(r.asks) for r in (first, second, third)] == [1, 1, 0]


async def test_a9_the_order_is_the_configured_one_not_that_of_registration(world: World) -> None:
    allow, reject = ScriptedResponder(ALLOW, name="allow"), ScriptedResponder(REJECT, name="reject")
    world.chain(allow, reject, order=("reject", "allow"))
    assert (await world.decide()).outcome is REJECT
    (asked,) = await world.events("approval/asked")
    assert asked.data["chain"] == ["reject", "allow"]


async def test_a_reload_of_the_order_touches_only_later_asks(world: World) -> None:
    held = Holds(Passes())
    first, second = ScriptedResponder(held, name="first"), ScriptedResponder(REJECT, name="second")
    world.chain(first, second)
    async with anyio.create_task_group() as group:
        decisions: list[Outcome] = []

        async def ask() -> None:
            decisions.append((await world.decide()).outcome)

        group.start_soon(ask)
        await held.reached.wait()
        world.responders.configure(("first",))
        held.released.set()
    assert decisions == [REJECT]
    assert [r.name for r in world.responders.chain()] == ["first"]


async def test_a_responder_without_a_place_in_the_order_is_refused() -> None:
    with pytest.raises(UnknownResponder, match="inbox"):
        Responders(("inbox",)).register(ScriptedResponder(ALLOW, name="adviser"))


@pytest.mark.parametrize("passing", [0, 2])
async def test_a10_nobody_or_only_passing_on_is_unavailable(world: World, passing: int) -> None:
    world.chain(*(ScriptedResponder(Passes(), name=f"r{n}") for n in range(passing)))
    decision = await world.decide()
    assert (decision.outcome, decision.detail) == (Outcome.UNAVAILABLE, "no-responder")
    assert decision.who.kind is WhoKind.SYSTEM


async def test_a11_a_responder_that_raises_is_unavailable(world: World) -> None:
    world.chain(ScriptedResponder(RuntimeError("broken")))
    decision = await world.decide()
    assert (decision.outcome, decision.detail) == (Outcome.UNAVAILABLE, "responder-failed: RuntimeError")
    assert decision.who.kind is WhoKind.SYSTEM


@pytest.mark.parametrize(
    "rubbish",
    [
        None,
        True,
        "allowed-once",
        "ALLOWED",
        {"outcome": "allowed-once"},
        lambda ask: Answer("allowed-once", Who(WhoKind.PERSON, "x"), "c", "e", "s"),  # type: ignore[arg-type]
        lambda ask: Answer(ALLOW, Who("model", "x"), "c", "e", "s"),  # type: ignore[arg-type]
        InLog(),
    ],
    ids=["none", "true", "text", "upper", "dict", "text-outcome", "model", "claims-log"],
)
async def test_a12_a_value_outside_the_vocabulary_is_unavailable(world: World, rubbish: object) -> None:
    world.chain(ScriptedResponder(rubbish))
    decision = await world.decide()
    assert (decision.outcome, decision.detail) == (Outcome.UNAVAILABLE, "responder-invalid")


async def test_a13_an_abort_before_asking_consults_nobody(world: World) -> None:
    responder = ScriptedResponder(ALLOW)
    world.chain(responder)
    world.signal.abort("caller")
    assert (await world.decide()).outcome is Outcome.CANCELLED
    assert responder.asks == []


async def test_a13_an_abort_while_waiting_cancels_at_once_and_a_late_answer_is_discarded(world: World) -> None:
    held = Holds(says(ALLOW))
    world.chain(ScriptedResponder(held))
    outcomes: list[Outcome] = []
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            outcomes.append((await world.decide()).outcome)

        group.start_soon(ask)
        await held.reached.wait()
        await world.stop()
        held.released.set()
    assert outcomes == [Outcome.CANCELLED]
    assert [e.data["outcome"] for e in await world.events("approval/decided")] == ["cancelled"]


async def test_a13_an_answer_that_meets_a_stop_in_the_log_is_cancelled(world: World) -> None:
    """The signal is only a view: the store refuses the yes although the worker has not heard of the stop yet."""
    held = Holds(says(ALLOW))
    world.chain(ScriptedResponder(held))
    signal, world.signal = world.signal, AbortSignal()
    outcomes: list[Outcome] = []
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            outcomes.append((await world.decide(signal=signal)).outcome)

        group.start_soon(ask)
        await held.reached.wait()
        await world.stop()
        held.released.set()
    assert not signal.aborted
    assert outcomes == [Outcome.CANCELLED]


async def test_a13_in_a_stopped_turn_no_ask_comes_to_be(world: World) -> None:
    await world.stop()
    assert await world.request() == NotAsked("aborted")
    assert await world.events("approval/asked") == []


async def test_a14_a_scoped_responder_sees_only_its_session(world: World) -> None:
    other = ScriptedResponder(ALLOW)
    world.chain(Scoped(SessionId("s-other"), other))
    assert (await world.decide()).outcome is Outcome.UNAVAILABLE
    mine = ScriptedResponder(ALLOW)
    world.chain(Scoped(world.session, mine))
    assert (await world.decide()).outcome is ALLOW
    assert (other.asks, len(mine.asks)) == ([], 1)


async def test_a15_an_unloaded_responder_is_not_reached(world: World) -> None:
    responder = ScriptedResponder(ALLOW)
    world.chain(order=("script",))
    undo = world.responders.register(responder)
    assert (await world.decide()).outcome is ALLOW
    undo()
    assert (await world.decide()).outcome is Outcome.UNAVAILABLE


async def test_a17_f21_the_last_policy_of_the_log_counts_else_the_default(world: World) -> None:
    world.chain(ScriptedResponder(ALLOW), policy=PolicyFold(Policy.NEVER))
    assert (await world.decide()).outcome is REJECT
    await world.switch("ask", "p-1")
    assert (await world.decide()).outcome is ALLOW
    await world.switch("never", "p-2")
    reborn = await world.reborn()
    reborn.chain(ScriptedResponder(ALLOW))
    assert (await reborn.decide()).outcome is REJECT


async def test_a17_a_policy_change_never_answers_an_open_ask(world: World) -> None:
    held = Holds(says(ALLOW))
    world.chain(ScriptedResponder(held))
    outcomes: list[Outcome] = []
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            outcomes.append((await world.decide()).outcome)

        group.start_soon(ask)
        await held.reached.wait()
        await world.switch("never")
        held.released.set()
    assert outcomes == [ALLOW]


async def test_a17_never_that_slips_in_before_asked_counts(world: World) -> None:
    """The policy was read as `ask`, but by the place of the ask in the log it was `never` already."""

    class Slips(FaultyStore):
        async def append(self, session, drafts, **more):  # type: ignore[no-untyped-def]
            if drafts[0].type == "approval/asked":
                await world.switch("never")
            return await super().append(session, drafts, **more)

    responder = ScriptedResponder(ALLOW)
    world.store = Slips(world.store)
    world.log.store = world.store
    world.chain(responder)
    decision = await world.decide()
    assert (decision.outcome, decision.who.kind) == (REJECT, WhoKind.POLICY)
    assert responder.asks == []
