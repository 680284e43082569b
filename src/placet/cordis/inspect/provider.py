"""The port of those who tell what plugin code can use: providers with methods that only look (contract N1, N8, N11).

A method says what it takes and what it gives as pydantic models. The input is checked before the method runs, the
output before anybody reads it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ValidationError

from placet.session.ids import SessionId
from placet.tools.schema import complaints, schema


class Platform(StrEnum):
    """The side that a half runs on."""

    HOST = "host"
    CLIENT = "client"


class Reason(StrEnum):
    """Why a query has no answer."""

    PROVIDER_MISSING = "provider-missing"
    METHOD_MISSING = "method-missing"
    INVALID_INPUT = "invalid-input"
    PROVIDER_ERROR = "provider-error"


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A query that has no answer, and what to do instead."""

    reason: Reason
    message: str


class UnknownKey(Exception):
    """The agent asked for an entry that is not there; the message names those that are."""


Look = Callable[[Any, SessionId], Awaitable[BaseModel]]


@dataclass(frozen=True, slots=True)
class Method:
    """One thing to ask. `look` gets the checked input and the asking session, and raises `UnknownKey`."""

    name: str
    description: str
    input: type[BaseModel]
    output: type[BaseModel]
    look: Look


@dataclass(frozen=True, slots=True)
class Provider:
    """A subject that can be asked about, with its methods."""

    platform: Platform
    id: str
    description: str
    methods: tuple[Method, ...]


class Inspection:
    """All providers, by platform and id. Raises `ValueError` for one that could not be told apart or understood."""

    def __init__(self, providers: Iterable[Provider]) -> None:
        self._providers: dict[tuple[str, str], Provider] = {}
        for provider in providers:
            _must_be_clear(provider)
            if (provider.platform, provider.id) in self._providers:
                raise ValueError(f"there are two {provider.platform} providers called {provider.id}")
            self._providers[provider.platform, provider.id] = provider

    def manifest(self) -> list[dict[str, Any]]:
        """Return every provider with its methods and their schemas, the host's first."""
        return [
            {
                "platform": provider.platform.value,
                "id": provider.id,
                "description": provider.description,
                "methods": [
                    {
                        "name": method.name,
                        "description": method.description,
                        "inputSchema": schema(method.input),
                        "outputSchema": schema(method.output),
                    }
                    for method in provider.methods
                ],
            }
            for provider in sorted(self._providers.values(), key=lambda provider: provider.platform is Platform.CLIENT)
        ]

    async def query(
        self, platform: str, provider: str, method: str, given: Mapping[str, Any] | None, session: SessionId
    ) -> dict[str, Any] | Unanswered:
        """Ask a method; a missing input is an empty one (N8)."""
        found = self._method(platform, provider, method)
        if isinstance(found, Unanswered):
            return found
        try:
            asked = found.input.model_validate(dict(given or {}))
        except ValidationError as failure:
            where = f"{provider}.{method} does not take this input"
            return Unanswered(Reason.INVALID_INPUT, f"{where}: {complaints(failure)}")
        try:
            answer = await found.look(asked, session)
        except UnknownKey as unknown:
            return Unanswered(Reason.INVALID_INPUT, str(unknown))
        return answer.model_dump(mode="json", exclude_none=True)

    def _method(self, platform: str, provider: str, method: str) -> Method | Unanswered:
        found = self._providers.get((platform, provider))
        if found is None:
            known = ", ".join(id for side, id in self._providers if side == platform)
            message = f"there is no {platform} provider called {provider!r}; there are: {known}"
            return Unanswered(Reason.PROVIDER_MISSING, message)
        for each in found.methods:
            if each.name == method:
                return each
        known = ", ".join(each.name for each in found.methods)
        return Unanswered(Reason.METHOD_MISSING, f"{provider} has no method called {method!r}; it has: {known}")


def _must_be_clear(provider: Provider) -> None:
    """Refuse what an agent could not name or understand (N1)."""
    names = [method.name for method in provider.methods]
    if not provider.id.strip() or not all(name.strip() for name in names):
        raise ValueError("a provider and its methods need names")
    if len(set(names)) < len(names):
        raise ValueError(f"{provider.id} has two methods of one name")
    if not provider.description.strip() or not all(method.description.strip() for method in provider.methods):
        raise ValueError(f"{provider.id} and its methods need descriptions")
