"""The contract of a store, as tests: subclass `StoreContract` and give it a fixture that opens your store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from placet.session import HOUSE, Appended, BadDraft, Draft, Held, Lease, Refused, SessionId, Store, new_id
from placet.session.codec import dumps
from placet.testing.facts import BY, appended, created, fact, new_session, no, note, refused, yes
from placet.testing.numbers import NumbersContract, OpenStore

__all__ = [
    "BY",
    "OpenStore",
    "StoreContract",
    "appended",
    "created",
    "fact",
    "new_session",
    "no",
    "note",
    "refused",
    "yes",
]


@pytest.mark.anyio
class StoreContract(NumbersContract):
    """What every store promises. The fixture `open_store` opens the same place again and again."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        """Override it: return a function that opens the store of this test, once more at every call."""
        raise NotImplementedError

    @pytest.fixture
    async def opened(self, open_store: OpenStore) -> AsyncIterator[OpenStore]:
        """Opens stores and closes them at the end of the test."""
        async with AsyncExitStack() as stack:

            async def one() -> Store:
                store = await open_store()
                stack.push_async_callback(store.aclose)
                return store

            yield one

    @pytest.fixture
    async def store(self, opened: OpenStore) -> Store:
        return await opened()

    @pytest.fixture
    async def session(self, store: Store) -> SessionId:
        return await new_session(store)

    async def test_f1_sequence_numbers_are_contiguous_from_zero(self, store: Store, session: SessionId) -> None:
        await store.append(session, [note("1"), note("2")])
        await store.append(session, [note("3")])
        assert [event.seq for event in await store.read(session)] == [0, 1, 2, 3]

    async def test_an_event_comes_back_as_it_was_appended(self, store: Store, session: SessionId) -> None:
        data = {"ignorable": True, "text": "é\ud800\x00\u2028😀\\", "n": [1, 2.5, None, {"deep": [[]]}], "": ""}
        (event,) = appended(await store.append(session, [Draft("test/fact", data, "fact:1")]))
        assert event.data == data
        assert await store.read(session, after=0) == [event]
        assert await store.lookup(session, "fact:1") == event

    async def test_f1_later_changes_of_the_callers_object_have_no_effect(
        self, store: Store, session: SessionId
    ) -> None:
        data: dict[str, Any] = {"ignorable": True, "list": [1]}
        (event,) = appended(await store.append(session, [Draft("test/fact", data, "fact:1")]))
        data["list"].append(2)
        assert event.data["list"] == [1]
        with pytest.raises(TypeError):
            event.data["list"].append(3)

    async def test_f2_data_that_json_would_change_is_refused_and_the_log_stays(
        self, store: Store, session: SessionId
    ) -> None:
        cycle: dict[str, Any] = {}
        cycle["again"] = cycle
        for bad in (float("nan"), float("inf"), -0.0, 2**60, {1: 2}, (1, 2), object(), b"x", "\ud83d\ude00", cycle):
            with pytest.raises(BadDraft):
                await store.append(session, [note("1"), fact("fact:1", value=bad)])
        assert len(await store.read(session)) == 1

    async def test_an_unknown_type_is_refused_unless_it_may_be_skipped(self, store: Store, session: SessionId) -> None:
        with pytest.raises(BadDraft, match="test/fact"):
            await store.append(session, [Draft("test/fact", {}, "fact:1")])
        appended(await store.append(session, [fact("fact:1")]))

    @pytest.mark.parametrize("key", ["", "x" * 513, "a\nb", "a\x00b", "a\ud800"])
    async def test_a_bad_key_is_refused(self, store: Store, session: SessionId, key: str) -> None:
        with pytest.raises(BadDraft):
            await store.append(session, [fact(key)])

    async def test_equal_keys_in_one_append_are_refused(self, store: Store, session: SessionId) -> None:
        with pytest.raises(BadDraft):
            await store.append(session, [note("1"), note("1")])

    async def test_several_events_are_appended_all_or_none(self, store: Store, session: SessionId) -> None:
        await store.append(session, [note("2")])
        answer = refused(await store.append(session, [note("1"), note("2"), note("3")]))
        assert (answer.why, answer.key) == ("duplicate", "notice:2")
        assert answer.event is not None and answer.event.key == "notice:2"
        assert await store.lookup(session, "notice:1") is None

    async def test_a_key_is_unique_in_its_session_and_free_in_another(self, store: Store, session: SessionId) -> None:
        other = await new_session(store)
        appended(await store.append(session, [note("1")]))
        appended(await store.append(other, [note("1")]))
        assert refused(await store.append(other, [note("1", "another text")])).why == "duplicate"

    async def test_a_wanted_key_must_be_there(self, store: Store, session: SessionId) -> None:
        answer = refused(await store.append(session, [note("2")], present=["created", "notice:1"]))
        assert (answer.why, answer.key, answer.event) == ("present", "notice:1", None)
        await store.append(session, [note("1")])
        appended(await store.append(session, [note("2")], present=["created", "notice:1"]))

    async def test_an_unwanted_key_must_not_be_there_and_is_shown(self, store: Store, session: SessionId) -> None:
        (there,) = appended(await store.append(session, [note("1")]))
        answer = refused(await store.append(session, [note("2")], absent=["notice:0", "notice:1"]))
        assert (answer.why, answer.key, answer.event) == ("absent", "notice:1", there)

    async def test_a_condition_looks_at_its_own_session_only(self, store: Store, session: SessionId) -> None:
        other = await new_session(store)
        await store.append(other, [note("1")])
        appended(await store.append(session, [note("2")], absent=["notice:1"]))
        assert refused(await store.append(session, [note("3")], present=["notice:1"])).why == "present"

    async def test_of_fifty_appends_with_one_key_exactly_one_wins(self, store: Store, session: SessionId) -> None:
        answers = await asyncio.gather(
            *(store.append(session, [note(f"mine-{n}"), fact("decided:1", by=n)]) for n in range(50))
        )
        (winner,) = [answer for answer in answers if isinstance(answer, Appended)]
        assert all(answer.event == winner.events[1] for answer in answers if isinstance(answer, Refused))
        assert len(await store.read(session)) == 3

    async def test_a_refused_append_does_not_undo_those_committed_with_it(
        self, store: Store, session: SessionId
    ) -> None:
        answers = await asyncio.gather(
            *(store.append(session, [note(f"{n}")], absent=["created"] if n % 3 == 0 else []) for n in range(60))
        )
        assert [isinstance(answer, Refused) for answer in answers] == [n % 3 == 0 for n in range(60)]
        assert [event.seq for event in await store.read(session)] == list(range(41))

    async def test_a_log_begins_with_its_creation(self, store: Store) -> None:
        session = SessionId(new_id("s"))
        assert refused(await store.append(session, [note("1")])) == Refused("present", "created", None)
        assert await store.read(session) == []

    async def test_f18_a_session_is_created_once(self, store: Store, session: SessionId) -> None:
        before = await store.read(session)
        again = Draft("session/created", {**before[0].data, "cwd": "/elsewhere"}, "created")
        assert refused(await store.append(session, [again])).why == "duplicate"
        assert await store.read(session) == before

    async def test_the_house_needs_no_creation_and_is_no_session(self, store: Store) -> None:
        appended(await store.append(HOUSE, [note("1")]))
        assert [event.key for event in await store.read(HOUSE)] == ["notice:1"]
        assert await store.sessions() == []

    async def test_reading_stretches_of_a_log(self, store: Store, session: SessionId) -> None:
        await store.append(session, [note(str(n)) for n in range(1, 10)])

        async def seqs(**stretch: Any) -> list[int]:
            return [event.seq for event in await store.read(session, **stretch)]

        assert await seqs(after=6) == [7, 8, 9]
        assert await seqs(before=3) == [0, 1, 2]
        assert await seqs(after=1, before=5) == [2, 3, 4]
        assert await seqs(limit=2) == [0, 1]
        assert await seqs(after=3, limit=2) == [4, 5]
        assert await seqs(limit=2, newest=True) == [8, 9]
        assert await seqs(before=5, limit=2, newest=True) == [3, 4]
        assert await seqs(limit=100, newest=True) == list(range(10))
        assert await seqs(after=9) == await seqs(after=50) == await seqs(before=0) == await seqs(limit=0) == []

    async def test_a_session_that_is_not_there_reads_empty(self, store: Store) -> None:
        assert await store.read(SessionId("s-none")) == []
        assert await store.lookup(SessionId("s-none"), "created") is None

    async def test_find_looks_in_every_session(self, store: Store, session: SessionId) -> None:
        await new_session(store)
        (event,) = appended(await store.append(session, [fact("asked:a-1")]))
        assert await store.find("asked:a-1") == event
        assert await store.find("asked:a-2") is None

    async def test_the_feed_is_in_commit_order_and_can_be_resumed(self, store: Store, session: SessionId) -> None:
        other = await new_session(store)
        for n in range(5):
            await store.append((session, other)[n % 2], [note(str(n))])
        everything = await store.feed(0)
        assert [event.pos for event in everything] == sorted({event.pos for event in everything})
        assert everything[-1].pos == await store.head()
        assert await store.feed(everything[2].pos) == everything[3:]
        assert await store.feed(0, limit=2) == everything[:2]
        assert await store.feed(0, types=["notice"], session=other) == [
            event for event in everything if event.type == "notice" and event.session == other
        ]
        assert await store.feed(await store.head()) == []

    async def test_positions_never_come_back_after_a_removal(self, store: Store, session: SessionId) -> None:
        (last,) = appended(await store.append(session, [note("1")]))
        await store.remove(session)
        other = await new_session(store)
        assert [event.session for event in await store.feed(last.pos)] == [other]

    async def test_unpaired_lists_what_is_open_oldest_first(self, store: Store, session: SessionId) -> None:
        other = await new_session(store)
        for n in range(6):
            await store.append((session, other)[n % 2], [fact(f"asked:a-{n}")])
        await store.append(session, [fact("decided:a-2")])
        await store.append(other, [fact("decided:a-4")])  # not its session: closes nothing
        found = await store.unpaired("asked:", "decided:")
        assert [event.key for event in found] == [f"asked:a-{n}" for n in (0, 1, 3, 4, 5)]

    async def test_unpaired_sees_a_pair_appended_at_once_as_closed(self, store: Store, session: SessionId) -> None:
        await store.append(session, [fact("asked:a-1"), fact("decided:a-1")])
        await store.append(session, [fact("decided:a-2")])
        await store.append(session, [fact("asked:a-2")])
        assert await store.unpaired("asked:", "decided:") == []

    async def test_unpaired_works_for_any_prefixes(self, store: Store, session: SessionId) -> None:
        await store.append(session, [fact("begin:1"), fact("begin:2"), fact("stop:1"), fact("beginning:3")])
        assert [event.key for event in await store.unpaired("begin:", "stop:")] == ["begin:2"]

    async def test_sessions_are_listed_with_their_heads_the_newest_first(self, store: Store) -> None:
        first, second = await new_session(store), await new_session(store)
        (event,) = appended(await store.append(first, [note("1")]))
        heads = await store.sessions()
        assert [head.id for head in heads] == [first, second]
        assert (heads[0].head_seq, heads[0].pos, heads[0].time) == (1, event.pos, event.time)

    async def test_a_removed_session_is_gone_and_cannot_be_appended_to(self, store: Store, session: SessionId) -> None:
        await store.append(session, [fact("asked:a-1")])
        lease = await store.acquire(session, "me", no)
        assert isinstance(lease, Lease)
        await store.remove(session)
        assert await store.read(session) == await store.unpaired("asked:", "decided:") == []
        assert await store.sessions() == []
        assert await store.find("asked:a-1") is None
        assert await store.current_lease(session) is None
        assert refused(await store.append(session, [note("1")])).why == "present"
        assert refused(await store.append(session, [note("1")], lease=lease)).why == "lease"
        assert await store.damage() == []

    async def test_a_lease_is_held_against_others_while_its_holder_lives(
        self, store: Store, session: SessionId
    ) -> None:
        lease = await store.acquire(session, "one", yes)
        assert lease == Lease(session, "one", 1)
        assert await store.acquire(session, "two", yes) == Held("one")
        assert await store.current_lease(session) == lease
        appended(await store.append(session, [note("1")], lease=lease))

    async def test_a_dead_holder_loses_its_lease_and_its_appends_are_refused(
        self, store: Store, session: SessionId
    ) -> None:
        old = await store.acquire(session, "one", yes)
        new = await store.acquire(session, "two", no)
        assert isinstance(old, Lease) and isinstance(new, Lease) and new.epoch == old.epoch + 1
        answer = refused(await store.append(session, [note("1")], lease=old))
        assert answer.why == "lease"
        appended(await store.append(session, [note("1")], lease=new))

    async def test_the_lease_is_looked_at_before_everything_else(self, store: Store, session: SessionId) -> None:
        stale = Lease(session, "one", 7)
        await store.append(session, [note("1")])
        assert refused(await store.append(session, [note("1")], lease=stale, present=["nothing"])).why == "lease"

    async def test_a_released_lease_is_free_and_its_epoch_never_comes_back(
        self, store: Store, session: SessionId
    ) -> None:
        first = await store.acquire(session, "one", yes)
        assert isinstance(first, Lease)
        await store.release(first)
        assert await store.current_lease(session) is None
        assert refused(await store.append(session, [note("1")], lease=first)).why == "lease"
        second = await store.acquire(session, "one", yes)
        assert isinstance(second, Lease) and second.epoch > first.epoch
        await store.release(first)  # not current: nothing happens
        assert await store.current_lease(session) == second

    async def test_a_holder_that_asks_again_shuts_out_its_own_older_lease(
        self, store: Store, session: SessionId
    ) -> None:
        first = await store.acquire(session, "one", yes)
        second = await store.acquire(session, "one", yes)
        assert isinstance(first, Lease) and isinstance(second, Lease)
        assert refused(await store.append(session, [note("1")], lease=first)).why == "lease"
        appended(await store.append(session, [note("1")], lease=second))

    async def test_of_many_that_acquire_at_once_one_gets_the_lease(self, store: Store, session: SessionId) -> None:
        answers = await asyncio.gather(*(store.acquire(session, f"holder {n}", yes) for n in range(20)))
        (lease,) = [answer for answer in answers if isinstance(answer, Lease)]
        assert {answer for answer in answers if isinstance(answer, Held)} == {Held(lease.holder)}

    async def test_what_people_append_needs_no_lease(self, store: Store, session: SessionId) -> None:
        await store.acquire(session, "one", yes)
        appended(await store.append(session, [note("1")]))

    async def test_what_was_appended_is_there_for_who_opens_the_store_later(
        self, opened: OpenStore, session: SessionId, store: Store
    ) -> None:
        lease = await store.acquire(session, "one", yes)
        await store.append(session, [note("1"), fact("asked:a-1")])
        before = await store.read(session)
        await store.aclose()
        later = await opened()
        assert await later.read(session) == before
        assert await later.current_lease(session) == lease
        assert [event.key for event in await later.unpaired("asked:", "decided:")] == ["asked:a-1"]
        assert await later.damage() == []

    async def test_two_open_stores_see_each_other_and_decide_once(
        self, opened: OpenStore, store: Store, session: SessionId
    ) -> None:
        other = await opened()
        answers = await asyncio.gather(
            *((store, other)[n % 2].append(session, [fact("decided:1", by=n)]) for n in range(20)),
            *((store, other)[n % 2].append(session, [note(str(n))]) for n in range(20)),
        )
        assert sum(isinstance(answer, Appended) for answer in answers[:20]) == 1
        assert await store.read(session) == await other.read(session)
        assert [event.seq for event in await store.read(session)] == list(range(22))

    async def test_a_doorbell_rings_at_an_append_of_this_store(self, store: Store, session: SessionId) -> None:
        async with store.doorbell() as bell:
            waiting = asyncio.create_task(bell.wait(30))
            await store.append(session, [note("1")])
            await asyncio.wait_for(waiting, 20)

    async def test_a_doorbell_rings_at_an_append_of_another_store(
        self, opened: OpenStore, store: Store, session: SessionId
    ) -> None:
        other = await opened()
        async with store.doorbell() as bell:
            await other.append(session, [note("1")])
            await asyncio.wait_for(bell.wait(30), 20)

    async def test_a_ring_before_the_wait_is_not_lost(self, store: Store, session: SessionId) -> None:
        async with store.doorbell() as bell:
            await store.append(session, [note("1")])
            await asyncio.wait_for(bell.wait(30), 20)

    async def test_a_doorbell_gives_up_after_its_timeout(self, store: Store, session: SessionId) -> None:
        async with store.doorbell() as bell:
            await bell.wait(0.01)

    async def test_an_append_that_was_cancelled_before_its_turn_changes_nothing_else(
        self, store: Store, session: SessionId
    ) -> None:
        tasks = [asyncio.create_task(store.append(session, [note(str(n))])) for n in range(30)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        there = {event.key for event in await store.read(session)}
        assert there >= {f"notice:{n}" for n in range(1, 30, 2)}
        assert await store.damage() == []

    async def test_a_large_event_is_kept_and_a_huge_one_refused(self, store: Store, session: SessionId) -> None:
        appended(await store.append(session, [note("1", "x" * 4_000_000)]))
        with pytest.raises(BadDraft):
            await store.append(session, [note("2", "x" * (16 * 1024 * 1024))])
        assert len(dumps(dict((await store.read(session))[1].data))) > 4_000_000
