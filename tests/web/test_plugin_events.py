"""What screens are told of plugins by the log itself: no code, and how many requests wait for a person."""

from __future__ import annotations

import itertools
from contextlib import aclosing
from pathlib import Path

import pytest

from placet.session.event import Draft
from placet.session.ids import SessionId
from tests.web.rig import BY, House, running
from tests.web.test_stream import take

pytestmark = pytest.mark.anyio

COUNT = itertools.count(1)
SECRET = "the-code-of-a-half"


def defined(plugin: str = "dice-1", package: str = "pkg-1", **halves: str | None) -> Draft:
    number = next(COUNT)
    data = {
        "plugin": plugin,
        "package": package,
        "name": "Dice",
        "purpose": "rolls",
        "digest": "d" * 64,
        "call": f"1.1.{number}",
    }
    return Draft("cordis/defined", data | {"host": None, "client": None} | halves, f"defined:1.1.{number}")


def requested(run: str, *, needs_consent: bool = True) -> Draft:
    data = {"run": run, "plugin": "dice-1", "package": "pkg-1", "mode": "run", "needsConsent": needs_consent}
    data |= {"digest": "d" * 64, "call": None, "by": BY, "holder": "1:2:3", "deadline": None}
    return Draft("cordis/requested", data, f"requested:{run}")


def consented(run: str) -> Draft:
    data = {"run": run, "plugin": "dice-1", "package": "pkg-1", "width": "package", "digest": "d" * 64}
    data |= {"who": BY, "channel": "page", "evidence": "e", "strength": "s", "key": "k", "holder": "1:2:3"}
    return Draft("cordis/consented", data, f"consented:{run}")


def settled(run: str, status: str = "cancelled") -> Draft:
    data = {"run": run, "plugin": "dice-1", "package": "pkg-1", "status": status, "detail": None, "phase": None}
    return Draft("cordis/settled", data | {"error": None, "by": BY, "page": None}, f"settled:{run}")


async def test_h13_neither_pages_of_events_nor_the_stream_carry_a_plugin_s_code(house: House) -> None:
    session = await house.session()
    async with house.page() as page:
        before = str(await house.store.head())
        await house.append(session, defined(host=SECRET, client=None), defined("dice-1", "pkg-2", client=f"{SECRET}é"))
        view = await page.get(f"/api/sessions/{session}")
        older = await page.get(f"/api/sessions/{session}/events")
        async with aclosing(page.frames(before)) as frames:
            streamed = await take(frames, 3)
    events = [e for e in view.json()["events"] if e["type"] == "cordis/defined"]
    assert [(e["data"]["hostBytes"], e["data"]["clientBytes"]) for e in events] == [
        (len(SECRET), None),
        (None, len(SECRET) + 2),
    ]
    assert events[0]["data"]["digest"] == "d" * 64 and events[0]["data"]["purpose"] == "rolls"
    assert not {"host", "client"} & set(events[0]["data"])
    for said in (view.text, older.text, str(streamed)):
        assert SECRET not in said and "hostBytes" in said


async def waiting(house: House, session: SessionId) -> tuple[str, int, int]:
    async with house.page() as page:
        summaries = (await page.get("/api/sessions")).json()["sessions"]
    (summary,) = [one for one in summaries if one["id"] == session]
    return summary["status"], summary["openAsks"], summary["openConsents"]


async def test_m7_open_requests_for_consent_count_as_waiting_until_they_are_settled(house: House) -> None:
    session, other = await house.session(), await house.session()
    await house.ask(other)
    await house.append(session, requested("run-1"), requested("run-2"), requested("run-3", needs_consent=False))
    assert await waiting(house, session) == ("waiting", 2, 2)
    assert await waiting(house, other) == ("waiting", 1, 0)
    await house.append(session, consented("run-1"))
    assert await waiting(house, session) == ("waiting", 1, 1)
    await house.append(session, settled("run-2"))
    assert await waiting(house, session) == ("running", 0, 0)


async def test_i9_a_restart_counts_the_requests_that_are_still_open_and_no_others(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        session = await house.session()
        await house.append(session, *[requested(f"run-{n}") for n in range(1, 5)], consented("run-1"), settled("run-2"))
    async with running(tmp_path) as house:
        assert await waiting(house, session) == ("waiting", 2, 2)
        await house.append(session, consented("run-3"), settled("run-1", "failed"))
        assert await waiting(house, session) == ("waiting", 1, 1)
