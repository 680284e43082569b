"""A damaged log is named on every screen, and what is whole goes on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from placet.session.errors import StoreDamaged
from placet.session.event import Event
from placet.session.ids import SessionId
from tests.web.rig import House, answer_to, path_of, running

pytestmark = pytest.mark.anyio


def edit(folder: Path, statement: str) -> None:
    with sqlite3.connect(folder / "state" / "placet.db") as db:
        db.execute(statement)
    db.close()


async def two_asks(folder: Path) -> tuple[Event, Event]:
    """Open asks in two sessions, of which the record of the first is changed behind the store's back."""
    async with running(folder) as house:
        first, second = await house.ask(await house.session()), await house.ask(await house.session())
    edit(folder, f"UPDATE event SET data = replace(data, 'echo hi', 'echo ho') WHERE pos = {first.pos}")
    return first, second


async def test_f11_a_damaged_ask_is_named_and_the_others_can_be_answered(tmp_path: Path) -> None:
    first, second = await two_asks(tmp_path)
    async with running(tmp_path) as house, house.page() as page:
        asks = (await page.get("/api/asks")).json()
        assert [ask["id"] for ask in asks["asks"]] == [second.data["id"]]
        (notice,) = asks["notices"]
        assert notice["text"].startswith(f"The log is damaged at session {first.session}, seq {first.seq}: ")
        assert "placet log verify" in notice["text"]
        assert notice in (await page.get("/api/config")).json()["notices"]
        assert notice["text"] in [said.text for said in house.said]
        assert (await page.post(path_of(second), answer_to(second))).status_code == 200


async def test_f11_a_damaged_session_is_out_of_the_list_with_a_notice_and_refuses_everything(tmp_path: Path) -> None:
    first, second = await two_asks(tmp_path)
    async with running(tmp_path) as house, house.page() as page:
        sessions = (await page.get("/api/sessions")).json()
        assert [one["id"] for one in sessions["sessions"]] == [second.session]
        assert len(sessions["notices"]) == 1
        for answer in (
            await page.get(f"/api/sessions/{first.session}"),
            await page.get(f"/api/sessions/{first.session}/events"),
            await page.get(f"/api/asks/{first.data['id']}"),
            await page.post(path_of(first), answer_to(first)),
            await page.post(f"/api/sessions/{first.session}/messages", {"text": "t", "id": "m-1"}),
            await page.post(f"/api/sessions/{first.session}/stop", {"key": "k"}),
        ):
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "damaged")
            assert f"session {first.session}, seq {first.seq}" in answer.json()["error"]["message"]


async def test_a_damaged_session_can_be_deleted_and_then_nothing_is_damaged(tmp_path: Path) -> None:
    first, _ = await two_asks(tmp_path)
    async with running(tmp_path) as house, house.page() as page:
        assert (await page.client.request("DELETE", f"/api/sessions/{first.session}")).status_code == 204
        assert (await page.get("/api/sessions")).json()["notices"] == []


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM unpaired WHERE opener = 'asked:'", "DELETE FROM session WHERE id = '{session}'"],
)
async def test_a_list_is_never_silently_shorter(tmp_path: Path, statement: str) -> None:
    async with running(tmp_path) as house:
        session = (await house.ask(await house.session())).session
    edit(tmp_path, statement.format(session=session))
    async with running(tmp_path) as house, house.page() as page:
        asks = (await page.get("/api/asks")).json()
        assert asks["asks"] == [] and f"session {session}" in asks["notices"][0]["text"]


async def test_damage_of_the_file_refuses_the_start(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        for _ in range(40):
            await house.ask(await house.session(), command="echo " + "x" * 300)
    edit(tmp_path, "PRAGMA wal_checkpoint(TRUNCATE)")
    file = tmp_path / "state" / "placet.db"
    content = bytearray(file.read_bytes())
    middle = len(content) // 8192 * 4096
    content[middle : middle + 4096] = b"\xee" * 4096
    file.write_bytes(content)
    with pytest.RaisesGroup(StoreDamaged, allow_unwrapped=True, flatten_subgroups=True):
        async with running(tmp_path):
            pytest.fail("it serves")


async def test_damage_that_comes_later_is_told_by_every_screen(house: House) -> None:
    session = SessionId((await house.ask(await house.session())).session)
    with sqlite3.connect(house.store.path) as db:
        db.execute("UPDATE event SET data = replace(data, 'echo hi', 'echo ho') WHERE session = ?", (session,))
    db.close()
    async with house.page() as page:
        assert (await page.get(f"/api/sessions/{session}")).json()["error"]["code"] == "damaged"
        asks = (await page.get("/api/asks")).json()
    assert asks["asks"] == [] and f"session {session}" in asks["notices"][0]["text"]
