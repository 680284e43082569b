"""The stream: the log in its order from any cursor on, the text so far, and nothing that waits for a slow reader."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import anyio
import pytest

from placet.approval.outcome import Policy
from placet.session.event import Draft
from placet.session.ids import HOUSE
from placet.testing.page_key import Frame
from placet.web import desk as watch
from placet.web.routes import stream as route
from placet.web.views import stream as view
from tests.web.rig import House, answer_to, path_of

pytestmark = pytest.mark.anyio


def notice(n: int, text: str = "text") -> Draft:
    return Draft("notice", {"level": "info", "code": "n", "text": text}, f"notice:{n}")


async def take(frames: AsyncIterator[Frame], count: int) -> list[Frame]:
    found = []
    with anyio.fail_after(60):
        async for frame in frames:
            found.append(frame)
            if len(found) == count:
                break
    return found


async def test_without_a_cursor_the_stream_starts_now_with_hello(house: House) -> None:
    session = await house.session()
    async with house.page() as page, aclosing(page.frames()) as frames:
        (hello,) = await take(frames, 1)
        assert hello.data == {"cursor": str(await house.store.head()), "instance": house.serving.desk.instance}
        (event,) = await house.append(session, notice(1))
        (frame,) = await take(frames, 1)
    assert frame.event == "log" and frame.id == str(event.pos)
    assert frame.data == {
        "session": session, "seq": event.seq, "time": event.time, "type": "notice", "key": "notice:1",
        "data": dict(event.data), "cursor": str(event.pos),
    }  # fmt: skip


async def test_ses_01_a_reader_that_was_away_gets_everything_after_its_cursor_once_and_in_order(house: House) -> None:
    one, two = await house.session(), await house.session()
    start = await house.store.head()
    for n in range(150):
        await house.append(one if n % 2 else two, notice(n))
    async with house.page() as page:
        async with aclosing(page.frames(str(start))) as frames:
            first = (await take(frames, 71))[1:]
        async with aclosing(page.frames(first[-1].id)) as frames:
            rest = (await take(frames, 81))[1:]
    keys = [frame.data["key"] for frame in first + rest]
    assert keys == [f"notice:{n}" for n in range(150)]
    cursors = [int(frame.id or 0) for frame in first + rest]
    assert cursors == sorted(set(cursors))


async def test_a_cursor_from_the_future_is_now_and_one_that_is_none_is_refused(house: House) -> None:
    session = await house.session()
    async with house.page() as page:
        async with aclosing(page.frames("999999999")) as frames:
            await take(frames, 1)
            await house.append(session, notice(1))
            assert (await take(frames, 1))[0].data["key"] == "notice:1"
        assert (await page.get("/api/stream", after="x")).status_code == 422
        assert (await page.get("/api/stream", after="-1")).status_code == 422


async def test_an_ask_and_its_decision_reach_every_open_page(house: House) -> None:
    session = await house.session()
    async with (
        house.page() as left,
        house.page() as right,
        aclosing(left.frames()) as here,
        aclosing(right.frames()) as there,
    ):
        await take(here, 1), await take(there, 1)
        event = await house.ask(session)
        for frames in (here, there):
            (asked,) = await take(frames, 1)
            assert asked.data["type"] == "approval/asked" and asked.data["data"]["digest"] == event.data["digest"]
        await left.post(path_of(event), answer_to(event))
        for frames in (here, there):
            (decided,) = await take(frames, 1)
            said = decided.data["data"]
            assert (said["outcome"], said["who"]["name"]) == ("allowed-once", "owner")


async def test_pol_02_under_never_no_page_is_told_of_a_card(house: House) -> None:
    session = await house.session(policy=Policy.NEVER)
    async with house.page() as page, aclosing(page.frames()) as frames:
        await take(frames, 1)
        event = await house.ask(session, policy=Policy.NEVER)
        (frame,) = await take(frames, 1)
        assert frame.data["data"]["policy"] == "never"  # the log's own event, which the page draws no card for
        assert (await page.get(f"/api/asks/{event.data['id']}")).json()["position"] is None


async def test_the_house_log_is_not_on_the_stream(house: House) -> None:
    session = await house.session()
    async with house.page() as page, aclosing(page.frames("0")) as frames:
        await house.append(HOUSE, notice(1, "house"))
        await house.append(session, notice(2, "session"))
        seen = [frame for frame in await take(frames, 7) if frame.event == "log"]
    assert {frame.data["session"] for frame in seen} == {session}
    assert seen[-1].data["key"] == "notice:2"


async def test_text_is_streamed_and_a_new_page_first_gets_the_text_so_far(house: House) -> None:
    session, speech = await house.session(), house.voices.speech
    async with house.page() as page, aclosing(page.frames()) as frames:
        await take(frames, 1)
        speech.begin(session, 1, 1)
        speech.add(session, "Hello")
        (first,) = await take(frames, 1)
        assert first.data == {"session": session, "turn": 1, "step": 1, "text": "Hello", "whole": True}
        speech.add(session, ", ")
        speech.add(session, "world")
        assert await said(frames, "Hello", "Hello, world")
        async with aclosing(page.frames()) as late:
            _, so_far = await take(late, 2)
            assert (so_far.data["text"], so_far.data["whole"]) == ("Hello, world", True)
        assert (await page.get(f"/api/sessions/{session}")).json()["partial"] == {
            "turn": 1,
            "step": 1,
            "text": "Hello, world",
        }
        speech.drop(session)  # the request failed, and is tried again
        (dropped,) = await take(frames, 1)
        assert (dropped.data["text"], dropped.data["whole"]) == ("", True)
        speech.begin(session, 1, 1)
        speech.add(session, "Hello again, from the start, and longer than before")
        (again,) = await take(frames, 1)
        assert again.data["whole"] is True


async def said(frames: AsyncIterator[Frame], text: str, wanted: str) -> bool:
    """Follow deltas until the text that a page would show is the wanted one."""
    with anyio.fail_after(60):
        while text != wanted:
            (frame,) = await take(frames, 1)
            text = frame.data["text"] if frame.data["whole"] else text + frame.data["text"]
            assert wanted.startswith(text)
    return True


async def test_text_can_be_anything_and_is_still_one_frame(house: House) -> None:
    session, speech = await house.session(), house.voices.speech
    nasty = "a\r\n\r\nevent: log\ndata: {}\n\n\u2028\u2029\ud800\x00\x1b[2J"
    async with house.page() as page, aclosing(page.frames()) as frames:
        await take(frames, 1)
        speech.begin(session, 1, 1)
        speech.add(session, nasty)
        (frame,) = await take(frames, 1)
    assert (frame.event, frame.data["text"]) == ("delta", nasty)


async def test_pings_keep_a_quiet_stream_open(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "PING", 0.05)
    async with house.page() as page, page.client.stream("GET", "/api/stream") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        await pinged(response.aiter_lines())


async def test_a_stream_that_is_woken_all_the_time_for_nothing_pings_as_well(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server looks at the log again and again; that it found nothing is no sign of life for the page."""
    monkeypatch.setattr(view, "PING", 0.2)

    async def wake() -> None:
        while True:
            house.serving.desk.news.notify(None)
            await anyio.sleep(0.02)

    async with house.page() as page, anyio.create_task_group() as group:
        group.start_soon(wake)
        async with page.client.stream("GET", "/api/stream") as response:
            lines = response.aiter_lines()
            await pinged(lines)
            await pinged(lines)
        group.cancel_scope.cancel()


