"""The one place that every request passes: where it comes from, what it carries, who signed it.

Pure ASGI around the whole app. What is not let through here never reaches a route, and the answer says no more than
why.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from placet.web.errors import ApiError, BadRequest, Forbidden, TooLarge, WrongType
from placet.web.replies import refusal
from placet.web.rights import Channel
from placet.web.security.caller import Caller
from placet.web.security.callers import Callers, ends
from placet.web.security.headers import harden

MAX_BODY = 1 << 20
WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class OpenDoors:
    """What may be asked without a signature: exact paths, and all that is not the API (the page's files)."""

    signed_prefixes: tuple[str, ...] = ("/api/", "/openapi.json")
    unsigned: frozenset[tuple[str, str]] = frozenset({("POST", "/api/link")})

    def needs_signature(self, method: str, path: str) -> bool:
        """Return whether only a linked page may ask this."""
        return path.startswith(self.signed_prefixes) and (method, path) not in self.unsigned


class Guard:
    """Refuses foreign hosts, origins, content types, sizes and senders; adds the headers that every answer carries."""

    def __init__(self, app: ASGIApp, *, callers: Callers, host_names: Collection[str], doors: OpenDoors) -> None:
        self._app = app
        self._callers = callers
        self._host_names = frozenset((*LOOPBACK, *host_names))
        self._doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # no web sockets; the lifespan is not used
            return
        sender = _hardening(send, scope["path"])
        try:
            body = await self._admit(scope, receive)
        except ApiError as no:
            await refusal(no)(scope, receive, sender)
            return
        await self._app(scope, _replay(body, receive), sender)

    async def _admit(self, scope: Scope, receive: Receive) -> bytes:
        headers = Headers(scope=scope)
        state = scope.setdefault("state", {})
        peer = state.get("peer")
        if peer is None:
            self._check_origin(scope, headers)
        else:
            _check_no_browser(headers)
        body = await _body(scope, headers, receive)
        state["caller"] = self._caller(scope, headers, body)
        return body

    def _caller(self, scope: Scope, headers: Headers, body: bytes) -> Caller:
        peer = scope["state"].get("peer")
        if peer is not None:
            return self._callers.from_socket(peer)
        if self._doors.needs_signature(scope["method"], scope["path"]):
            return self._callers.from_page(scope, headers, body)
        return Caller(Channel.PAGE, addresses=ends(scope))

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        host = _only(headers, "host")
        names = {f"{name}:{scope['server'][1]}" for name in self._host_names}
        if host not in names:
            raise Forbidden(
                "this name is not served here", code="wrong-host", hint="Open the address that placet printed."
            )
        origin = _only(headers, "origin")
        if origin is not None and origin != f"http://{host}":
            raise Forbidden("another site may not ask this", code="wrong-origin")
        if not _site_is_fine(scope, headers, api=scope["path"].startswith(self._doors.signed_prefixes)):
            raise Forbidden("only placet's own page may ask this", code="wrong-site")


def _site_is_fine(scope: Scope, headers: Headers, *, api: bool) -> bool:
    site = _only(headers, "sec-fetch-site")
    if api:
        return site == "same-origin"
    if site in (None, "none", "same-origin"):
        return True
    # a link in a mail or the redirect file leads here: an empty shell in a window of its own, never in a frame
    navigates = _only(headers, "sec-fetch-mode") == "navigate" and _only(headers, "sec-fetch-dest") == "document"
    return navigates and scope["method"] == "GET"


def _check_no_browser(headers: Headers) -> None:
    if "origin" in headers or "sec-fetch-site" in headers:
        raise Forbidden("a browser may not use the socket", code="wrong-channel")


def _only(headers: Headers, name: str) -> str | None:
    values = headers.getlist(name)
    if len(values) > 1:
        raise BadRequest(f"the header {name} came more than once")
    return values[0] if values else None


async def _body(scope: Scope, headers: Headers, receive: Receive) -> bytes:
    declared = _only(headers, "content-length")
    if declared is not None and declared.isdecimal() and int(declared) > MAX_BODY:
        raise TooLarge(f"a body may have {MAX_BODY} bytes")
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadRequest("the request ended in its middle")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MAX_BODY:
            raise TooLarge(f"a body may have {MAX_BODY} bytes")
    _check_type(scope, headers, empty=not body)
    return bytes(body)


def _check_type(scope: Scope, headers: Headers, *, empty: bool) -> None:
    if scope["method"] not in WITH_BODY:
        if not empty:
            raise BadRequest(f"{scope['method']} takes no body")
        return
    kind, _, rest = (_only(headers, "content-type") or "").partition(";")
    plain = rest.strip().lower().replace('"', "") in ("", "charset=utf-8")
    if (kind.strip().lower() != "application/json" or not plain) and not (empty and scope["method"] == "DELETE"):
        raise WrongType("the body must be application/json")


def _replay(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again


def _hardening(send: Send, path: str) -> Send:
    async def hardened(message: Message) -> None:
        if message["type"] == "http.response.start":
            harden(MutableHeaders(scope=message), path)
        await send(message)

    return hardened
