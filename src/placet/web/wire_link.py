"""The JSON shapes of signing browsers in and out."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from placet.web.wire import Line, Wire


class LinkRequest(Wire):
    """One of secret and code, and the page's public key (raw P-256 point, base64url)."""

    secret: Annotated[str, StringConstraints(max_length=128)] | None = None
    code: Annotated[str, StringConstraints(max_length=32)] | None = None
    public_key: Annotated[str, StringConstraints(min_length=80, max_length=96)]
    label: Line = ""


class Linked(Wire):
    key_id: str
    server_key: str
    instance: str


class LinkedBrowser(Wire):
    """A browser that is signed in; `current` is the one that asks."""

    key_id: str
    label: str
    account: str
    linked_at: int
    current: bool


class Browsers(Wire):
    pages: list[LinkedBrowser]


class NewLink(Wire):
    url: str
    code: str
    expires_at: int