async def pinged(lines: AsyncIterator[str]) -> None:
    """Return when the stream gave its next sign of life."""
    with anyio.fail_after(60):
        async for line in lines:
            if line == ": ping":
                return
    raise AssertionError("the stream ended")


async def test_a_reader_that_does_not_read_costs_nothing_and_misses_nothing(house: House) -> None:
    session = await house.session()
    start = await house.store.head()
    async with house.page() as page, page.client.stream("GET", f"/api/stream?after={start}") as slow:
        for n in range(400):
            await house.append(session, notice(n, "x" * 20_000))
        assert (await page.get("/api/sessions")).status_code == 200  # nobody waits for the slow one
        keys: list[str] = []
        with anyio.fail_after(60):
            async for line in slow.aiter_lines():
                if line.startswith("data: ") and "key" in (data := json.loads(line[6:])):
                    keys.append(data["key"])
                if len(keys) == 400:
                    break
    assert keys == [f"notice:{n}" for n in range(400)]


async def test_a_page_that_leaves_frees_its_place(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "MOST", 2)
    desk = house.serving.desk
    async with house.page() as page:
        async with aclosing(page.frames()) as one, aclosing(page.frames()) as two:
            await take(one, 1), await take(two, 1)
            refused = await page.get("/api/stream")
            assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too-many")
        with anyio.fail_after(60):
            while desk.streams:  # noqa: ASYNC110 - the product has no event for it
                await anyio.sleep(0.01)
        async with aclosing(page.frames()) as again:
            await take(again, 1)
    assert len(house.voices.deltas) <= 1


async def test_attack_16_with_twelve_streams_open_stop_and_allow_are_answered_at_once(house: House) -> None:
    session = await house.session()
    event = await house.ask(session)
    async with house.page() as page, anyio.create_task_group() as tasks:
        up = [anyio.Event() for _ in range(12)]

        async def follow(mine: anyio.Event) -> None:
            async with house.page() as other, aclosing(other.frames()) as frames:
                await take(frames, 1)
                mine.set()
                await anyio.sleep_forever()

        for mine in up:
            tasks.start_soon(follow, mine)
        for mine in up:
            await mine.wait()
        with anyio.fail_after(60):
            assert (await page.post(path_of(event), answer_to(event))).status_code == 200
            assert (await page.post(f"/api/sessions/{session}/stop", {"key": "k"})).status_code == 200
        tasks.cancel_scope.cancel()


@pytest.fixture
def unpolled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The desk does not read again by itself."""
    monkeypatch.setattr(watch, "READ_AGAIN", 3600.0)


async def test_the_stream_of_another_process_s_events_needs_no_poll(unpolled: None, house: House) -> None:
    """A second store on the same file stands for the other process; its bell is a datagram."""
    from placet.session.stores.sqlite import SqliteStore

    session = await house.session()
    async with house.page() as page, aclosing(page.frames()) as frames:
        await take(frames, 1)
        async with await SqliteStore.open(house.store.path) as other:
            await other.append(session, [notice(1)])
            (frame,) = await take(frames, 1)
    assert frame.data["key"] == "notice:1"
