"""The linked pages: a fold of the house log from `page/linked` and `page/revoked` to the keys that count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

from placet.session.event import Draft, Event
from placet.session.ids import HOUSE
from placet.web.security.counters import Counters
from placet.web.security.signature import POINT, from_b64url, key_id, public_key

TYPES = frozenset({"page/linked", "page/revoked"})


@dataclass(slots=True)
class PageKey:
    """A linked page: its public key, what it is called, and the counters that it used since this start."""

    id: str
    key: EllipticCurvePublicKey
    label: str
    account: str
    linked_at: int
    counters: Counters = field(default_factory=Counters)


class Keyring:
    """The keys of the linked pages, by key id."""

    def __init__(self) -> None:
        self._keys: dict[str, PageKey] = {}

    def get(self, key: str) -> PageKey | None:
        """Return the linked page of that key id, None if it is unknown or revoked."""
        return self._keys.get(key)

    def all(self) -> list[PageKey]:
        """Return the linked pages that count, the one that was linked last first."""
        return sorted(self._keys.values(), key=lambda page: -page.linked_at)

    def step(self, event: Event) -> None:
        """Take one event of the store into account; those of other logs and types change nothing."""
        if event.session != HOUSE or event.type not in TYPES:
            return
        if event.type == "page/revoked":
            self._keys.pop(event.data["keyId"], None)
        elif (page := _page(event)) is not None and page.id not in self._keys:
            self._keys[page.id] = page


def _page(event: Event) -> PageKey | None:
    data = event.data
    point = from_b64url(data["publicKey"], length=POINT)
    key = public_key(point) if point is not None else None
    if point is None or key is None or key_id(point) != data["keyId"]:
        return None  # a line that placet cannot have written gives nobody a right
    return PageKey(data["keyId"], key, data["label"], data["account"], event.time)


def linked_key(key: str) -> str:
    """Return the key of the event that links a page."""
    return f"page:{key}"


def linked(key: str, point_text: str, label: str, account: str) -> Draft:
    """Return the event that links a page."""
    data = {"keyId": key, "publicKey": point_text, "label": label, "account": account}
    return Draft("page/linked", data, linked_key(key))


def revoked(key: str, by: Mapping[str, Any]) -> Draft:
    """Return the event that ends a linked page."""
    return Draft("page/revoked", {"keyId": key, "by": dict(by)}, f"page-revoked:{key}")
