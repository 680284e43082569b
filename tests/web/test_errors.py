"""What is wrong with a request is said clearly, in one shape, and nothing else is said."""

from __future__ import annotations

import json

import pytest

from placet.session.errors import StoreDamaged, StoreFull, StoreGone, StoreLocked, StoreRemoved
from tests.web.rig import House

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"{", 400, "bad-json"),
        (b"", 422, "bad-value"),
        (b"\xff\xfe{}", 400, "bad-json"),
        (b'{"text": "a\x00b", "id": "m"}', 400, "bad-json"),
        (b"null", 422, "bad-value"),
        (b"[]", 422, "bad-value"),
        (b'"text"', 422, "bad-value"),
        (b"{}", 422, "bad-value"),
        (b'{"text": 1, "id": "m"}', 422, "bad-value"),
        (b'{"text": "", "id": "m"}', 422, "bad-value"),
        (b'{"text": "a", "id": "m", "more": 1}', 422, "bad-value"),
        (b'{"text": "a", "id": "' + b"x" * 65 + b'"}', 422, "bad-value"),
        (b'{"text": "a", "id": "with space"}', 422, "bad-value"),
        (b'{"text": "\\ud800", "id": "m"}', 422, "bad-value"),
        (b"[" * 100_000, 400, "bad-json"),
    ],
    ids=lambda value: repr(value)[:40] if isinstance(value, bytes) else None,
)
async def test_a_body_that_cannot_be_taken_gets_one_clear_line(
    shared: House, content: bytes, status: int, code: str
) -> None:
    async with shared.page() as page:
        answer = await page.client.post("/api/sessions/s-1/messages", content=content, headers=JSON)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert set(answer.json()["error"]) == {"code", "message", "hint"}
    assert "\n" not in answer.json()["error"]["message"] and "pydantic" not in answer.text


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("GET", "/api/sessions/s-none", None),
        ("GET", "/api/sessions/s-none/events", None),
        ("PATCH", "/api/sessions/s-none", {"title": "t", "key": "k"}),
        ("DELETE", "/api/sessions/s-none", None),
        ("POST", "/api/sessions/s-none/messages", {"text": "t", "id": "m-none"}),
        ("POST", "/api/sessions/s-none/stop", {"key": "k"}),
        ("POST", "/api/sessions/s-none/permission", {"preset": "read-only", "key": "k"}),
        ("POST", "/api/sessions/s-none/model", {"model": "rehearsal", "key": "k"}),
        ("GET", "/api/asks/a-none", None),
    ],
)
async def test_what_is_not_there_is_not_found(shared: House, verb: str, path: str, body: object) -> None:
    async with shared.page() as page:
        answer = await page.client.request(verb, path, **({} if body is None else {"json": body}))
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] in ("unknown-session", "unknown-ask")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (StoreLocked("another process holds /home/somebody/placet.db"), 503, "not-recorded"),
        (StoreDamaged("pos 7 of /home/somebody/placet.db", "the checksum differs"), 503, "damaged"),
        (RuntimeError("secret-token in /home/somebody"), 500, "broken"),
    ],
)
async def test_a_failure_inside_leaks_nothing_and_the_server_lives_on(
    house: House, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, code: str
) -> None:
    async def fails() -> object:
        raise error

    async with house.page() as page:
        with monkeypatch.context() as broken:
            broken.setattr(house.store, "sessions", fails)
            answer = await page.get("/api/sessions")
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
        assert "somebody" not in answer.text and "Traceback" not in answer.text and "secret" not in answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert (await page.get("/api/sessions")).status_code == 200


@pytest.mark.parametrize(
    ("error", "matter", "advice"),
    [
        (StoreFull("no space left for /home/somebody/placet.db"), "disk that holds the log is full", "Free some space"),
        (
            StoreLocked("another process holds /home/somebody/placet.db"),
            "held the log for too long",
            "End that program",
        ),
        (StoreRemoved("/home/somebody/placet.db was removed"), "removed or replaced", "put it back"),
        (StoreGone("/home/somebody/placet.db does not answer"), "did not answer", "Try again"),
        (StoreDamaged("/home/somebody/placet.db", "malformed"), "store of placet is damaged", "placet log verify"),
    ],
)
async def test_what_is_the_matter_with_the_store_is_told_apart_with_the_right_advice(
    house: House, monkeypatch: pytest.MonkeyPatch, error: Exception, matter: str, advice: str
) -> None:
    async def fails(*args: object, **how: object) -> object:
        raise error

    session = await house.session()
    async with house.page() as page:
        with monkeypatch.context() as broken:
            broken.setattr(house.store, "append", fails)
            answer = await page.post(f"/api/sessions/{session}/messages", {"text": "t", "id": "m-1"})
    said = answer.json()["error"]
    assert answer.status_code == 503
    assert matter in said["message"] and advice in said["hint"]
    assert "somebody" not in answer.text


async def test_a_log_with_a_lone_surrogate_can_be_read(house: House) -> None:
    from placet.session.event import Draft

    session = await house.session()
    said = {"id": "m-1", "text": "a\ud800b", "source": {"kind": "user"}, "turn": 1}
    await house.append(session, Draft("user/message", said, "message:m-1"))
    async with house.page() as page:
        answer = await page.get(f"/api/sessions/{session}")
    assert answer.status_code == 200
    assert json.loads(answer.content)["events"][-1]["data"]["text"] == "a\ud800b"
