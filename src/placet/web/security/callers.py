"""From a request to its sender: a signature of a linked page, or the checked process at the other end of the socket."""

from __future__ import annotations

from typing import Protocol

from starlette.datastructures import Headers
from starlette.types import Scope

from placet.web.errors import BadSignature, Conflict, Forbidden, NotLinked
from placet.web.rights import OWNER, Channel
from placet.web.security.caller import Caller
from placet.web.security.keyring import Keyring
from placet.web.security.signature import request_text, signed_by
from placet.web.services import Installation

COUNTER_DIGITS = 16


class Peer(Protocol):
    """What the socket's check found out about a connection."""

    @property
    def refused(self) -> str | None:
        """Why the process may not speak to placet, None if it may."""
        ...

    @property
    def evidence(self) -> str: ...
    def alive(self) -> bool: ...


class Callers:
    """Knows the linked pages and this server's instance; every request gets its sender here or is refused."""

    def __init__(self, keyring: Keyring, *, instance: str, installation: Installation) -> None:
        self._keyring = keyring
        self._instance = instance
        self._person = installation.person
        self._account = installation.account
        # Landlock cannot hide the browser's profile from commands, and the key lies in it (attack 3)
        readable = installation.sandbox.get("chosen") == "landlock"
        self._page_strength = "page-key (profile readable)" if readable else "page-key"

    def from_page(self, scope: Scope, headers: Headers, body: bytes) -> Caller:
        """Return the linked page that signed the request.

        Raises NotLinked without a known key, Conflict for another server instance, BadSignature for the rest.
        """
        page = self._keyring.get(headers.get("placet-key", ""))
        if page is None:
            raise NotLinked("this browser is not linked with placet", hint="Run `placet link` in a terminal.")
        if headers.get("placet-instance") != self._instance:
            raise Conflict(
                "placet was started again", code="other-instance", hint="Ask /healthz for proof, then send again."
            )
        counter = _counter(headers.get("placet-counter", ""))
        text = request_text(scope["method"], target(scope), body, self._instance, counter)
        if not signed_by(page.key, headers.get("placet-signature", ""), text):
            raise BadSignature("the signature does not cover this request")
        if not page.counters.take(counter):
            raise BadSignature("the counter of this request was used before", code="bad-signature")
        return Caller(
            channel=Channel.PAGE,
            rights=OWNER,
            name=self._person,
            key_id=page.id,
            evidence=f"page-key:{page.id}",
            strength=self._page_strength,
            addresses=ends(scope),
        )

    def from_socket(self, peer: Peer) -> Caller:
        """Return the person at a terminal. Raises Forbidden for a process that may not speak to placet, or is gone."""
        if peer.refused is not None:
            raise Forbidden(peer.refused, code="peer-refused", hint="Run this from a terminal of your own.")
        if not peer.alive():
            raise Forbidden("the process that asked is gone", code="peer-refused")
        return Caller(
            channel=Channel.SOCKET,
            rights=OWNER,
            name=self._person,
            account=self._account,
            evidence=peer.evidence,
            strength="peer-process",
        )


def target(scope: Scope) -> str:
    """Return path and query as they stood in the request line."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope.get("query_string", b"")
    return (path + (b"?" + query if query else b"")).decode("latin-1")


def _counter(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= COUNTER_DIGITS) or text.startswith("0"):
        raise BadSignature("the counter of this request is no counter")
    return int(text)


def ends(scope: Scope) -> tuple[tuple[str, int], tuple[str, int]] | None:
    """Return the two ends of a TCP connection, the client's first."""
    client, server = scope.get("client"), scope.get("server")
    if not client or not server or server[1] is None:
        return None
    return (client[0], client[1]), (server[0], server[1])
