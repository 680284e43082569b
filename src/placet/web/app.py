"""The app that the TCP port and the Unix socket both serve: every route, behind the one guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from starlette.types import ASGIApp

from placet import __version__
from placet.web import replies, rights
from placet.web.desk import Desk, Said
from placet.web.rights import Right, needs
from placet.web.routes import (
    asks,
    browsers,
    configuration,
    consents,
    gestures,
    health,
    jobs,
    link,
    page,
    plugins,
    sessions,
    stream,
)
from placet.web.security.guard import Guard, OpenDoors
from placet.web.services import Services
from placet.web.wire import ErrorBody, Hello, TextDelta, WireEvent

_REFERENCE = "#/components/schemas/"
_NOES = {
    400: "The request cannot be read",
    401: "Not signed by a linked page",
    403: "Not from there, or not without the right",
    404: "There is no such thing",
    409: "The state is another one; `other-instance` after a restart",
    413: "The body is too large",
    415: "The body is not application/json",
    422: "A value that is not taken here",
    429: "Too many at once",
    503: "Not recorded; it may be sent again",
}


def _refusals() -> dict[int | str, dict[str, Any]]:
    """Say of each no what it means; by reference, as a model each of them would be made anew for every route."""
    body = {"application/json": {"schema": {"$ref": _REFERENCE + ErrorBody.__name__}}}
    return {status: {"description": words, "content": body} for status, words in _NOES.items()}


document_router = APIRouter(include_in_schema=False)


@document_router.get("/openapi.json", dependencies=[needs(Right.READ)])
async def document(request: Request) -> replies.Json:
    """Return the description of this API."""
    return replies.Json(request.app.openapi())


class PlacetApp(FastAPI):
    """FastAPI with the guard outside of everything, its error pages included."""

    guard: Callable[[ASGIApp], ASGIApp] | None = None

    def build_middleware_stack(self) -> ASGIApp:
        """Return the app behind the guard; without one nothing is served."""
        assert self.guard is not None, "an app without a guard serves nobody"
        return self.guard(super().build_middleware_stack())

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, the frames of the stream included."""
        if self.openapi_schema is None:
            made = get_openapi(title=self.title, version=self.version, summary=self.summary, routes=self.routes)
            schemas: dict[str, Any] = made["components"]["schemas"]
            refused = ErrorBody.model_json_schema(ref_template=_REFERENCE + "{model}")
            schemas |= {**refused.pop("$defs"), ErrorBody.__name__: refused}
            schemas |= {
                frame.__name__: frame.model_json_schema(by_alias=True) for frame in (Hello, TextDelta, WireEvent)
            }
            self.openapi_schema = made
        return self.openapi_schema


def create_app(services: Services, *, say: Callable[[Said], None] = lambda said: None) -> PlacetApp:
    """Return the app over these services; `app.state.desk` has to be open while it serves.

    Raises UnlistedRoute when a route declares no right, PageDamaged when the built page is not the built one.
    """
    app = routed()
    desk = app.state.desk = Desk(services, say=say)
    names = services.installation.host_names
    app.guard = lambda inner: Guard(inner, callers=desk.callers, host_names=names, doors=OpenDoors())
    return app


def routed() -> PlacetApp:
    """Return the app with its routes only: enough for its document and its table of rights."""
    app = PlacetApp(
        title="placet",
        version=__version__,
        summary="A person's decisions about what an agent does.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=_refusals(),
        default_response_class=replies.Json,
    )
    replies.install(app)
    told = (health, link, browsers, configuration, sessions, gestures, jobs, asks, plugins, consents, stream)
    for router in told:
        app.include_router(router.router)
    app.include_router(document_router)
    app.include_router(page.router)
    rights.table(app)
    return app


def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI document without a running server."""
    return routed().openapi()
