"""Consent: what needs it, how far it reaches, who wins, and that it covers bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from placet.cordis.answers import Answered, BadResponse, NotPending, RunRefused
from placet.cordis.definition import Code
from placet.cordis.vocabulary import AttemptStatus, RunId
from placet.session.codec import dumps
from placet.session.stores.rows import checksum
from tests.cordis.world import AGENT, CLIENT, OWNER, PANEL, CordisWorld, cordis_world

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[CordisWorld]:
    async with cordis_world(tmp_path) as world:
        yield world


async def revoke(world: CordisWorld, package: str | None = None, *, future: bool = False) -> None:
    plugin = (await world.plugin()).id
    who = {"who": OWNER, "channel": "page", "evidence": "page-key", "strength": "page-key"}
    assert await world.cordis.revoke(plugin, package=package, future=future, key=world.key(), **who)  # type: ignore[arg-type]


async def test_j3_a_single_tick_covers_this_package_alone(world: CordisWorld) -> None:
    one = await world.define("ok", CLIENT)
    await world.up(one)
    two = await world.define("ok two", CLIENT, plugin="clock-1")
    plugin = await world.plugin()
    assert not plugin.needs_consent(one) and plugin.needs_consent(two)
    assert not (await world.attempt(await world.asked(one))).needs_consent
    await world.cordis.stop(world.session, plugin.id, by=AGENT, told=False)
    assert (await world.attempt(await world.asked(two, "update"))).awaits


async def test_j4_a_double_tick_covers_later_packages_too(world: CordisWorld) -> None:
    one = await world.define("ok", CLIENT)
    run = await world.asked(one)
    await world.consent(run, "future")
    await world.until(run, AttemptStatus.CLIENT_PENDING)
    await world.cordis.verdict(run, ok=True)
    two = await world.define("ok two", CLIENT, plugin="clock-1")
    receipt = await world.run(two, "update")
    assert receipt.status == "starting"
    await world.until(receipt.run, AttemptStatus.CLIENT_PENDING)
    plugin = await world.plugin()
    assert plugin.future and plugin.consented == {"pkg-1"}


async def test_j5_consent_survives_a_technical_failure(world: CordisWorld) -> None:
    package = await world.define("fails", CLIENT)
    run = await world.asked(package)
    await world.consent(run)
    assert (await world.until(run, AttemptStatus.FAILED)).phase == "host-apply"
    assert not (await world.plugin()).needs_consent(package)
    again = await world.run(package)
    assert again.status == "starting"
    (told, *_) = await world.told()
    assert told["wake"] and "NameError" in told["text"] and "cordis_define" in told["text"]


async def test_j6_stop_keeps_consents_and_undefine_drops_them(world: CordisWorld) -> None:
    package = await world.define("ok", CLIENT)
    await world.up(package)
    plugin = await world.plugin()
    await world.cordis.stop(world.session, plugin.id, by=AGENT, told=False)
    assert not (await world.plugin()).needs_consent(package)
    await world.cordis.undefine(world.session, plugin.id, by=AGENT, told=False)
    assert await world.cordis.plugins() == []


async def test_j7_a_panel_run_of_what_nobody_consented_to_opens_the_card(world: CordisWorld) -> None:
    package = await world.define("ok", CLIENT)
    receipt = await world.cordis.run(world.session, package.plugin, package.id, "run", by=PANEL, key="k")
    assert receipt.status == "awaiting-approval"  # type: ignore[union-attr]
    page = await world.cordis.requests()
    assert [row.attempt.run for row in page.rows] == ["run-1"]


async def test_j8_a_decline_records_nothing_and_the_same_package_asks_again(world: CordisWorld) -> None:
    package = await world.define("ok", CLIENT)
    run = await world.asked(package)
    assert isinstance(await world.decline(run, "not now"), Answered)
    assert (await world.attempt(run)).status is AttemptStatus.REJECTED
    assert world.halves.started == []
    (told,) = await world.told()
    assert told["wake"] and "declined" in told["text"] and "note: not now" in told["text"]
    assert "Do not ask for it again unless the user wants it." in told["text"]
    assert (await world.attempt(await world.asked(package))).awaits


async def test_j9_host_code_alone_never_needs_consent(world: CordisWorld) -> None:
    package = await world.define("ok")
    assert not (await world.plugin()).needs_consent(package)


async def test_j10_who_and_on_which_channel_is_recorded(world: CordisWorld) -> None:
    run = await world.asked(await world.define("ok", CLIENT))
    await world.consent(run)
    event = await world.until_event(f"consented:{run}")
    assert event.data["who"] == OWNER.json() and event.data["channel"] == "page"
    assert (event.data["width"], event.data["holder"]) == ("package", "process-1")


async def test_i21_a_declined_update_leaves_the_old_version_running(world: CordisWorld) -> None:
    one = await world.define("ok")
    first = (await world.run(one)).run
    two = await world.define("ok", CLIENT, plugin="clock-1")
    run = await world.asked(two, "update")
    await world.decline(run)
    plugin = await world.plugin()
    assert plugin.active is not None and plugin.active.run == first and list(world.halves.living) == [first]
    assert (plugin.current, plugin.next, plugin.state) == ("pkg-1", "pkg-2", "running")
    assert plugin.latest is not None
    assert (plugin.latest.status, plugin.latest.phase, plugin.latest.client) == ("rejected", "approval", "stopped")
    assert f"pkg-1 ({first}) goes on running" in (await world.told())[-1]["text"]


async def test_revoking_ends_nothing_and_the_next_start_asks(world: CordisWorld) -> None:
    package = await world.define("ok", CLIENT)
    run = await world.up(package)
    await revoke(world, "pkg-1")
    assert (await world.attempt(run)).status is AttemptStatus.RUNNING and list(world.halves.living) == [run]
    assert (await world.attempt(await world.asked(package))).awaits


async def test_revoking_one_package_counts_even_where_future_ones_are_allowed(world: CordisWorld) -> None:
    one = await world.define("ok", CLIENT)
    run = await world.asked(one)
    await world.consent(run, "future")
    two = await world.define("ok two", CLIENT, plugin="clock-1")
    await revoke(world, "pkg-2")
    plugin = await world.plugin()
    assert plugin.needs_consent(two) and not plugin.needs_consent(one)
    await revoke(world, future=True)
    three = await world.define("ok three", CLIENT, plugin="clock-1")
    plugin = await world.plugin()
    assert plugin.needs_consent(three) and not plugin.future and plugin.consented == {"pkg-1"}


async def test_i18_of_two_answers_one_wins_and_the_other_is_told_what_won(world: CordisWorld) -> None:
    run = await world.asked(await world.define("ok", CLIENT))
    assert isinstance(await world.consent(run, "future"), Answered)
    late = await world.decline(run)
    assert isinstance(late, NotPending) and late.decision is not None
    assert (late.decision.outcome, late.decision.width) == ("consented", "future")
    assert late.decision.who == OWNER.json()


async def test_the_same_key_again_brings_the_same_receipt(world: CordisWorld) -> None:
    run = await world.asked(await world.define("ok", CLIENT))
    first = await world.consent(run, key="k")
    assert await world.consent(run, key="k") == first
    assert isinstance(await world.consent(run, key="other"), NotPending)
    assert isinstance(await world.consent(run, "future", key="k"), NotPending)
    await world.until(run, AttemptStatus.CLIENT_PENDING)
    assert (await world.types()).count("cordis/consented") == 1


async def test_an_answer_for_other_bytes_is_refused_and_the_request_stays_open(world: CordisWorld) -> None:
    run = await world.asked(await world.define("ok", CLIENT))
    for bad in ({"digest": "0" * 64}, {"key": ""}, {"key": "k" * 201}):
        assert isinstance(await world.consent(run, **bad), BadResponse)
    assert isinstance(await world.consent(run, "forever"), BadResponse)
    assert isinstance(await world.decline(run, "x" * 4001), BadResponse)
    assert (await world.attempt(run)).awaits


async def test_an_answer_to_nothing_or_to_what_needs_none_is_refused(world: CordisWorld) -> None:
    more = {"digest": "0" * 64, "who": OWNER, "channel": "page", "evidence": "e", "strength": "s", "key": "k"}
    unknown = await world.cordis.consent(RunId("run-99"), width="package", **more)  # type: ignore[arg-type]
    assert isinstance(unknown, BadResponse)
    run = (await world.run(await world.define("ok"))).run
    assert isinstance(await world.consent(run), BadResponse)


async def test_an_answer_to_an_older_request_is_told_how_that_ended(world: CordisWorld) -> None:
    package = await world.define("ok", CLIENT)
    old = await world.asked(package)
    await world.cordis.stop(world.session, package.plugin, by=PANEL, told=True)
    new = await world.asked(package)
    late = await world.consent(old)
    assert isinstance(late, NotPending) and late.decision is not None
    assert (late.decision.outcome, late.decision.detail) == ("cancelled", "stopped")
    assert (await world.attempt(new)).awaits and world.halves.started == []


async def test_the_card_has_both_halves_the_wants_and_what_was_consented_to_before(world: CordisWorld) -> None:
    one = await world.define("inject = ['files']", "return ctx.slots")
    await world.up(one)
    two = await world.define("x = ctx.get('web')", "ctx.slots 'sidebar.footer.action'", plugin="clock-1")
    run = await world.asked(two, "update")
    view = await world.cordis.request(run)
    assert view is not None and view.code is not None and view.before is not None
    assert view.code.digest == view.row.attempt.digest == two.digest
    assert (view.code.plain_host, view.before[0], view.before[1].plain_host) == (
        "x = ctx.get('web')", "pkg-1", "inject = ['files']",
    )  # fmt: skip
    assert (view.wants.services, view.wants.seats) == (("web", "slots"), ("sidebar.footer.action",))
    assert (view.row.position, view.row.total, view.decision) == (1, 1, None)
    await world.decline(run)
    decided = await world.cordis.request(run)
    assert decided is not None and decided.decision is not None and decided.row.position is None
    assert decided.decision.outcome == "declined"
    assert await world.cordis.request(RunId("run-99")) is None


async def test_while_an_open_card_with_a_host_half_is_read_an_interpreter_waits_for_it(world: CordisWorld) -> None:
    both, client = await world.define("ok", CLIENT), await world.define(None, CLIENT)
    runs = [await world.asked(both), await world.asked(client)]
    async with world.process("process-2"):
        assert world.halves.prepared == []
        for run in reversed(runs):
            view = await world.cordis.request(run)
            assert view is not None and view.row.position is not None
            await anyio.wait_all_tasks_blocked()
            assert len(world.halves.prepared) == (1 if run == runs[0] else 0)
        await world.decline(runs[0])
        assert await world.cordis.request(runs[0]) is not None
        await anyio.wait_all_tasks_blocked()
        assert world.halves.prepared == [world.session]


async def test_open_requests_are_listed_oldest_first_and_paged(world: CordisWorld) -> None:
    for n in range(5):
        await world.asked(await world.define(f"ok {n}", CLIENT))
    first = await world.cordis.requests(limit=2)
    second = await world.cordis.requests(first.next, 2)
    last = await world.cordis.requests(second.next, 2)
    runs = [row.attempt.run for page in (first, second, last) for row in page.rows]
    assert runs == ["run-1", "run-2", "run-3", "run-4", "run-5"]
    assert (first.total, last.next, last.rows[0].position) == (5, None, 5)


def tamper(world: CordisWorld, *, digest: bool) -> None:
    """Change the stored host half behind the server's back, checksum included, and the digest too if wished."""
    path = world.store.path  # type: ignore[attr-defined]
    db = sqlite3.connect(path)
    pos, session, seq, time, kind, key = db.execute(
        "SELECT pos, session, seq, time, type, key FROM event WHERE type = 'cordis/defined'"
    ).fetchone()
    found = next(e for e in db.execute("SELECT data FROM event WHERE pos = ?", (pos,)))
    import json

    data = json.loads(found[0])
    data["host"] = "evil"
    if digest:
        data["digest"] = Code(data["host"], data["client"]).digest
    text = dumps(data)
    total = checksum(session, seq, time, kind, key, text)
    db.execute("UPDATE event SET data = ?, sum = ? WHERE pos = ?", (text, total, pos))
    db.commit()
    db.close()


