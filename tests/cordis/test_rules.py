"""Each rule of the model (tests/model/cordis.py, `fixes`), with the trace that breaks without it, on the real one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from placet.agent import gestures, mailbox
from placet.agent.mailbox import MAILBOX
from placet.cordis.answers import Answered, RunRefused
from placet.cordis.vocabulary import AttemptStatus, PluginId, RunId
from placet.session import keys, new_message_id
from tests.cordis.world import AGENT, CLIENT, PANEL, CordisWorld, cordis_world
from tests.model.cordis import Cordis as Model

pytestmark = pytest.mark.anyio
CLOCK = PluginId("clock-1")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[CordisWorld]:
    async with cordis_world(tmp_path) as world:
        yield world


def test_every_rule_of_the_model_has_a_trace_here() -> None:
    assert [rule for rule in Model.fixes if f"test_{rule}_" not in Path(__file__).read_text(encoding="utf-8")] == []


async def test_one_cas_a_stop_that_saw_an_open_request_acts_on_the_consent_that_came_before_it(
    world: CordisWorld,
) -> None:
    """Stop looks and sees "open"; consent wins; without the rule the log says "cancelled" while code runs."""
    run = await world.asked(await world.define("ok", CLIENT))
    ending, activation = world.cordis._ending, world.cordis._activation
    settled, seen = activation.outcomes.settled, []

    async def overtaken(*args: object, **more: object) -> bool:
        if not seen:
            seen.append(await world.consent(run))
            await world.until(run, AttemptStatus.CLIENT_PENDING)
        return await settled(*args, **more)  # type: ignore[arg-type]

    activation.outcomes.settled = overtaken  # type: ignore[method-assign]
    await ending.stop(world.session, CLOCK, by=PANEL, told=True)
    assert isinstance(seen[0], Answered)
    assert world.halves.living == {}
    attempt = await world.attempt(run)
    assert (attempt.status, attempt.consented) == (AttemptStatus.STOPPED, True)


async def test_attempt_checked_a_late_start_of_an_attempt_that_was_ended_spawns_nothing(world: CordisWorld) -> None:
    """The start is on its way to the spawn; the attempt is ended; without the rule its code runs."""
    activation = world.cordis._activation
    whole_code, run = activation._whole_code, await world.asked(await world.define("ok", CLIENT))

    async def slow(*args: object) -> object:
        await world.append("cordis/settled", _settled(run), keys.settled(run))
        return await whole_code(*args)  # type: ignore[arg-type]

    activation._whole_code = slow  # type: ignore[method-assign,assignment]
    await world.consent(run)
    await world.until(run, AttemptStatus.STOPPED)
    await world.cordis.stop(world.session, CLOCK, by=AGENT, told=False)
    assert world.halves.started == [] and "cordis/started" not in await world.types()


async def test_settle_on_restart_an_attempt_under_way_is_ended_and_never_starts_by_itself(tmp_path: Path) -> None:
    async with cordis_world(tmp_path, serving=False) as world:
        async with world.process("one"):
            run = await world.asked(await world.define("ok", CLIENT))
        # the consent is in the log, and the process that took it is gone before it drove anything
        assert isinstance(await world.consent(run), Answered)
        world.dead.add("one")
        async with world.process("two"):
            attempt = await world.until(run, AttemptStatus.FAILED)
            assert attempt.detail == "restart" and world.halves.started == []
            assert (await world.told())[-1]["wake"]
            again = await world.run((await world.plugin()).packages[0])
            assert again.status == "starting"  # the consent was kept


async def test_server_drives_the_host_half_starts_though_the_page_that_consented_is_gone(world: CordisWorld) -> None:
    run = await world.asked(await world.define("ok", CLIENT))
    await world.consent(run)  # and no page says anything more
    await world.until(run, AttemptStatus.CLIENT_PENDING)
    assert list(world.halves.living) == [run]


async def test_any_page_loads_a_client_pending_run_and_its_word_counts(world: CordisWorld) -> None:
    run = await world.asked(await world.define("ok", CLIENT))
    await world.consent(run)
    await world.until(run, AttemptStatus.CLIENT_PENDING)
    assert isinstance(await world.cordis.source(CLOCK, run), str)
    assert await world.cordis.verdict(run, ok=True, page="another page")


async def test_host_death_settles_the_attempt_in_every_status(world: CordisWorld) -> None:
    """The host half dies while the page evaluates; without the rule its verdict makes a dead run "running"."""
    run = await world.asked(await world.define("ok", CLIENT))
    await world.consent(run)
    await world.until(run, AttemptStatus.CLIENT_PENDING)
    world.halves.living[run].die()
    assert not await world.cordis.verdict(run, ok=True)
    assert (await world.until(run, AttemptStatus.FAILED)).detail == "crashed"


async def test_drop_stale_a_page_is_refused_and_gets_no_code_once_the_run_is_not_the_active_one(
    world: CordisWorld,
) -> None:
    """The page's half (unloading) is the page's; the server's half is that it says no to it."""
    old = await world.up(await world.define("ok", CLIENT))
    new = await world.up(await world.define("ok two", CLIENT, plugin="clock-1"), "update")
    assert not await world.cordis.verdict(old, ok=True)
    assert not await world.cordis.report(old, phase="client-render", message="x")  # type: ignore[arg-type]
    assert not isinstance(await world.cordis.source(CLOCK, old), str)
    assert (await world.cordis.invoke(CLOCK, old, "now", None)).code == "stale-run"  # type: ignore[union-attr]
    assert list(world.halves.living) == [new]


