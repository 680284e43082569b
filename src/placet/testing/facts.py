"""Small facts and small answers for tests that need a log: a session, a note, an event under any key."""

from __future__ import annotations

from typing import Any

from placet.session import Appended, Draft, Event, Refused, SessionId, Store, new_id

BY = {"kind": "person", "name": "owner", "channel": "page"}


def created(cwd: str = "/somewhere") -> Draft:
    """The first event of a session."""
    data = {"v": 1, "cwd": cwd, "cwdId": "1:2", "title": None, "gitRoots": [], "by": BY}
    return Draft("session/created", data, "created")


def note(key: str, text: str = "a line") -> Draft:
    """An event that means nothing to any protocol, under the key `notice:KEY`."""
    return Draft("notice", {"level": "info", "code": "test", "text": text}, f"notice:{key}")


def fact(key: str, **data: Any) -> Draft:
    """An event of a type that no table knows, under any key; it may be skipped by who reads the log."""
    return Draft("test/fact", {"ignorable": True, **data}, key)


async def new_session(store: Store) -> SessionId:
    """A session that holds its first event."""
    session = SessionId(new_id("s"))
    assert isinstance(await store.append(session, [created()]), Appended)
    return session


def appended(answer: Appended | Refused) -> tuple[Event, ...]:
    """The events of an append that has to succeed."""
    assert isinstance(answer, Appended), answer
    return answer.events


def refused(answer: Appended | Refused) -> Refused:
    """The refusal of an append that has to be refused."""
    assert isinstance(answer, Refused), answer
    return answer


def yes(holder: str) -> bool:
    """Every holder is alive."""
    return True


def no(holder: str) -> bool:
    """No holder is alive."""
    return False
