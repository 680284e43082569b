"""The contract of a store's counters, as tests: a part of `StoreContract`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from placet.session import BadDraft, Draft, Lease, Numbered, SessionId, Store
from placet.testing.facts import appended, new_session, note, refused

OpenStore = Callable[[], Awaitable[Store]]


class NumbersContract:
    """What every store promises about the numbers that it gives out inside of an append."""

    async def test_numbers_are_new_in_the_whole_store(self, store: Store, session: SessionId) -> None:
        other = await new_session(store)
        found = []
        for n in range(6):
            (event,) = appended(await store.append((session, other)[n % 2], _numbered(f"notice:{n}")))
            found.append(event.data["text"])
        assert found == [f"a-{n} b-{n}" for n in range(1, 7)]

    async def test_h4_a_refused_append_consumes_no_number(self, store: Store, session: SessionId) -> None:
        appended(await store.append(session, _numbered("notice:1")))
        for refusal in ({"absent": ["created"]}, {"present": ["nothing"]}, {"lease": Lease(session, "nobody", 9)}):
            refused(await store.append(session, _numbered("notice:2"), **refusal))
        assert refused(await store.append(session, _numbered("notice:1"))).why == "duplicate"
        with pytest.raises(BadDraft):
            await store.append(session, _numbered("notice:2", value=float("nan")))
        (event,) = appended(await store.append(session, _numbered("notice:2")))
        assert event.data["text"] == "a-2 b-2"

    async def test_each_counter_counts_by_itself(self, store: Store, session: SessionId) -> None:
        await store.append(session, _numbered("notice:1"))
        await store.append(session, Numbered(("a",), lambda n: [note("2", f"a-{n['a']}")]))
        (event,) = appended(await store.append(session, _numbered("notice:3")))
        assert event.data["text"] == "a-3 b-2"

    async def test_no_number_comes_back_after_a_removal_or_for_who_opens_the_store_later(
        self, opened: OpenStore, store: Store, session: SessionId
    ) -> None:
        await store.append(session, _numbered("notice:1"))
        await store.remove(session)
        other = await new_session(store)
        await store.aclose()
        later = await opened()
        (event,) = appended(await later.append(other, _numbered("notice:1")))
        assert event.data["text"] == "a-2 b-2"

    async def test_two_open_stores_never_give_the_same_number(
        self, opened: OpenStore, store: Store, session: SessionId
    ) -> None:
        other = await opened()
        answers = await asyncio.gather(
            *((store, other)[n % 2].append(session, _numbered(f"notice:{n}")) for n in range(40))
        )
        texts = {appended(answer)[0].data["text"] for answer in answers}
        assert texts == {f"a-{n} b-{n}" for n in range(1, 41)}


def _numbered(key: str, **more: Any) -> Numbered:
    """A note under this key that tells the numbers which it got."""

    def make(numbers: Mapping[str, int]) -> list[Draft]:
        text = f"a-{numbers['a']} b-{numbers['b']}"
        return [Draft("notice", {"level": "info", "code": "test", "text": text, **more}, key)]

    return Numbered(("a", "b"), make, key)
