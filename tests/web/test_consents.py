"""Consent over the API: the whole card, and answers of which exactly one counts, through the door of the asks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from placet.cordis.definition import Code
from placet.cordis.vocabulary import PluginId, RunId
from placet.session.errors import StoreFull, StoreGone
from placet.session.event import Draft
from placet.session.ids import SessionId
from placet.testing.page_key import LinkedPage
from placet.web.desk import WRONG_ANSWERS
from tests.web.rig import AGENT, House, running
from tests.web.test_damage import edit

pytestmark = pytest.mark.anyio

ROUNDS = 200 if os.environ.get("PLACET_SOAK") == "1" else 20
CLIENT = "return () => 'shown'"


class Waiting:
    """A plugin of a session with an open request."""

    def __init__(self, house: House, session: SessionId, plugin: str, package: str, run: str) -> None:
        self.house, self.session, self.plugin, self.package, self.run = house, session, plugin, package, run

    def at(self, house: House) -> Waiting:
        """The same request at another server of the same store."""
        return Waiting(house, self.session, self.plugin, self.package, self.run)

    async def reached(self, status: str) -> None:
        """Wait until the run has this status."""
        with anyio.fail_after(60):
            async with self.house.store.doorbell() as bell:
                while await self.status() != status:
                    await bell.wait(1)

    async def status(self) -> str | None:
        plugin = await self.house.services.cordis.plugin(PluginId(self.plugin))
        attempt = None if plugin is None else plugin.attempt(RunId(self.run))
        return None if attempt is None else attempt.status.value

    async def card(self, page: LinkedPage) -> dict[str, Any]:
        answer = await page.get(f"/api/consents/{self.run}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def say(self, page: LinkedPage, verb: str = "consent", **change: Any) -> httpx.Response:
        body = {"run": self.run, "digest": (await self.card(page))["digest"], "key": "key-1"}
        body |= {"width": "package"} if verb == "consent" else {}
        return await page.post(f"/api/plugins/{self.plugin}/{verb}", body | change)

    async def events(self, *types: str) -> list[Any]:
        return [e for e in await self.house.store.read(self.session) if e.type in types]


async def waiting(house: House, plugin: str = "dice-1", session: SessionId | None = None, **code: Any) -> Waiting:
    session = session or await house.session()
    package = await house.package(session, plugin, **({"client": CLIENT} | code))
    return Waiting(house, session, plugin, package, await house.request(session, plugin, package))


async def test_design_10_the_card_has_both_halves_and_what_they_name(house: House) -> None:
    host, client = (
        "inject = ['shell']\nasync def apply(ctx):\n    pass\n",
        "ctx.slots.register({name: 'session.header'})",
    )
    one = await waiting(house, host=host, client=client)
    async with house.page() as page:
        card = await one.card(page)
        rows = (await page.get("/api/consents")).json()
    assert (card["host"], card["client"]) == (host, client) and card["intact"] is True
    assert card["wants"] == {
        "services": ["shell", "slots"],
        "host": ["shell"],
        "client": ["slots"],
        "seats": ["session.header"],
    }
    assert (card["plugin"], card["package"], card["run"], card["mode"]) == (one.plugin, one.package, one.run, "run")
    assert card["session"] == one.session and card["sessionName"] == {"text": "A session", "origin": "title"}
    assert (card["state"], card["decision"], card["position"], card["total"]) == ("open", None, 1, 1)
    assert card["model"] == "rehearsal" and card["consentedBefore"] is None
    assert rows["total"] == 1 and rows["next"] is None and rows["notices"] == []
    assert not {"host", "client", "consentedBefore"} & set(rows["consents"][0])
    assert rows["consents"][0] == {name: card[name] for name in rows["consents"][0]}


async def test_the_requests_of_all_sessions_are_the_oldest_first_and_paged_without_end(house: House) -> None:
    sessions = [await house.session() for _ in range(3)]
    runs = [(await waiting(house, f"dice-{n}", sessions[n % 3])).run for n in range(1, 71)]
    found: list[str] = []
    async with house.page() as page:
        answer = (await page.get("/api/consents")).json()
        while answer["next"] is not None:
            found += [row["run"] for row in answer["consents"]]
            answer = (await page.get("/api/consents", cursor=answer["next"])).json()
        found += [row["run"] for row in answer["consents"]]
        bad = await page.get("/api/consents", cursor="x")
        summaries = (await page.get("/api/sessions")).json()["sessions"]
    assert found == runs and answer["total"] == 70 and answer["consents"][-1]["position"] == 70
    assert bad.json()["error"]["code"] == "bad-cursor"
    assert sum(summary["openConsents"] for summary in summaries) == 70


async def test_j10_a_consent_is_receipted_with_who_over_which_channel_how_wide_and_when(house: House) -> None:
    one = await waiting(house)
    async with house.page() as page:
        receipt = (await one.say(page, width="future")).json()["receipt"]
        card = await one.card(page)
    [event] = await one.events("cordis/consented")
    who = {"kind": "person", "name": "owner", "account": None}
    expected = {"run": one.run, "outcome": "consented", "width": "future", "time": event.time, "who": who}
    assert receipt == expected | {"channel": "page", "strength": "page-key"}
    assert event.data["evidence"] == f"page-key:{page.key.id}" and event.data["digest"] == card["digest"]
    assert card["state"] == "decided" and card["decision"]["outcome"] == "consented"
    assert card["decision"]["width"] == "future" and card["position"] is None


async def test_i21_a_refusal_starts_nothing_and_its_note_is_kept(house: House) -> None:
    one = await waiting(house)
    async with house.page() as page:
        answer = await one.say(page, "decline", feedback="smaller, \u202e please")
        plugins = (await page.get("/api/plugins")).json()["plugins"]
        source = await page.get(f"/api/plugins/{one.plugin}/runs/{one.run}/source")
    assert answer.json()["receipt"]["outcome"] == "declined" and answer.json()["receipt"]["width"] is None
    [event] = await one.events("cordis/declined")
    assert event.data["feedback"] == "smaller, \u202e please"
    assert plugins[0]["latest"]["status"] == "rejected" and plugins[0]["activeRun"] is None
    assert (source.status_code, source.json()["error"]["code"]) == (409, "not-active")
    assert not await one.events("cordis/started", "cordis/consented")


async def test_i15_of_answers_from_two_pages_at_once_exactly_one_counts(house: House) -> None:
    async with house.page() as left, house.page() as right:
        for number in range(1, ROUNDS + 1):
            one = await waiting(house, f"dice-{number}")
            answers = await race(one, left, right, number)
            won = [answer.json()["receipt"]["outcome"] for answer in answers if answer.status_code == 200]
            lost = [answer.json() for answer in answers if answer.status_code == 409]
            assert (len(won), len(lost)) == (1, 3)
            assert {(body["reason"], body["decision"]["outcome"]) for body in lost} == {("not-pending", won[0])}
            decided = await one.events("cordis/consented", "cordis/declined")
            assert [event.type for event in decided] == [f"cordis/{won[0]}"]
            if won == ["declined"]:  # never "declined" while code runs
                assert not await one.events("cordis/started", "cordis/ready")


async def race(one: Waiting, left: LinkedPage, right: LinkedPage, number: int) -> list[httpx.Response]:
    """Answer from two pages at once, with both answers from each; who comes first changes with the number."""
    answers: list[httpx.Response] = []
    digest = (await one.card(left))["digest"]

    async def send(page: LinkedPage, verb: str, n: int) -> None:
        body = {"run": one.run, "digest": digest, "key": f"key-{n}"} | (
            {"width": "package"} if verb == "consent" else {}
        )
        answers.append(await page.post(f"/api/plugins/{one.plugin}/{verb}", body))

    async with anyio.create_task_group() as tasks:
        for n in range(4):
            verb = "consent" if (n + number + n // 2) % 2 else "decline"
            tasks.start_soon(send, left if n < 2 else right, verb, n)
    return answers


async def test_ses_02_the_same_key_gets_the_same_receipt_and_decides_once(house: House) -> None:
    one = await waiting(house)
    async with house.page() as page:
        answers = [await one.say(page, key="lost") for _ in range(4)]
        other = await one.say(page, key="another")
    assert len({answer.text for answer in answers}) == 1 and answers[0].status_code == 200
    assert other.status_code == 409 and len(await one.events("cordis/consented")) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"digest": "f" * 64},
        {"digest": "short"},
        {"width": "all"},
        {"key": ""},
        {"run": "approval-1"},
        {"run": 1},
        {"code": "x"},
    ],
    ids=repr,
)
async def test_an_answer_that_does_not_fit_leaves_the_request_open(house: House, change: dict[str, Any]) -> None:
    one = await waiting(house)
    async with house.page() as page:
        answer = await one.say(page, **change)
        assert answer.status_code == 422
        assert (await page.get("/api/consents")).json()["total"] == 1
    assert not await one.events("cordis/consented", "cordis/started")


async def test_h12_a_foreign_run_or_plugin_gets_no_answer_and_changes_nothing(house: House) -> None:
    one, two = await waiting(house, "dice-1"), await waiting(house, "coin-2", client="return () => 'other'")
    async with house.page() as page:
        crossed = await one.say(page, run=two.run, digest=(await two.card(page))["digest"])
        digest_of_other = await one.say(page, digest=(await two.card(page))["digest"])
        unknown = await one.say(page, run="run-999")
        missing = await page.get("/api/consents/run-999")
        odd = await page.get("/api/consents/x%2F..")
    assert (crossed.status_code, crossed.json()["error"]["code"]) == (404, "unknown-request")
    assert (digest_of_other.status_code, digest_of_other.json()["reason"]) == (422, "bad-response")
    assert unknown.status_code == missing.status_code == 404 and odd.status_code in (404, 422)
    assert not await one.events("cordis/consented") and not await two.events("cordis/consented")


async def test_a_request_that_was_withdrawn_takes_no_answer_and_says_by_whom(house: House) -> None:
    one = await waiting(house)
    async with house.page() as page:
        body = {"run": one.run, "digest": (await one.card(page))["digest"], "width": "package", "key": "k"}
        stopped = await page.post(f"/api/plugins/{one.plugin}/stop", {"key": "k"})
        late = await page.post(f"/api/plugins/{one.plugin}/consent", body)
        card = await one.card(page)
    assert stopped.json() == {"plugin": one.plugin, "wasRunning": True}
    assert late.status_code == 409 and late.json()["decision"]["outcome"] == "cancelled"
    assert late.json()["decision"]["by"]["name"] == "owner" and late.json()["decision"]["who"] is None
    assert card["state"] == "decided" and card["decision"]["detail"] == "stopped"


async def test_law_8_the_socket_cannot_consent_but_may_decline(house: House) -> None:
    one, two = await waiting(house, "dice-1"), await waiting(house, "coin-2")
    async with house.page() as page:
        digest, other = (await one.card(page))["digest"], (await two.card(page))["digest"]
    async with house.terminal() as terminal:
        body = {"run": one.run, "digest": digest, "width": "package", "key": "k"}
        yes = await terminal.post(f"/api/plugins/{one.plugin}/consent", json=body)
        no = await terminal.post(
            f"/api/plugins/{two.plugin}/decline", json={"run": two.run, "digest": other, "key": "k"}
        )
        source = await terminal.get(f"/api/plugins/{one.plugin}/runs/{one.run}/source")
    assert (yes.status_code, yes.json()["error"]["code"]) == (403, "wrong-channel")
    assert source.json()["error"]["code"] == "wrong-channel"
    assert no.status_code == 200 and no.json()["receipt"]["channel"] == "socket"
    assert not await one.events("cordis/consented")


@pytest.mark.parametrize("verb", ["consent", "decline"])
async def test_attack_2_an_answer_from_the_agent_s_side_is_refused_logged_and_told(tmp_path: Path, verb: str) -> None:
    why: list[str] = []
    changes = {"objection": lambda client, server, state: "; ".join(why) or None}
    async with running(tmp_path, changes=changes) as house, house.page() as page:
        one = await waiting(house)
        why.append("the sender is a process of the agent")
        answers = [await one.say(page, verb, key=f"k-{n}") for n in range(3)]
        assert (await page.get("/api/consents")).json()["total"] == 1
        notices = await one.events("notice")
        assert not await one.events("cordis/consented", "cordis/declined")
    assert {(answer.status_code, answer.json()["error"]["code"]) for answer in answers} == {(403, "sender-refused")}
    assert 1 <= len(notices) <= 2 and notices[0].data["run"] == one.run
    assert "process of the agent" in notices[0].data["text"]
    assert any(said.code == "sender-refused" and one.run in said.text for said in house.said)


async def test_attack_30_wrong_consents_under_ever_new_keys_end_at_a_bound(house: House) -> None:
    one, other = await waiting(house, "dice-1"), await waiting(house, "coin-2")
    async with house.page() as page, house.page() as innocent:
        body = {"run": one.run, "digest": "f" * 64, "width": "package"}
        for n in range(2 * WRONG_ANSWERS):
            answer = await page.post(f"/api/plugins/{one.plugin}/consent", body | {"key": f"k-{n}"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too-many")
        assert (await other.say(page)).status_code == 200
        assert (await one.say(innocent)).status_code == 200


@pytest.mark.parametrize("error", [StoreGone("no answer"), StoreFull("no space left")])
async def test_ui_10_a_consent_that_the_log_did_not_take_is_not_called_accepted(
    house: House, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    one = await waiting(house)

    async def fails(*args: Any, **how: Any) -> Any:
        raise error

    async with house.page() as page:
        with monkeypatch.context() as broken:
            broken.setattr(house.store, "append", fails)
            answer = await one.say(page)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not-recorded")
        assert not await one.events("cordis/consented")
        assert (await one.say(page)).status_code == 200


async def test_i9_a_restart_brings_the_open_request_back_and_it_is_answered_once(tmp_path: Path) -> None:
    async with running(tmp_path) as first:
        one = await waiting(first)
    async with running(tmp_path) as second, second.page() as page:
        again = one.at(second)
        assert (await page.get("/api/consents")).json()["consents"][0]["run"] == one.run
        assert (await again.say(page)).status_code == 200
        assert (await again.say(page, key="other")).status_code == 409


async def test_attack_25_code_that_is_not_what_its_digest_says_is_not_shown_and_takes_no_yes(house: House) -> None:
    session = await house.session()
    package = await house.package(session, "dice-1", digest=Code.of(None, "return () => 'harmless'").digest)
    ids = {
        "run": "run-7",
        "plugin": "dice-1",
        "package": package,
        "digest": Code.of(None, "return () => 'harmless'").digest,
    }
    asked = {"mode": "run", "needsConsent": True, "call": None, "by": AGENT, "holder": "1:2:3", "deadline": None}
    await house.append(session, Draft("cordis/requested", ids | asked, "requested:run-7"))
    one = Waiting(house, session, "dice-1", package, "run-7")
    async with house.page() as page:
        card = await one.card(page)
        answer = await one.say(page)
        text = await page.get(f"/api/plugins/dice-1/packages/{package}")
    assert card["intact"] is False and card["client"] is None and card["state"] == "open"
    assert (answer.status_code, answer.json()["reason"]) == (422, "bad-response")
    assert (text.status_code, text.json()["error"]["code"]) == (409, "tampered")
    assert not await one.events("cordis/consented", "cordis/started")


async def test_f11_damage_of_one_session_does_not_hide_the_requests_of_others(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        one, two = await waiting(house, "dice-1"), await waiting(house, "coin-2")
        [event] = await one.events("cordis/defined")
    edit(tmp_path, f"UPDATE event SET data = replace(data, 'shown', 'steal') WHERE pos = {event.pos}")
    async with running(tmp_path) as house, house.page() as page:
        rows = (await page.get("/api/consents")).json()
        plugins = (await page.get("/api/plugins")).json()
        hidden = await page.get(f"/api/consents/{one.run}")
        answer = await two.at(house).say(page)
    assert [row["run"] for row in rows["consents"]] == [two.run]
    assert [plugin["plugin"] for plugin in plugins["plugins"]] == [two.plugin]
    assert len(rows["notices"]) == len(plugins["notices"]) == 1
    assert hidden.status_code in (404, 503) and answer.status_code == 200


async def test_the_difference_to_the_version_consented_to_last_comes_with_the_card(house: House) -> None:
    one = await waiting(house)
    async with house.page() as page:
        assert (await one.say(page)).status_code == 200
        await one.reached("client-pending")
        verdict = await page.post(f"/api/plugins/{one.plugin}/verdict", {"run": one.run, "ok": True})
        package = await house.package(one.session, one.plugin, client="return () => 'newer'")
        run = await house.request(one.session, one.plugin, package, "update")
        card = (await page.get(f"/api/consents/{run}")).json()
    assert verdict.json() == {"accepted": True}
    assert card["consentedBefore"] == {"package": one.package, "host": None, "client": CLIENT}
    assert card["mode"] == "update"
