"""Every route declares its right; without credentials, or with wrong ones, none of them says or does anything."""

from __future__ import annotations

import pytest
from fastapi import FastAPI

from placet.session.ids import HOUSE
from placet.testing.page_key import PageKey
from placet.web.app import routed
from placet.web.errors import UnlistedRoute
from placet.web.rights import BOTH, Channel, Needs, Right, Row, needs, table
from tests.web.rig import House

pytestmark = pytest.mark.anyio

PAGE, SOCKET = frozenset({Channel.PAGE}), frozenset({Channel.SOCKET})

TABLE = {
    ("GET", "/healthz"): Needs(Right.OPEN),
    ("GET", "/{path:path}"): Needs(Right.OPEN, PAGE),
    ("GET", "/half-frame"): Needs(Right.OPEN, PAGE),
    ("POST", "/api/link"): Needs(Right.OPEN, PAGE),
    ("POST", "/api/links"): Needs(Right.ADMINISTER, SOCKET),
    ("GET", "/api/pages"): Needs(Right.READ),
    ("POST", "/api/pages/{key_id}/revoke"): Needs(Right.ADMINISTER),
    ("GET", "/openapi.json"): Needs(Right.READ),
    ("GET", "/api/config"): Needs(Right.READ),
    ("GET", "/api/stream"): Needs(Right.READ),
    ("GET", "/api/sessions"): Needs(Right.READ),
    ("GET", "/api/sessions/{id}"): Needs(Right.READ),
    ("GET", "/api/sessions/{id}/events"): Needs(Right.READ),
    ("GET", "/api/asks"): Needs(Right.READ),
    ("GET", "/api/asks/{id}"): Needs(Right.READ),
    ("POST", "/api/sessions/{id}/messages"): Needs(Right.SEND),
    ("POST", "/api/sessions/{id}/stop"): Needs(Right.SEND),
    ("POST", "/api/sessions/{id}/move-away"): Needs(Right.SEND),
    ("PATCH", "/api/sessions/{id}"): Needs(Right.SEND),
    ("DELETE", "/api/sessions/{id}"): Needs(Right.ADMINISTER),
    ("GET", "/api/sessions/{id}/jobs/{job}/output"): Needs(Right.READ),
    ("POST", "/api/sessions/{id}/jobs/{job}/kill"): Needs(Right.SEND),
    ("GET", "/api/plugins"): Needs(Right.READ),
    ("GET", "/api/plugins/{id}/packages/{package}"): Needs(Right.READ),
    ("GET", "/api/plugins/{id}/runs/{run}/source"): Needs(Right.READ, PAGE),
    ("GET", "/api/consents"): Needs(Right.READ),
    ("GET", "/api/consents/{run}"): Needs(Right.READ),
    ("POST", "/api/plugins/{id}/decline"): Needs(Right.SEND),
    ("POST", "/api/plugins/{id}/stop"): Needs(Right.SEND),
    ("POST", "/api/plugins/{id}/undefine"): Needs(Right.SEND),
    ("POST", "/api/plugins/{id}/revoke"): Needs(Right.SEND),
    ("POST", "/api/plugins/{id}/verdict"): Needs(Right.SEND, PAGE),
    ("POST", "/api/plugins/{id}/failure"): Needs(Right.SEND, PAGE),
    ("POST", "/api/plugins/{id}/invoke"): Needs(Right.SEND, PAGE),
    # attack 5: whatever widens counts as answering
    ("POST", "/api/sessions"): Needs(Right.ANSWER),
    ("POST", "/api/sessions/{id}/model"): Needs(Right.ANSWER),
    ("POST", "/api/sessions/{id}/permission"): Needs(Right.ANSWER, BOTH, Right.SEND),
    ("POST", "/api/asks/{id}/decision"): Needs(Right.ANSWER, BOTH, Right.SEND),
    ("POST", "/api/plugins/{id}/run"): Needs(Right.ANSWER),
    ("POST", "/api/plugins/{id}/consent"): Needs(Right.ANSWER, PAGE),
}

ROWS = table(routed())
CLOSED = [row for row in ROWS if row.needs.right is not Right.OPEN]


def test_attack_5_the_table_of_verbs_rights_and_channels_is_this_one() -> None:
    assert {(row.verb, row.path): row.needs for row in ROWS} == TABLE


def test_an_unlisted_route_keeps_the_app_from_being_made() -> None:
    app = routed()
    app.add_api_route("/api/backdoor", lambda: "open", methods=["POST"])
    with pytest.raises(UnlistedRoute, match="POST /api/backdoor"):
        table(app)


@pytest.mark.parametrize("add", ["mount", "starlette route", "two rights"])
def test_what_is_no_plain_route_with_one_right_counts_as_unlisted(add: str) -> None:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    if add == "mount":
        app.mount("/files", FastAPI())
    elif add == "starlette route":
        app.add_route("/plain", lambda request: None)  # type: ignore[arg-type, return-value]
    else:
        both = [needs(Right.READ), needs(Right.SEND)]
        app.add_api_route("/both", lambda: "", dependencies=both)
    with pytest.raises(UnlistedRoute):
        table(app)


def target(row: Row) -> str:
    return row.path.replace("{id}", "s-1").replace("{key_id}", "0" * 32)


@pytest.mark.parametrize("row", CLOSED, ids=lambda row: f"{row.verb} {row.path}")
async def test_sec_11_no_route_answers_without_or_with_wrong_credentials(shared: House, row: Row) -> None:
    key, instance, path = PageKey(), shared.serving.desk.instance, target(row)
    before = await shared.store.head()
    tries = {
        "none": ({}, path),
        "unknown key": (key.headers(row.verb, path, b"{}", instance), path),
        "key id only": ({"Placet-Key": key.id}, path),
        "in the query": ({}, f"{path}?key={key.id}&token=owner"),
        "bearer": ({"Authorization": "Bearer owner"}, path),
        "cookie": ({"Cookie": f"placet={key.id}"}, path),
    }
    async with shared.stranger(Content_Type="application/json") as client:
        for name, (headers, where) in tries.items():
            body = b"" if row.verb == "GET" else b"{}"
            answer = await client.request(row.verb, where, content=body, headers=headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not-linked"), name
            assert set(answer.json()) == {"error"}
    assert await shared.store.head() == before


@pytest.mark.parametrize("verb", ["OPTIONS", "HEAD", "PUT", "TRACE", "DELETE", "GET", "POST", "PATCH"])
async def test_sec_11_nothing_below_the_api_is_open_by_another_verb_or_path(shared: House, verb: str) -> None:
    paths = ["/api", "/api/", "/api/sessions", "/api/docs", "/api/%73essions", "/API/sessions", "//api/sessions"]
    paths += ["/docs", "/redoc", "/metrics", "/openapi.json", "/.env", "/api/../api/sessions", "/api/link/"]
    async with shared.stranger(Content_Type="application/json") as client:
        for path in paths:
            answer = await client.request(verb, path, content=b"{}" if verb not in ("GET", "HEAD", "OPTIONS") else b"")
            assert answer.status_code in (400, 401, 403, 404, 405), (verb, path)


async def test_sec_11_reading_the_house_log_needs_more_than_its_name(shared: House) -> None:
    async with shared.page() as page:
        answer = await page.get(f"/api/sessions/{HOUSE}")
        events = await page.get(f"/api/sessions/{HOUSE}/events")
    assert answer.status_code == events.status_code == 404
