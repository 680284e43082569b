"""The one-time link: a secret that nobody sees on its way, spent by one POST, and the terminal knows."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from placet.session.errors import StoreGone
from placet.session.ids import HOUSE
from placet.testing.clock import ManualClock
from placet.testing.page_key import PageKey
from placet.web.desk import LINES
from placet.web.security.links import LIFE_MS, WRONG_CODES, Links, Tried
from tests.web.rig import House, running

pytestmark = pytest.mark.anyio


def body(key: PageKey, **how: str) -> dict[str, str]:
    return {"publicKey": key.public, "label": "Firefox", **how}


async def test_attack_21_a_get_of_the_link_consumes_nothing(house: House) -> None:
    async with house.stranger(Sec_Fetch_Site="none") as prefetch:
        for _ in range(3):
            await prefetch.get("/")
            await prefetch.get("/", params={"link": house.secret})
            assert (await prefetch.get("/api/link", params={"secret": house.secret})).status_code == 403
    async with house.page(house.secret) as page:
        assert (await page.get("/api/config")).status_code == 200


async def test_attack_21_a_second_try_is_refused_and_the_terminal_says_so(house: House) -> None:
    async with house.page(house.secret), house.stranger() as spy:
        answer = await spy.post("/api/link", json=body(PageKey(), secret=house.secret))
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "link-spent")
    assert [said.code for said in house.said] == ["link-redeemed", "link-spent"]
    assert "a test" in house.said[0].text


async def test_of_twenty_browsers_at_once_one_gets_in(house: House) -> None:
    statuses: list[int] = []
    async with house.stranger() as client, anyio.create_task_group() as tasks:

        async def redeem() -> None:
            statuses.append((await client.post("/api/link", json=body(PageKey(), secret=house.secret))).status_code)

        for _ in range(20):
            tasks.start_soon(redeem)
    assert sorted(statuses) == [200] + [403] * 19


async def test_the_same_page_may_send_again_when_its_answer_was_lost(house: House) -> None:
    key = PageKey()
    async with house.stranger() as client:
        first = await client.post("/api/link", json=body(key, secret=house.secret))
        again = await client.post("/api/link", json=body(key, secret=house.secret))
    assert first.json() == again.json() and again.status_code == 200


async def test_the_code_works_as_typed_by_a_person(house: House) -> None:
    typed = house.serving.link.code.lower().replace("-", " ")
    async with house.stranger() as client:
        answer = await client.post("/api/link", json=body(PageKey(), code=typed))
    assert answer.status_code == 200


async def test_a_link_lives_two_minutes(tmp_path: Path) -> None:
    clock = ManualClock()
    async with running(tmp_path, clock=clock) as house, house.stranger() as client:
        assert house.serving.link.expires_at == clock.now() + 120_000
        await clock.advance(LIFE_MS / 1000 + 1)
        answer = await client.post("/api/link", json=body(PageKey(), secret=house.secret))
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "link-unknown")


async def test_a_registration_that_the_log_does_not_take_spends_nothing(house: House) -> None:
    class Deaf:
        def __getattr__(self, name: str) -> object:
            return getattr(house.store, name)

        async def append(self, *args: object, **how: object) -> None:
            raise StoreGone("the disk is full")

    key, desk = PageKey(), house.serving.desk
    async with house.stranger() as client:
        kept, desk.services = desk.services, replace(desk.services, store=Deaf())  # type: ignore[arg-type]
        answer = await client.post("/api/link", json=body(key, secret=house.secret))
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not-recorded")
        desk.services = kept
        other = await client.post("/api/link", json=body(PageKey(), secret=house.secret))
    assert other.status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"secret": "s", "code": "c"},
        {"secret": "s" * 43, "publicKey": "A" * 87},
        {"secret": "s" * 43, "publicKey": "!" * 87},
        {"secret": "s" * 43, "publicKey": ""},
    ],
    ids=["neither", "both", "no point", "no base64", "no key"],
)
async def test_a_wrong_request_says_what_is_wrong_with_it(shared: House, wrong: dict[str, str]) -> None:
    async with shared.stranger() as client:
        answer = await client.post("/api/link", json=body(PageKey()) | wrong)
    assert answer.status_code == 422
    assert set(answer.json()["error"]) == {"code", "message", "hint"}


async def test_attack_21_the_secret_lies_in_a_file_for_the_owner_only_until_it_is_used(house: House) -> None:
    path = house.serving.link_file
    facts = os.stat(path)
    assert stat.S_IMODE(facts.st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert house.serving.link.url.replace("&", "&amp;") in path.read_text()
    async with house.page(house.secret):
        with anyio.fail_after(60):
            while path.exists():
                await anyio.lowlevel.checkpoint()


async def test_no_secret_is_kept_in_the_log_or_in_what_the_terminal_says(house: House) -> None:
    async with house.page(house.secret):
        pass
    link = house.serving.link
    everything = repr([*await house.store.read(HOUSE), *house.said, vars(house.serving.desk.links)])
    assert link.code not in everything and house.secret not in everything


async def test_a_terminal_gets_another_link_and_a_page_does_not(house: House) -> None:
    async with house.page(house.secret) as page:
        answer = await page.post("/api/links", {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "wrong-channel")


async def test_attack_30_tries_with_unknown_links_do_not_flood_the_terminal(house: House) -> None:
    async with house.stranger() as client:
        for n in range(3 * LINES):
            await client.post("/api/link", json=body(PageKey(), secret=f"guess-{n}"))
    assert len(house.said) <= 2 * (LINES + 1)  # one minute's number, two if the minute changed meanwhile
    assert all(said.code == "link-unknown" for said in house.said)


def test_codes_stop_counting_after_many_wrong_ones_and_secrets_do_not() -> None:
    links = Links(ManualClock())
    link = links.issue()
    for _ in range(WRONG_CODES):
        assert links.redeem(secret=None, code="AAAAA-AAAAA", key="spy") is Tried.UNKNOWN
    assert links.redeem(secret=None, code=link.code, key="person") is Tried.UNKNOWN
    assert links.redeem(secret=link.secret, code=None, key="person") is Tried.GOOD
