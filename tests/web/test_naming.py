"""What a session is called: the same on every screen, in the person's words, never in the agent's."""

from __future__ import annotations

from pathlib import Path

import pytest

from placet.session.event import Draft
from placet.session.ids import SessionId
from placet.web.views.naming import LONGEST, name_of, shortened
from tests.web.rig import House
from tests.web.test_sessions import wish

pytestmark = pytest.mark.anyio


def test_a_title_wins_then_the_first_message_then_the_folder() -> None:
    assert name_of("Mine", "say hi", "/srv/demo").model_dump() == {"text": "Mine", "origin": "title"}
    assert name_of(None, "say hi", "/srv/demo").model_dump() == {"text": "say hi", "origin": "message"}
    assert name_of(None, None, "/srv/demo").model_dump() == {"text": "demo", "origin": "folder"}
    assert name_of(None, None, "/").text == "/"


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("  do\n\n this\tnow ", "do this now"),
        ("x" * 61, "x" * 59 + "…"),
        ("word " * 40, ("word " * 11).strip() + "…"),
        (" \n ", ""),
    ],
)
def test_a_long_message_is_cut_after_a_word(message: str, name: str) -> None:
    assert shortened(message) == name
    assert len(shortened(message)) <= LONGEST


async def test_list_session_and_card_say_the_same_name(house: House, tmp_path: Path) -> None:
    async with house.page() as page:
        made = (await page.post("/api/sessions", wish(tmp_path / "w", message="Tidy the notes\nof May"))).json()
        listed = (await page.get("/api/sessions")).json()["sessions"]
        assert made["name"] == listed[0]["name"] == {"text": "Tidy the notes of May", "origin": "message"}
        await page.client.patch(f"/api/sessions/{made['id']}", json={"title": "May", "key": "k-2"})
        await house.append(SessionId(made["id"]), Draft("turn/start", {"turn": 1}, "turn:1"))
        ask = await house.ask(SessionId(made["id"]))
        view = (await page.get(f"/api/asks/{ask.data['id']}")).json()
        assert view["sessionName"] == {"text": "May", "origin": "title"}
        later = {"text": "Something else", "id": "m-later"}
        assert (await page.post(f"/api/sessions/{made['id']}/messages", later)).status_code == 200
        await page.client.patch(f"/api/sessions/{made['id']}", json={"title": "", "key": "k-3"})
        assert (await page.get("/api/sessions")).json()["sessions"][0]["name"]["text"] == "Tidy the notes of May"