@pytest.mark.parametrize("digest", [False, True])
async def test_code_that_was_changed_in_the_store_is_neither_consented_to_nor_run(
    world: CordisWorld, digest: bool
) -> None:
    package = await world.define("ok", CLIENT)
    run = await world.asked(package)
    tamper(world, digest=digest)
    view = await world.cordis.request(run)
    assert view is not None and view.code is None
    assert isinstance(await world.consent(run), BadResponse)
    await world.decline(run)
    again = await world.run(package)
    assert isinstance(again, RunRefused) and "was changed" in again.message
    assert world.halves.started == []


async def test_code_that_was_changed_between_consent_and_start_never_runs(tmp_path: Path) -> None:
    async with cordis_world(tmp_path, serving=False) as world:
        async with world.process("one") as cordis:
            await cordis.plugins()
            package = await world.define("ok", CLIENT)
            run = await world.asked(package)
        consent = await world.consent(run)  # of a process that ends, so that nobody has driven it
        assert isinstance(consent, Answered)
        tamper(world, digest=True)
        async with world.process("one"):
            attempt = await world.until(run, AttemptStatus.FAILED)
            assert attempt.detail == "tampered"
            assert world.halves.started == []


async def test_i15_of_many_answers_at_once_exactly_one_counts_and_code_starts_once(world: CordisWorld) -> None:
    run = await world.asked(await world.define("ok", CLIENT))
    answers: list[object] = []

    async def answer(n: int) -> None:
        answers.append(await (world.consent(run) if n % 2 else world.decline(run)))

    async with anyio.create_task_group() as group:
        for n in range(20):
            group.start_soon(answer, n)
    won = [answer for answer in answers if isinstance(answer, Answered)]
    lost = [answer for answer in answers if isinstance(answer, NotPending)]
    assert (len(won), len(lost)) == (1, 19)
    assert all(one.decision is not None and one.decision.outcome == won[0].outcome for one in lost)
