"""One-time links: a secret for the browser and a code to type, two minutes, hashed in memory, spent by one POST."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from placet.kernel.clock import Clock

LIFE_MS = 120_000
WRONG_CODES = 50  # after so many wrong tries codes stop counting until the next link; secrets cannot be guessed

_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # nothing that is mistaken for something else


@dataclass(frozen=True, slots=True)
class Link:
    """What the person gets: never stored, never logged."""

    secret: str
    code: str
    expires_at: int


class Tried(StrEnum):
    """What came of a try to redeem."""

    GOOD = "good"
    SPENT = "link-spent"
    UNKNOWN = "link-unknown"


@dataclass(slots=True)
class _Issued:
    secret: bytes
    code: bytes
    expires_at: int
    spent: Callable[[], None]
    redeemed_by: str | None = None


class Links:
    """The links of this server that were given out and have not expired."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._issued: list[_Issued] = []
        self._wrong_codes = 0

    def issue(self, spent: Callable[[], None] = lambda: None) -> Link:
        """Make a link; it can be redeemed once within its life, and `spent` is called then."""
        self._forget_expired()
        code = "".join(secrets.choice(_LETTERS) for _ in range(10))
        link = Link(secrets.token_urlsafe(32), f"{code[:5]}-{code[5:]}", self._clock.now() + LIFE_MS)
        self._issued.append(_Issued(_hash(link.secret), _hash(_plain(link.code)), link.expires_at, spent))
        self._wrong_codes = 0
        return link

    def redeem(self, *, secret: str | None, code: str | None, key: str) -> Tried:
        """Spend a link for a page's key. The same key again is no second try (its answer was lost)."""
        self._forget_expired()
        found = self._find(secret, code)
        if found is None:
            return Tried.UNKNOWN
        if found.redeemed_by not in (None, key):
            return Tried.SPENT
        found.redeemed_by = key
        found.spent()
        return Tried.GOOD

    def give_back(self, *, key: str) -> None:
        """Undo the redeeming by a key whose registration the log did not take."""
        for issued in self._issued:
            if issued.redeemed_by == key:
                issued.redeemed_by = None

    def _find(self, secret: str | None, code: str | None) -> _Issued | None:
        if secret is not None:
            wanted = _hash(secret)
            return next((i for i in self._issued if secrets.compare_digest(i.secret, wanted)), None)
        if self._wrong_codes >= WRONG_CODES:
            return None
        wanted = _hash(_plain(code or ""))
        found = next((i for i in self._issued if secrets.compare_digest(i.code, wanted)), None)
        self._wrong_codes += found is None
        return found

    def _forget_expired(self) -> None:
        now = self._clock.now()
        self._issued = [issued for issued in self._issued if issued.expires_at > now]


def _plain(code: str) -> str:
    return "".join(c for c in code.upper() if c.isalnum())


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
