"""How a no is said: always the same JSON body, never more than the sender may know."""

from __future__ import annotations

import json
import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from placet.session.errors import (
    StoreDamaged,
    StoreError,
    StoreFormat,
    StoreFull,
    StoreLocked,
    StoreRemoved,
    UnknownEvent,
    UnknownSession,
)
from placet.web.errors import ApiError, BadRequest, Damaged, JobsRunning, NotFound, NotRecorded, Unacceptable
from placet.web.views import damage

logger = logging.getLogger(__name__)


class Json(JSONResponse):
    """JSON in ASCII, so that a text with a lone surrogate, which a log may hold, travels as it is."""

    def render(self, content: Any) -> bytes:
        """Return the bytes."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def refusal(no: ApiError) -> Json:
    """Return the response that says this no."""
    problem: dict[str, Any] = {"code": no.code, "message": no.message, "hint": no.hint}
    if isinstance(no, JobsRunning):
        problem["jobs"] = [job.model_dump() for job in no.jobs]
    return Json({"error": problem}, status_code=no.status)


def install(app: FastAPI) -> None:
    """Make every error of the app come out as `ErrorBody`."""
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(StoreError, _store)
    app.add_exception_handler(UnknownSession, _unknown_session)
    app.add_exception_handler(UnknownEvent, _unknown_event)
    app.add_exception_handler(Exception, _unexpected)


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return refusal(error)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return refusal(
            BadRequest(f"the body is not JSON: {first.get('ctx', {}).get('error', 'unreadable')}", code="bad-json")
        )
    place = ".".join(str(part) for part in first["loc"][1:]) or "the body"
    said = "not valid Unicode text" if first["type"] == "string_unicode" else first["msg"]
    return refusal(Unacceptable(f"{_printable(place)}: {_printable(said)}"))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    names = {400: "bad-json", 404: "not-found", 405: "wrong-method"}
    no = ApiError(str(error.detail), code=names.get(error.status_code, "bad-request"))
    response = refusal(no)
    response.status_code = error.status_code
    response.headers.update(error.headers or {})
    return response


async def _store(request: Request, error: Exception) -> Response:
    assert isinstance(error, StoreError)
    logger.error("the store failed: %s", error)
    if isinstance(error, StoreDamaged):
        return refusal(Damaged(damage.said(error), hint=damage.hint(error)))
    why, hint = _trouble(error)
    fate = "not read" if request.method == "GET" else "not recorded"
    return refusal(NotRecorded(f"{fate}: {why}", hint=hint))


def _trouble(error: StoreError) -> tuple[str, str]:
    """Return what is the matter with the store, and what to do; names no path."""
    match error:
        case StoreFull():
            return "the disk that holds the log is full", "Free some space on it, then try again."
        case StoreLocked():
            return "another program has held the log for too long", "End that program, or wait for it, then try again."
        case StoreRemoved():
            return "the file of the log was removed or replaced", "Stop placet, put it back, then start again."
        case StoreFormat():
            return "the log has a format that this placet does not know", "The terminal of placet says more."
        case _:
            return "the log did not answer", "Try again; the terminal of placet says more."


async def _unknown_session(request: Request, error: Exception) -> Response:
    return refusal(NotFound("there is no such session", code="unknown-session"))


async def _unknown_event(request: Request, error: Exception) -> Response:
    return refusal(NotRecorded(str(error), code="newer-log"))


async def _unexpected(request: Request, error: Exception) -> Response:
    logger.error("something broke while %s was asked", request.scope["method"], exc_info=error)
    return refusal(_Broken("something broke inside placet", hint="The terminal of placet says more."))


class _Broken(ApiError):
    """The installation's fault, and nobody expected it."""

    status = 500
    code = "broken"


def _printable(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()[:200]
