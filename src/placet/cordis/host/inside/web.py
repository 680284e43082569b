"""HTTP from inside the half's own process, so that it reaches what the half's sandbox reaches and nothing else."""

from __future__ import annotations

import asyncio
import json as codec
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from .failures import ServiceError

if TYPE_CHECKING:
    from .line import Line

LARGEST = 2 << 20
LONGEST = 30.0
"""Bytes of an answer at most, and seconds for all of it."""
_REDIRECTS = 5


class Web:
    """GET and POST over http and https."""

    def __init__(self, line: Line, threads: ThreadPoolExecutor) -> None:
        self._line, self._threads = line, threads

    async def get(self, url: str, *, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return `status`, `headers`, `text` and `url` of the answer, whatever its status is."""
        return await self._fetch("GET", url, headers, None)

    async def post(
        self, url: str, *, json: Any = None, text: str | None = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Send JSON or a text, and return the answer as `get` does."""
        if json is not None and text is not None:
            raise TypeError("give ctx.web.post either json or text")
        body = b"" if text is None else text.encode()
        sent = dict(headers or {})
        if json is not None:
            body = codec.dumps(json).encode()
            sent.setdefault("Content-Type", "application/json")
        return await self._fetch("POST", url, sent, body)

    async def _fetch(
        self, method: str, url: str, headers: Mapping[str, str] | None, body: bytes | None
    ) -> dict[str, Any]:
        if not url.startswith(("http://", "https://")):
            raise ServiceError("bad-url", f"{url[:200]!r} is no http:// or https:// address")
        sent = {} if body is None else {"bytes": len(body)}
        await self._line.call(f"web.{method.lower()}", {"url": url[:2_000], **sent})
        call: Callable[[], dict[str, Any]] = lambda: _blocking(method, url, dict(headers or {}), body)  # noqa: E731
        try:
            return await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(self._threads, call), LONGEST)
        except TimeoutError:
            raise ServiceError("timeout", f"{url[:200]} did not answer within {LONGEST:.0f} seconds") from None


def _blocking(method: str, url: str, headers: dict[str, str], body: bytes | None) -> dict[str, Any]:
    from urllib import error, request

    opener = request.OpenerDirector()
    handlers: tuple[Any, ...] = (
        request.ProxyHandler,
        request.HTTPHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPErrorProcessor,
        request.HTTPRedirectHandler,
        request.UnknownHandler,
        *((request.HTTPSHandler,) if hasattr(request, "HTTPSHandler") else ()),
    )
    for handler in handlers:
        opener.add_handler(handler())
    headers.setdefault("User-Agent", "placet-plugin")
    try:
        with opener.open(request.Request(url, body, headers, method=method), timeout=LONGEST) as answer:
            return _read(answer)
    except error.HTTPError as answer:
        with answer:
            return _read(answer)
    except (OSError, ValueError) as failure:
        reason = getattr(failure, "reason", failure)
        raise ServiceError("unreachable", f"{url[:200]} could not be fetched: {reason}") from None


def _read(answer: Any) -> dict[str, Any]:
    data = answer.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ServiceError("too-large", f"the answer has more than {LARGEST} bytes")
    charset = answer.headers.get_content_charset() or "utf-8"
    try:
        text = data.decode(charset, "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return {"status": answer.status, "url": answer.url, "headers": headers, "text": text}
