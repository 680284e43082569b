"""A linked page without a browser: a key, the link, and requests signed as the page signs them."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from placet.web.security.signature import b64url, key_id, request_text, sign

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody. For clients that speak plain HTTP: reading the machine's authorities takes 30 ms for each client."""


class PageKey:
    """A page's key pair and its counter."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        encoding, form = serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        self.point = self._key.public_key().public_bytes(encoding, form)
        self._counter = 0

    @property
    def id(self) -> str:
        """The key id."""
        return key_id(self.point)

    @property
    def public(self) -> str:
        """The public half as it is sent with the link."""
        return b64url(self.point)

    def next_counter(self) -> int:
        """Return a number that was not used before."""
        self._counter = max(self._counter + 1, time.time_ns() // 1000)
        return self._counter

    def headers(
        self, method: str, target: str, body: bytes, instance: str, *, counter: int | None = None
    ) -> dict[str, str]:
        """Return the headers that sign a request; `target` is the path with its query."""
        number = self.next_counter() if counter is None else counter
        text = request_text(method, target, body, instance, number)
        return {
            "Placet-Key": self.id,
            "Placet-Instance": instance,
            "Placet-Counter": str(number),
            "Placet-Signature": b64url(sign(self._key, text)),
        }


@dataclass(slots=True)
class Frame:
    """One frame of the stream."""

    event: str
    data: dict[str, Any]
    id: str | None


class SigningAuth(httpx.Auth):
    """Signs every request of an httpx client for a server instance."""

    requires_request_body = True

    def __init__(self, key: PageKey, instance: str) -> None:
        self.key = key
        self.instance = instance

    def auth_flow(self, request: httpx.Request) -> Any:
        """Add the signature."""
        target = request.url.raw_path.decode("ascii")
        request.headers.update(self.key.headers(request.method, target, request.content, self.instance))
        yield request


class LinkedPage:
    """A page that is linked with a running server. Use `LinkedPage.link`."""

    def __init__(self, client: httpx.AsyncClient, key: PageKey, instance: str) -> None:
        self.client = client
        self.key = key
        self.instance = instance

    @classmethod
    @asynccontextmanager
    async def link(
        cls, url: str, secret: str, *, label: str = "a test", key: PageKey | None = None
    ) -> AsyncIterator[LinkedPage]:
        """Redeem the secret of a link at the server's address and yield the page."""
        key = key or PageKey()
        headers = {"Sec-Fetch-Site": "same-origin", "Origin": url.rstrip("/")}
        settings: dict[str, Any] = {"headers": headers, "timeout": 30, "trust_env": False, "verify": PLAIN}
        async with httpx.AsyncClient(base_url=url, **settings) as client:
            answer = await client.post("/api/link", json={"secret": secret, "publicKey": key.public, "label": label})
            answer.raise_for_status()
            client.auth = SigningAuth(key, answer.json()["instance"])
            yield cls(client, key, answer.json()["instance"])

    async def get(self, path: str, **query: Any) -> httpx.Response:
        """Read."""
        return await self.client.get(path, params=query or None)

    async def post(self, path: str, body: Any) -> httpx.Response:
        """Send."""
        return await self.client.post(path, json=body)

    async def frames(self, after: str | None = None) -> AsyncIterator[Frame]:
        """Follow the stream."""
        params = None if after is None else {"after": after}
        async with self.client.stream("GET", "/api/stream", params=params, timeout=60) as response:
            response.raise_for_status()
            async for frame in parse(response):
                yield frame


async def parse(response: httpx.Response) -> AsyncIterator[Frame]:
    """Yield the frames of a server-sent-event stream; comments are left out."""
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            if "data" in fields:
                yield Frame(fields["event"], json.loads(fields["data"]), fields.get("id"))
            fields = {}
