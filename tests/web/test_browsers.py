"""Signing a browser out, from the page or a terminal: its key counts no more, and what it has open ends."""

from __future__ import annotations

from contextlib import aclosing

import anyio
import pytest

from placet.session.ids import HOUSE
from tests.web.rig import House, answer_to, path_of

pytestmark = pytest.mark.anyio


async def test_the_browsers_are_listed_with_the_one_that_asks(house: House) -> None:
    async with house.page() as one, house.page() as two, house.terminal() as terminal:
        seen = (await one.get("/api/pages")).json()["pages"]
        from_terminal = (await terminal.get("/api/pages")).json()["pages"]
    assert [(page["keyId"], page["current"]) for page in seen] == [(two.key.id, False), (one.key.id, True)]
    assert [page["current"] for page in from_terminal] == [False, False]
    assert seen[0].keys() == {"keyId", "label", "account", "linkedAt", "current"}


@pytest.mark.parametrize("by", ["page", "socket"])
async def test_a_browser_that_is_signed_out_reads_and_answers_nothing_more(house: House, by: str) -> None:
    event = await house.ask(await house.session())
    async with house.page() as one, house.page() as two, house.terminal() as terminal:
        path = f"/api/pages/{one.key.id}/revoke"
        for _ in range(2):  # again changes nothing
            done = await (terminal.post(path, json={}) if by == "socket" else two.post(path, {}))
            assert done.status_code == 204
        read = await one.get("/api/sessions")
        answered = await one.post(path_of(event), answer_to(event))
        assert (read.status_code, read.json()["error"]["code"]) == (401, "not-linked")
        assert answered.status_code == 401
        assert (await two.get("/api/sessions")).status_code == 200
        left = (await two.get("/api/pages")).json()["pages"]
    assert [page["keyId"] for page in left] == [two.key.id]
    [revoked] = [e for e in await house.store.read(HOUSE) if e.type == "page/revoked"]
    assert revoked.data["by"] == {"kind": "person", "name": "owner", "channel": by}
    assert [said.code for said in house.said].count("browser-signed-out") >= 1


async def test_an_open_stream_ends_when_its_browser_is_signed_out_and_another_hears_of_it(house: House) -> None:
    async with (
        house.page() as one,
        house.page() as two,
        aclosing(one.frames()) as mine,
        aclosing(two.frames()) as theirs,
    ):
        await anext(mine)
        await anext(theirs)
        assert (await two.post(f"/api/pages/{one.key.id}/revoke", {})).status_code == 204
        with anyio.fail_after(30):
            rest = [frame async for frame in mine]
            heard = await anext(theirs)
    assert len(rest) <= 1
    assert heard.data["type"] == "page/revoked" and heard.data["data"]["keyId"] == one.key.id


async def test_a_key_that_nobody_linked_cannot_be_signed_out(house: House) -> None:
    async with house.page() as page:
        answer = await page.post(f"/api/pages/{'0' * 32}/revoke", {})
        wrong = await page.post("/api/pages/owner/revoke", {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown-page")
    assert wrong.status_code == 422


async def test_a_deleted_session_is_told_on_the_stream_and_stands_in_the_house_log(house: House) -> None:
    async with house.page() as page, aclosing(page.frames()) as frames:
        await anext(frames)
        folder = house.services.state.parent / "w"
        folder.mkdir()
        made = (await page.post("/api/sessions", {"cwd": str(folder), "key": "k-1"})).json()
        assert (await page.client.delete(f"/api/sessions/{made['id']}")).status_code == 204
        with anyio.fail_after(30):
            async for frame in frames:
                if frame.data["type"] == "session/removed":
                    break
    by = {"kind": "person", "name": "owner", "channel": "page"}
    assert frame.data["session"] == HOUSE
    assert frame.data["data"] == {"session": made["id"], "by": by}
    assert await house.store.lookup(HOUSE, f"removed:{made['id']}") is not None
