"""Asks over the API: the card's facts, and answers of which exactly one counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from placet.agent import gestures
from placet.approval.outcome import Policy
from placet.session.errors import StoreFull, StoreGone
from placet.session.event import Draft
from placet.web.desk import WRONG_ANSWERS
from tests.web.rig import BY, House, answer_to, path_of, running

pytestmark = pytest.mark.anyio

OUTCOMES = ("allowed-once", "rejected")


async def decisions(house: House, event: Any) -> list[Any]:
    return [e for e in await house.store.read(event.session) if e.type == "approval/decided"]


async def test_a_card_has_all_its_facts(house: House) -> None:
    session = await house.session()
    event = await house.ask(session, command="rm -rf x")
    async with house.page() as page:
        view = (await page.get(f"/api/asks/{event.data['id']}")).json()
    assert view["subject"] == event.data["subject"] and view["digest"] == event.data["digest"]
    assert view["session"] == session and view["sessionName"] == {"text": "A session", "origin": "title"}
    assert view["agent"] == "rehearsal" and view["tool"] == "bash" and view["reason"] == "it needs the home folder"
    assert (view["state"], view["decision"], view["askedAt"]) == ("open", None, event.time)
    assert (view["position"], view["total"]) == (1, 1)
    assert view["fullAccess"] is True and view["scriptCovered"] is False
    assert view["rearmed"] is False and view["earlierRun"] is False


async def test_the_inbox_is_the_oldest_first_over_all_sessions_and_pages_without_end(house: House) -> None:
    sessions = [await house.session() for _ in range(3)]
    asks = [(await house.ask(sessions[n % 3])).data["id"] for n in range(120)]
    found: list[str] = []
    async with house.page() as page:
        answer = (await page.get("/api/asks", state="open")).json()
        while True:
            found += [ask["id"] for ask in answer["asks"]]
            assert answer["total"] == 120
            assert [ask["position"] for ask in answer["asks"]] == list(
                range(len(found) - len(answer["asks"]) + 1, len(found) + 1)
            )
            if answer["next"] is None:
                break
            answer = (await page.get("/api/asks", cursor=answer["next"])).json()
        bad = await page.get("/api/asks", cursor="-1")
    assert found == asks
    assert bad.json()["error"]["code"] == "bad-cursor"


async def test_a_session_view_brings_its_own_open_asks(house: House) -> None:
    one, two = await house.session(), await house.session()
    await house.ask(one)
    event = await house.ask(two)
    async with house.page() as page:
        view = (await page.get(f"/api/sessions/{two}")).json()
    assert [(ask["id"], ask["position"], ask["total"]) for ask in view["asks"]] == [(event.data["id"], 2, 2)]


async def test_a_decision_is_receipted_with_who_over_which_channel_and_when(house: House) -> None:
    event = await house.ask(await house.session())
    async with house.page() as page:
        receipt = (await page.post(path_of(event), answer_to(event))).json()["receipt"]
        view = (await page.get(f"/api/asks/{event.data['id']}")).json()
    (decided,) = await decisions(house, event)
    who = {"kind": "person", "name": "owner", "account": None}
    expected = {"ask": event.data["id"], "outcome": "allowed-once", "time": decided.time, "who": who}
    assert receipt == expected | {"channel": "page", "strength": "page-key", "stopped": False}
    assert decided.data["evidence"] == f"page-key:{page.key.id}"
    assert view["state"] == "decided" and view["position"] is None
    assert view["decision"]["who"]["name"] == "owner" and view["decision"]["time"] == decided.time


async def test_under_landlock_the_evidence_says_that_the_profile_can_be_read(tmp_path: Path) -> None:
    async with running(tmp_path, sandbox={"chosen": "landlock"}) as house, house.page() as page:
        event = await house.ask(await house.session())
        receipt = (await page.post(path_of(event), answer_to(event))).json()["receipt"]
    assert receipt["strength"] == "page-key (profile readable)"


async def test_feedback_travels_with_a_rejection(house: House) -> None:
    event = await house.ask(await house.session())
    async with house.page() as page:
        await page.post(path_of(event), answer_to(event, "rejected", feedback="not there, \u202e please"))
    (decided,) = await decisions(house, event)
    assert (decided.data["outcome"], decided.data["feedback"]) == ("rejected", "not there, \u202e please")


async def test_apr_06_of_twenty_answers_from_two_pages_exactly_one_counts(house: House) -> None:
    event = await house.ask(await house.session())
    answers: list[httpx.Response] = []
    async with house.page() as left, house.page() as right, anyio.create_task_group() as tasks:

        async def send(n: int) -> None:
            body = answer_to(event, OUTCOMES[n % 2], key=f"key-{n}")
            answers.append(await (left if n < 10 else right).post(path_of(event), body))

        for n in range(20):
            tasks.start_soon(send, n)
    (decided,) = await decisions(house, event)
    won = [answer for answer in answers if answer.status_code == 200]
    lost = [answer for answer in answers if answer.status_code == 409]
    assert (len(won), len(lost)) == (1, 19)
    assert won[0].json()["receipt"]["outcome"] == decided.data["outcome"]
    assert {answer.json()["reason"] for answer in lost} == {"not-pending"}
    assert {answer.json()["decision"]["outcome"] for answer in lost} == {decided.data["outcome"]}


async def test_ses_02_the_same_key_gets_the_same_receipt_and_decides_once(house: House) -> None:
    event = await house.ask(await house.session())
    async with house.page() as page:
        answers = [await page.post(path_of(event), answer_to(event, key="lost")) for _ in range(5)]
    assert len({answer.text for answer in answers}) == 1 and answers[0].status_code == 200
    assert len(await decisions(house, event)) == 1


@pytest.mark.parametrize("outcome", OUTCOMES)
async def test_apr_02_after_the_stop_a_late_answer_is_told_and_counts_for_nothing(house: House, outcome: str) -> None:
    session = await house.session()
    event = await house.ask(session)
    async with house.page() as page:
        assert (await page.post(f"/api/sessions/{session}/stop", {"key": "k"})).status_code == 200
        late = await page.post(path_of(event), answer_to(event, outcome))
        assert (late.status_code, late.json()["reason"]) == (409, "not-pending")
        assert (await page.get("/api/asks")).json() == {"asks": [], "total": 0, "next": None, "notices": []}
    assert await decisions(house, event) == []  # the worker writes `cancelled`, nobody else anything


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "f" * 64},
        {"digest": "short"},
        {"outcome": "cancelled"},
        {"outcome": "unavailable"},
        {"outcome": "yes"},
        {"key": ""},
    ],
    ids=repr,
)
async def test_a27_an_answer_that_does_not_fit_leaves_the_ask_open(house: House, change: dict[str, str]) -> None:
    event = await house.ask(await house.session())
    async with house.page() as page:
        answer = await page.post(path_of(event), answer_to(event) | change)
        assert answer.status_code == 422
        assert (await page.get("/api/asks")).json()["total"] == 1
    assert await decisions(house, event) == []


async def test_a25_sec_06_the_digest_of_another_ask_is_refused(house: House) -> None:
    session = await house.session()
    first, second = await house.ask(session, command="ls"), await house.ask(session, command="rm -rf x")
    async with house.page() as page:
        answer = await page.post(path_of(second), answer_to(first))
        assert (answer.status_code, answer.json()["reason"]) == (422, "bad-response")
        forged = answer_to(second) | {"command": "echo other"}
        assert (await page.post(path_of(second), forged)).status_code == 422
        unknown = await page.post("/api/asks/a-unknown/decision", answer_to(second))
        assert (unknown.status_code, unknown.json()["reason"]) == (422, "bad-response")
    assert await decisions(house, second) == []


async def test_pol_02_an_ask_under_never_is_no_card_and_takes_no_answer(house: House) -> None:
    session = await house.session(policy=Policy.NEVER)
    event = await house.ask(session, policy=Policy.NEVER)
    async with house.page() as page:
        assert (await page.get("/api/asks")).json()["total"] == 0
        assert (await page.get(f"/api/sessions/{session}")).json()["asks"] == []
        answer = await page.post(path_of(event), answer_to(event))
    assert answer.status_code in (409, 422)
    assert await decisions(house, event) == []


@pytest.mark.parametrize("error", [StoreGone("no answer"), StoreFull("no space left")])
async def test_ui_10_what_the_log_did_not_take_is_not_called_accepted(
    house: House, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    event = await house.ask(await house.session())

    async def fails(*args: Any, **how: Any) -> Any:
        raise error

    async with house.page() as page:
        with monkeypatch.context() as broken:
            broken.setattr(house.store, "append", fails)
            answer = await page.post(path_of(event), answer_to(event, key="k"))
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not-recorded")
        assert (await page.post(path_of(event), answer_to(event, key="k"))).status_code == 200


async def test_aud_01_a_restart_brings_back_open_asks_only_and_settled_ones_stay_settled(tmp_path: Path) -> None:
    async with running(tmp_path) as first, first.page() as page:
        session = await first.session()
        allowed, rejected, waiting = [await first.ask(session) for _ in range(3)]
        await page.post(path_of(allowed), answer_to(allowed))
        await page.post(path_of(rejected), answer_to(rejected, "rejected"))
    async with running(tmp_path) as second, second.page() as page:
        open_asks = (await page.get("/api/asks")).json()["asks"]
        assert [ask["id"] for ask in open_asks] == [waiting.data["id"]]
        for event, outcome in ((allowed, "allowed-once"), (rejected, "rejected")):
            late = await page.post(path_of(event), answer_to(event, key="other"))
            assert (late.status_code, late.json()["decision"]["outcome"]) == (409, outcome)
        again = await page.post(path_of(waiting), answer_to(waiting))
        assert again.status_code == 200  # SES-01: same id, answered exactly once, whichever page answers


async def test_attack_30_many_wrong_answers_leave_one_line_per_minute(house: House) -> None:
    event = await house.ask(await house.session())
    async with house.page() as page:
        for n in range(15):
            await page.post(path_of(event), answer_to(event, key="same") | {"digest": f"{n:064x}"})
    refused = [e for e in await house.store.read(event.session) if e.type == "approval/refused"]
    assert 1 <= len(refused) <= 2  # two if the minute changed meanwhile
    assert refused[0].data["who"]["name"] == "owner" and refused[0].data["channel"] == "page"


async def test_attack_30_wrong_answers_under_ever_new_keys_end_at_a_bound(house: House) -> None:
    session = await house.session()
    event, other = await house.ask(session), await house.ask(session)
    async with house.page() as page, house.page() as innocent:
        for n in range(2 * WRONG_ANSWERS):
            answer = await page.post(path_of(event), answer_to(event, key=f"k-{n}") | {"digest": "f" * 64})
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too-many")
        refused = [e for e in await house.store.read(session) if e.type == "approval/refused"]
        assert len(refused) <= 2 * WRONG_ANSWERS - 1  # one minute's number, two if the minute changed meanwhile
        assert (await page.post(path_of(other), answer_to(other))).status_code == 200
        assert (await innocent.post(path_of(event), answer_to(event))).status_code == 200


async def test_attack_30_who_did_not_prove_who_they_are_leaves_no_line(house: House) -> None:
    event = await house.ask(await house.session())
    before = await house.store.head()
    async with house.stranger() as client:
        for _ in range(20):
            await client.post(path_of(event), json=answer_to(event))
    assert await house.store.head() == before


async def test_a_policy_or_mode_change_never_answers_a_card(house: House) -> None:
    session = await house.session()
    event = await house.ask(session)
    knobs = house.services.knobs
    await gestures.select_preset(knobs, session, "danger-full-access", by=BY, key="k")
    async with house.page() as page:
        assert (await page.get("/api/asks")).json()["asks"][0]["id"] == event.data["id"]
        assert (await page.post(path_of(event), answer_to(event))).status_code == 200


async def test_an_ask_whose_turn_is_over_takes_no_answer(house: House) -> None:
    event = await house.ask(await house.session())
    await house.append(event.session, Draft("turn/end", {"turn": 1, "reason": {"kind": "error"}}, "end:1"))
    async with house.page() as page:
        answer = await page.post(path_of(event), answer_to(event))
    assert answer.status_code == 409 and answer.json()["decision"] is None


async def test_reject_and_stop_is_one_request_and_one_append(house: House) -> None:
    session = await house.session()
    event = await house.ask(session)
    async with house.page() as page:
        wrong = await page.post(path_of(event), answer_to(event, "allowed-once", stop=True))
        answer = await page.post(path_of(event), answer_to(event, "rejected", stop=True))
        again = await page.post(path_of(event), answer_to(event, "rejected", stop=True))
        late = await page.post(path_of(event), answer_to(event, "rejected", key="another"))
    assert (wrong.status_code, wrong.json()["reason"]) == (422, "bad-response")
    assert answer.json()["receipt"]["stopped"] is True and again.json() == answer.json()
    assert late.status_code == 409
    log = [e for e in await house.store.read(session) if e.type in ("approval/decided", "turn/abort")]
    assert [e.type for e in log] == ["approval/decided", "turn/abort"]
    assert log[1].seq == log[0].seq + 1
    assert log[1].data["by"] == {"kind": "person", "name": "owner", "channel": "page"}


async def test_a_plain_rejection_stops_nothing(house: House) -> None:
    session = await house.session()
    event = await house.ask(session)
    async with house.page() as page:
        answer = await page.post(path_of(event), answer_to(event, "rejected"))
    assert answer.json()["receipt"]["stopped"] is False
    assert not [e for e in await house.store.read(session) if e.type == "turn/abort"]
