"""The document says what the API does: made from the routes, and every answer that a fuzzer gets is in it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from placet.testing.page_key import PageKey
from placet.web.app import openapi_document, routed
from placet.web.rights import table
from tests.web.rig import House, running

SCHEMA = schemathesis.openapi.from_dict(openapi_document())
WANTED = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


class Running:
    """A server in a thread of its own, with a session and asks to play with."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.up, self.key = folder, threading.Event(), PageKey()
        self.thread = threading.Thread(target=anyio.run, args=(self._serve,))

    async def _serve(self) -> None:
        async with running(self.folder) as house:
            session = await house.session()
            self.ask = (await house.ask(session)).data["id"]
            package = await house.package(session, "dice-1")
            self.run = await house.request(session, "dice-1", package)
            self.session, self.url, self.instance = session, house.url, house.serving.desk.instance
            await self._link(house)
            self.stop, self.token = anyio.Event(), anyio.lowlevel.current_token()
            self.up.set()
            await self.stop.wait()

    async def _link(self, house: House) -> None:
        async with house.stranger() as client:
            body = {"secret": house.secret, "publicKey": self.key.public}
            (await client.post("/api/link", json=body)).raise_for_status()

    def end(self) -> None:
        anyio.from_thread.run_sync(self.stop.set, token=self.token)
        self.thread.join()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    server = Running(tmp_path_factory.mktemp("api"))
    server.thread.start()
    assert server.up.wait(60)
    yield server
    server.end()


@SCHEMA.exclude(path="/api/stream").parametrize()
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_a_fuzzer_that_signs_gets_only_answers_of_the_document(api: Running, case: schemathesis.Case) -> None:
    if "id" in case.path_parameters and len(str(case.path_parameters["id"])) % 2:  # every other time a real one
        kinds = {"/asks/": api.ask, "/plugins/": "dice-1"}
        case.path_parameters["id"] = next((id for part, id in kinds.items() if part in case.path), api.session)
    if "run" in case.path_parameters and len(str(case.path_parameters["run"])) % 2:
        case.path_parameters["run"] = api.run
    if "/plugins/" in case.path and isinstance(case.body, dict) and "run" in case.body and len(str(case.body)) % 2:
        case.body["run"] = api.run
    headers = {"Sec-Fetch-Site": "same-origin", "Origin": api.url.rstrip("/")}
    response = case.call(base_url=api.url.rstrip("/"), headers=headers, auth=Signed(api), timeout=30)
    case.validate_response(response, checks=WANTED)


class Signed(requests.auth.AuthBase):
    """Signs as a page does."""

    def __init__(self, api: Running) -> None:
        self.api = api

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        body = request.body or b""
        raw = body.encode() if isinstance(body, str) else body
        request.headers.update(self.api.key.headers(request.method or "", request.path_url, raw, self.api.instance))
        return request


def test_every_route_of_the_api_is_in_the_document_and_nothing_else() -> None:
    paths = openapi_document()["paths"]
    described = {(verb.upper(), path) for path, verbs in paths.items() for verb in verbs}
    own = {("GET", "/openapi.json"), ("GET", "/half-frame"), ("GET", "/{path:path}")}
    assert described == {(row.verb, row.path) for row in table(routed())} - own


def test_the_frames_of_the_stream_are_in_the_document() -> None:
    schemas = openapi_document()["components"]["schemas"]
    assert {"Hello", "WireEvent", "TextDelta"} <= set(schemas)
    assert schemas["TextDelta"]["required"] == ["session", "turn", "step", "text", "whole"]


@pytest.mark.anyio
async def test_the_document_is_for_linked_pages(shared: House) -> None:
    async with shared.page() as page:
        assert (await page.get("/openapi.json")).json() == json.loads(json.dumps(openapi_document()))
