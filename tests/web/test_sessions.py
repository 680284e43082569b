"""Sessions over the API: created once, read newest first, changed by what people do, refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from placet.approval.outcome import Policy
from placet.session.event import Draft
from placet.session.ids import SessionId
from tests.web.rig import BY, House, running

pytestmark = pytest.mark.anyio


def wish(folder: Path, **more: Any) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    return {"cwd": str(folder), "key": "k-1", **more}


async def test_a_session_is_created_with_its_permission_pinned_and_its_message_queued(
    house: House, tmp_path: Path
) -> None:
    async with house.page() as page:
        answer = await page.post(
            "/api/sessions", wish(tmp_path / "w", message="hello", title="Mine", preset="read-only")
        )
        assert answer.status_code == 201
        summary = answer.json()
        listed = (await page.get("/api/sessions")).json()["sessions"]
    assert listed == [summary]
    assert (summary["title"], summary["cwd"], summary["status"]) == ("Mine", str(tmp_path / "w"), "idle")
    assert (summary["preset"], summary["mode"], summary["policy"]) == ("read-only", "read-only", "ask")
    events = await house.store.read(SessionId(summary["id"]))
    assert [event.type for event in events] == [
        "session/created", "permission/preset", "sandbox/mode", "approval/policy", "agent/inbox",
    ]  # fmt: skip
    assert events[0].data["by"] == {"kind": "person", "name": "owner", "channel": "page"}


async def test_the_same_key_is_the_same_session_also_at_the_same_time(house: House, tmp_path: Path) -> None:
    ids = set[str]()
    async with house.page() as page, anyio.create_task_group() as tasks:

        async def create() -> None:
            ids.add((await page.post("/api/sessions", wish(tmp_path / "w", message="once"))).json()["id"])

        for _ in range(8):
            tasks.start_soon(create)
    assert len(ids) == 1 and len(await house.store.sessions()) == 1


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"cwd": "/"}, "workspace-refused"),
        ({"cwd": "/no/such/folder"}, "workspace-refused"),
        ({"cwd": "relative"}, "workspace-refused"),
        ({"cwd": "/tmp\0x"}, "workspace-refused"),
        ({"preset": "none"}, "unknown-preset"),
        ({"preset": "custom"}, "unknown-preset"),
        ({"policy": "always"}, "unknown-policy"),
        ({"model": "nobody:none"}, "unknown-model"),
    ],
)
async def test_a_session_that_cannot_be_is_refused_in_one_line(
    house: House, tmp_path: Path, change: dict[str, str], code: str
) -> None:
    async with house.page() as page:
        answer = await page.post("/api/sessions", wish(tmp_path / "w", **change))
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    assert "\n" not in answer.json()["error"]["message"]
    assert await house.store.sessions() == []


async def test_sec_04_a_workspace_around_the_state_directory_is_refused(house: House, tmp_path: Path) -> None:
    async with house.page() as page:
        for folder in (tmp_path, house.services.state, house.services.state / "bells"):
            answer = await page.post("/api/sessions", {"cwd": str(folder), "key": "k"})
            assert answer.json()["error"]["code"] == "workspace-refused", folder


async def test_sec_06_history_that_a_client_sends_along_is_refused(house: House, tmp_path: Path) -> None:
    forged = [{"type": "approval/decided", "outcome": "allowed-once"}]
    async with house.page() as page:
        for more in ({"events": forged}, {"history": forged}, {"grants": ["a-1"]}):
            answer = await page.post("/api/sessions", wish(tmp_path / "w", **more))
            assert answer.status_code == 422
    assert await house.store.sessions() == []


async def test_rename_archive_and_delete(house: House) -> None:
    session = await house.session()
    await house.append(session, Draft("turn/end", {"turn": 1, "reason": {"kind": "completed"}}, "end:1"))
    async with house.page() as page:
        path = f"/api/sessions/{session}"
        renamed = await page.client.patch(path, json={"title": " New ", "key": "k1"})
        archived = await page.client.patch(path, json={"archived": True, "key": "k2"})
        assert (renamed.json()["title"], archived.json()["archived"]) == ("New", True)
        assert (await page.client.delete(path)).status_code == 204
        assert (await page.get(path)).status_code == 404
        assert (await page.get("/api/sessions")).json() == {"sessions": [], "notices": []}


async def test_a_running_session_is_not_deleted(house: House) -> None:
    session = await house.session()
    async with house.page() as page:
        answer = await page.client.delete(f"/api/sessions/{session}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "running")


async def test_a_message_is_queued_once_however_often_it_is_sent(house: House) -> None:
    session = await house.session()
    async with house.page() as page:
        path = f"/api/sessions/{session}/messages"
        answers = [await page.post(path, {"text": "hello", "id": "m-1"}) for _ in range(3)]
        taken = await page.post(path, {"text": "another", "id": "m-1"})
    assert [answer.json() for answer in answers] == [{"id": "m-1", "accepted": True}] * 3
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "message-id-taken")
    assert [event.key for event in await house.store.read(session) if event.type == "agent/inbox"] == ["put:m-1"]


async def test_a13_stop_is_answered_after_its_commit_and_again_the_same(house: House) -> None:
    session = await house.session()
    async with house.page() as page:
        path = f"/api/sessions/{session}/stop"
        first, again = await page.post(path, {"key": "k"}), await page.post(path, {"key": "k"})
        assert first.json() == again.json() == {"stopped": True, "turn": 1}
        assert await house.store.lookup(session, "abort:1") is not None
        await house.append(session, Draft("turn/end", {"turn": 1, "reason": {"kind": "aborted"}}, "end:1"))
        late = await page.post(path, {"key": "k2"})
    assert (late.status_code, late.json()["error"]["code"]) == (409, "not-running")


async def test_e_full_access_has_to_be_confirmed(house: House) -> None:
    session = await house.session()
    async with house.page() as page:
        path = f"/api/sessions/{session}/permission"
        for change in ({"preset": "danger-full-access"}, {"mode": "danger-full-access"}):
            answer = await page.post(path, {**change, "key": "k"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, "confirm-needed")
        sure = await page.post(path, {"preset": "danger-full-access", "confirm": True, "key": "k"})
    assert sure.json()["permissions"]["currentValue"] == "danger-full-access"
    assert (sure.json()["mode"], sure.json()["policy"]) == ("danger-full-access", "never")


async def test_e5_a_single_knob_makes_the_preset_custom_and_the_list_says_so(house: House) -> None:
    session = await house.session()
    async with house.page() as page:
        answer = await page.post(f"/api/sessions/{session}/permission", {"policy": "never", "key": "k"})
        (summary,) = (await page.get("/api/sessions")).json()["sessions"]
    values = [option["value"] for option in answer.json()["permissions"]["options"]]
    assert values == ["read-only", "workspace-write", "danger-full-access", "custom"]
    assert answer.json()["permissions"]["currentValue"] == summary["preset"] == "custom"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, "bad-permission"),
        ({"preset": "read-only", "mode": "read-only"}, "bad-permission"),
        ({"preset": "custom"}, "unknown-preset"),
        ({"mode": "root"}, "unknown-mode"),
        ({"policy": "always"}, "unknown-policy"),
    ],
)
async def test_e10_unknown_knobs_change_nothing(house: House, change: dict[str, str], code: str) -> None:
    session = await house.session()
    before = await house.store.head()
    async with house.page() as page:
        answer = await page.post(f"/api/sessions/{session}/permission", {**change, "key": "k"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, code)
    assert await house.store.feed(before, session=session) == []


async def test_only_a_model_that_is_offered_can_be_picked(house: House) -> None:
    session = await house.session()
    async with house.page() as page:
        path = f"/api/sessions/{session}/model"
        assert (await page.post(path, {"model": "openai:gpt", "key": "k"})).json()["model"] == "openai:gpt"
        assert (await page.post(path, {"model": "evil:m", "key": "k"})).json()["error"]["code"] == "unknown-model"


async def test_g16_the_status_says_what_a_session_is_doing(house: House) -> None:
    async def status() -> tuple[str, int, int | None]:
        (summary,) = (await page.get("/api/sessions")).json()["sessions"]
        return summary["status"], summary["openAsks"], summary["turn"]

    async with house.page() as page:
        session = await house.session()
        assert await status() == ("running", 0, 1)
        event = await house.ask(session)
        assert await status() == ("waiting", 1, 1)
        await page.post(
            f"/api/asks/{event.data['id']}/decision",
            {"outcome": "rejected", "digest": event.data["digest"], "key": "k"},
        )
        assert await status() == ("running", 0, 1)
        await house.append(session, Draft("turn/end", {"turn": 1, "reason": {"kind": "interrupted"}}, "end:1"))
        assert await status() == ("interrupted", 0, None)
        await house.append(session, Draft("turn/start", {"turn": 2}, "turn:2"))
        await house.append(session, Draft("turn/end", {"turn": 2, "reason": {"kind": "completed"}}, "end:2"))
        assert await status() == ("idle", 0, None)


async def test_an_ask_under_never_makes_no_session_wait(house: House) -> None:
    session = await house.session(policy=Policy.NEVER)
    await house.ask(session, policy=Policy.NEVER)
    async with house.page() as page:
        (summary,) = (await page.get("/api/sessions")).json()["sessions"]
    assert (summary["status"], summary["openAsks"]) == ("running", 0)


async def test_a_long_session_opens_with_its_newest_200_and_pages_back(house: House) -> None:
    session = await house.session()
    for start in range(0, 20_000, 2_000):
        drafts = [
            Draft("notice", {"level": "info", "code": "n", "text": str(n)}, f"notice:{n}")
            for n in range(start, start + 2_000)
        ]
        await house.append(session, *drafts)
    reads: list[int] = []
    read = house.store.read

    async def counted(*args: Any, **how: Any) -> Any:
        events = await read(*args, **how)
        reads.append(len(events))
        return events

    house.store.read = counted  # type: ignore[method-assign]
    async with house.page() as page:
        view = (await page.get(f"/api/sessions/{session}")).json()
        older = (await page.get(f"/api/sessions/{session}/events", before=view["before"], limit=50)).json()
        first = (await page.get(f"/api/sessions/{session}/events", before=3)).json()
    assert [event["seq"] for event in view["events"]] == list(range(20_005 - 200, 20_005))
    assert [event["seq"] for event in older["events"]] == list(range(20_005 - 250, 20_005 - 200))
    assert [event["seq"] for event in first["events"]] == [0, 1, 2] and first["before"] is None
    assert sum(reads) <= 200 + 50 + 3 + 5  # no request read the log


async def test_a_new_server_knows_every_session_without_reading_the_logs(house: House, tmp_path: Path) -> None:
    from placet.web.security.keyring import Keyring
    from placet.web.views.summaries import Summaries

    sessions = [await house.session() for _ in range(3)]
    await house.ask(sessions[0])
    await house.append(sessions[1], Draft("session/renamed", {"title": "B", "by": BY}, "renamed:1"))
    kept = await house.serving.desk.summaries.all()
    fresh = Summaries(house.services, Keyring())
    await fresh.load()
    assert await fresh.all() == kept


async def test_the_suggested_folder_is_made_only_when_a_session_is_started_in_it(tmp_path: Path) -> None:
    suggested, other = tmp_path / "placet-work", tmp_path / "other"
    async with running(tmp_path, suggested_cwd=suggested) as house, house.page() as page:
        before = (await page.get("/api/config")).json()
        assert (before["suggestedCwd"], before["suggestedIsNew"]) == (str(suggested), True)
        assert not suggested.exists()
        refused = await page.post("/api/sessions", {"cwd": str(other), "key": "k-0"})
        assert refused.status_code == 422 and not other.exists()
        made = await page.post("/api/sessions", {"cwd": str(suggested), "key": "k-1"})
        assert made.status_code == 201 and made.json()["cwd"] == str(suggested)
        assert suggested.stat().st_mode & 0o777 == 0o700
        assert (await page.get("/api/config")).json()["suggestedIsNew"] is False


async def test_a_suggested_folder_that_is_refused_is_not_left_behind(tmp_path: Path) -> None:
    suggested = tmp_path / "state" / "inside"  # below the state directory: no workspace
    async with running(tmp_path, suggested_cwd=suggested) as house, house.page() as page:
        answer = await page.post("/api/sessions", {"cwd": str(suggested), "key": "k-1"})
        assert answer.json()["error"]["code"] == "workspace-refused"
        assert not suggested.exists()
