"""From a catalogue to what an agent reads: a short directory without a key, one whole contract with it (N4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from pydantic import BaseModel, ConfigDict, Field

from placet.cordis.inspect.catalogue import Catalogue, Entry, catalogue
from placet.cordis.inspect.provider import Method, Platform, Provider, UnknownKey
from placet.session.ids import SessionId

Entries = Mapping[str, Entry]
More = Callable[[SessionId], Awaitable[Entries]]


class Asked(BaseModel):
    """The input of a method that wants nothing; and the rules of all others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ServiceKey(Asked):
    """Which service."""

    service: str | None = Field(None, description="The exact key of a service; all in short if left out.")


class EventKey(Asked):
    """Which event."""

    event: str | None = Field(None, description="The exact key of an event; all in short if left out.")


class BuiltinKey(Asked):
    """Which builtin."""

    builtin: str | None = Field(None, description="The exact key of a builtin; all in short if left out.")


class Row(BaseModel):
    """One line of a directory."""

    key: str
    summary: str


class Directory(BaseModel):
    """Without a key `mode` is "catalog" and `entries` are there; with one, the contract and the types that it names."""

    mode: str
    entries: list[Row] | None = None
    key: str | None = None
    summary: str | None = None
    contract: str | None = None
    types: dict[str, str] | None = None
    example: str | None = None


def found(what: str, key: str, entry: Entry, types: dict[str, str]) -> Directory:
    """Return everything about one entry."""
    return Directory(
        mode=what, key=key, summary=entry.summary, contract=entry.contract, types=types, example=entry.example
    )


def services(platform: Platform, more: More | None = None) -> Provider:
    """The services of a side; `more` adds those that plugins of the session provide."""
    return _provider(platform, "service", ServiceKey, lambda book: book.services, more)


def events(platform: Platform) -> Provider:
    """The events that a half can listen to. What drives plugins (`cordis/*`) is not among them (N5)."""
    return _provider(platform, "event", EventKey, lambda book: book.events)


def builtins(platform: Platform) -> Provider:
    """The names that are there without asking for them."""
    return _provider(platform, "builtin", BuiltinKey, lambda book: book.builtins)


def _provider(
    platform: Platform, what: str, asks: type[Asked], of: Callable[[Catalogue], Entries], more: More | None = None
) -> Provider:
    async def look(asked: BaseModel, session: SessionId) -> Directory:
        book = catalogue(platform)
        entries = {**of(book), **(await more(session) if more is not None else {})}
        key: str | None = getattr(asked, what)
        if key is None:
            rows = [Row(key=name, summary=entry.summary) for name, entry in entries.items()]
            return Directory(mode="catalog", entries=rows)
        if key not in entries:
            known = ", ".join(entries) or "none"
            raise UnknownKey(f"there is no {what} called {key!r} on the {platform} side; there are: {known}")
        return found(what, key, entries[key], book.types_of(entries[key]))

    name = what.capitalize()
    words = f"All {what}s of the {platform} side in short; with `{what}` the whole contract of one."
    method = f"list{name}" if what == "service" else f"list{name}s"
    return Provider(
        platform,
        name,
        f"The {what}s that the {platform} half of a plugin can use.",
        (Method(method, words, asks, Directory, look),),
    )
