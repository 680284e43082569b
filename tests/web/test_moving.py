"""What a call has made and other programs would run can be moved away, once, and only what a call has made."""

from __future__ import annotations

from pathlib import Path

import pytest

from placet.session import keys
from placet.session.event import Draft
from placet.session.ids import SessionId, new_session_id
from tests.web.rig import BY, House

pytestmark = pytest.mark.anyio


async def made(house: House, workspace: Path, *paths: str) -> SessionId:
    """A session in that folder with a result that names the paths."""
    session = new_session_id()
    facts = workspace.stat()
    created = {"v": 1, "cwd": str(workspace), "cwdId": f"{facts.st_dev}:{facts.st_ino}", "title": None, "by": BY}
    place = {"turn": 1, "step": 1, "position": 0}
    listed = [{"path": path, "kind": "make", "why": "make runs it"} for path in paths]
    result = {"name": "bash", "text": "", "isError": False, "code": None, "value": None, "meta": {"appeared": listed}}
    await house.append(
        session,
        Draft("session/created", {**created, "gitRoots": []}, "created"),
        Draft("turn/start", {"turn": 1}, "turn:1"),
        Draft("tool/result", {**place, **result}, keys.result(1, 1, 0)),
    )
    return session


async def test_11_what_a_call_has_made_moves_away_and_the_log_says_where(house: House, tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "Makefile").write_text("all:\n")
    session = await made(house, tmp_path / "ws", "Makefile")
    async with house.page() as page:
        body = {"path": "Makefile", "key": "k1"}
        first = await page.post(f"/api/sessions/{session}/move-away", body)
        again = await page.post(f"/api/sessions/{session}/move-away", body)
    assert (first.status_code, first.json()) == (200, again.json())
    moved = Path(first.json()["to"])
    assert moved.read_text() == "all:\n"
    assert moved.is_relative_to(house.services.state / "quarantine" / session)
    assert not (tmp_path / "ws" / "Makefile").exists()
    notices = [event for event in await house.store.read(session) if event.type == "notice"]
    assert [(one.data["code"], one.data["path"], one.data["by"]["channel"]) for one in notices] == [
        ("moved-away", "Makefile", "page")
    ]


@pytest.mark.parametrize("path", ["other", "../outside", "/etc/passwd", "\\"])
async def test_nothing_moves_that_no_call_has_named(house: House, tmp_path: Path, path: str) -> None:
    (tmp_path / "ws").mkdir()
    for name in ("ws/other", "outside"):
        (tmp_path / name).write_text("x")
    session = await made(house, tmp_path / "ws", "Makefile")
    async with house.page() as page:
        refused = await page.post(f"/api/sessions/{session}/move-away", {"path": path, "key": "k1"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "not-appeared")
    assert (tmp_path / "ws" / "other").exists()


async def test_what_is_gone_or_leads_out_cannot_be_moved(house: House, tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "Makefile").write_text("x")
    (tmp_path / "ws" / "link").symlink_to(tmp_path / "outside")
    session = await made(house, tmp_path / "ws", "Makefile", "link/Makefile", "../outside/Makefile", "\\x")
    async with house.page() as page:
        for number, path in enumerate(("Makefile", "link/Makefile", "../outside/Makefile")):
            refused = await page.post(f"/api/sessions/{session}/move-away", {"path": path, "key": f"k{number}"})
            assert (refused.status_code, refused.json()["error"]["code"]) == (409, "move-failed")
        refused = await page.post(f"/api/sessions/{session}/move-away", {"path": "\\x", "key": "k9"})
        assert refused.status_code == 422
    assert (tmp_path / "outside" / "Makefile").exists()


async def test_a_folder_that_was_replaced_is_not_touched(house: House, tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    session = await made(house, tmp_path / "ws", "Makefile")
    (tmp_path / "ws").rename(tmp_path / "old")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "Makefile").write_text("x")
    async with house.page() as page:
        refused = await page.post(f"/api/sessions/{session}/move-away", {"path": "Makefile", "key": "k1"})
    assert refused.status_code == 409
    assert (tmp_path / "ws" / "Makefile").exists()