async def test_undefine_takes_slot_nothing_can_be_started_between_the_stop_and_the_removal(
    world: CordisWorld,
) -> None:
    package, run = await world.define("ok", CLIENT), RunId("run-1")
    await world.up(package)
    ending, answers = world.cordis._ending, []
    undefined = ending._undefined

    async def slow(*args: object, **more: object) -> bool:
        answers.append(await world.run(package))
        answers.append(await world.consent(run))
        return await undefined(*args, **more)  # type: ignore[arg-type]

    ending._undefined = slow  # type: ignore[method-assign,assignment]
    await world.cordis.undefine(world.session, CLOCK, by=PANEL, told=True)
    refused, late = answers
    assert isinstance(refused, RunRefused) and refused.reason == "transition-in-flight"
    assert not isinstance(late, Answered)
    assert world.halves.living == {} and await world.cordis.plugins() == []
    assert "cordis/requested" not in (await world.types())[-2:]


async def test_undefine_takes_slot_of_another_process_too_because_the_store_counts_attempts(tmp_path: Path) -> None:
    async with cordis_world(tmp_path, serving=False) as world, world.process("one") as one:
        package = await world.define("ok", CLIENT)
        undefined = one._ending._undefined

        async def slow(*args: object, **more: object) -> bool:
            if not asked:
                async with world.process("two"):
                    asked.append(await world.asked(package))
            return await undefined(*args, **more)  # type: ignore[arg-type]

        asked: list[RunId] = []
        one._ending._undefined = slow  # type: ignore[method-assign,assignment]
        await one.undefine(world.session, CLOCK, by=PANEL, told=True)
        assert (await world.until_event(keys.settled(asked[0]))).data["status"] == "cancelled"
        assert (await world.types())[-1] == "cordis/undefined"


async def test_outcome_with_settle_the_message_is_in_the_same_append_as_what_it_tells(world: CordisWorld) -> None:
    """A crash between the two would lose the message: so there is no between."""
    await world.up(await world.define("ok", CLIENT))
    events = await world.store.read(world.session)
    at = next(n for n, event in enumerate(events) if event.type == "cordis/settled")
    assert events[at + 1].type == "agent/inbox" and events[at + 1].time == events[at].time
    assert events[at + 1].pos == events[at].pos + 1


async def test_claim_with_message_an_outcome_is_in_the_mailbox_or_in_the_conversation_and_never_between(
    world: CordisWorld,
) -> None:
    await world.up(await world.define("ok", CLIENT))
    await world.log.catch_up()
    waiting = world.log.see(MAILBOX).claim(opening=True)
    assert [message.source.kind for message in waiting] == ["plugin"]
    await world.log.append(mailbox.take(1, 1, waiting))
    events = await world.store.read(world.session)
    assert [event.type for event in events[-2:]] == ["agent/inbox", "user/message"]
    assert events[-1].time == events[-2].time and world.log.see(MAILBOX).waiting == ()


async def test_abort_keeps_outcomes_a_stop_takes_back_a_persons_own_messages_only(world: CordisWorld) -> None:
    await world.up(await world.define("ok", CLIENT))
    await gestures.send_message(world.store, world.session, "mine", new_message_id(), by=PANEL)
    await gestures.stop(world.store, world.session, "k", PANEL)
    await world.log.catch_up()
    assert [message.source.kind for message in world.log.see(MAILBOX).waiting] == ["plugin"]


async def test_a_plugin_never_has_two_physical_runs_whoever_starts_what(world: CordisWorld) -> None:
    package = await world.define("ok")
    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(world.run, package)
    assert world.halves.most == {"clock-1": 1}


def _settled(run: RunId) -> dict[str, object]:
    return {
        "run": run, "plugin": "clock-1", "package": "pkg-1", "status": "stopped", "detail": "stopped",
        "phase": None, "error": None, "by": PANEL, "page": None,
    }  # fmt: skip
