"""Where requests may come from: the page's own origin, under an exact loopback name; everything else gets a no."""

from __future__ import annotations

import httpx
import pytest

from placet.testing.page_key import PLAIN
from placet.web.app import routed
from placet.web.rights import table
from placet.web.security.guard import MAX_BODY
from tests.web.rig import House, answer_to, path_of

pytestmark = pytest.mark.anyio

CHANGING = [row for row in table(routed()) if row.verb != "GET"]


async def test_every_answer_keeps_other_origins_out(shared: House) -> None:
    async with shared.stranger() as client:
        answers = [
            await client.get("/healthz"),
            await client.get("/api/sessions"),
            await client.get("/nothing.js"),
            await client.options("/api/sessions"),
            await client.post("/api/link", content=b"{"),
            await client.get("/healthz", headers={"Host": "evil.example"}),
        ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "*" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert "server" not in answer.headers and "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:PORT",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil.example:PORT",
        "127.0.0.2:PORT",
        "0.0.0.0:PORT",
        "",
    ],
)
async def test_only_exact_loopback_names_with_the_right_port_are_served(shared: House, host: str) -> None:
    port = shared.serving.port.number
    async with shared.page() as page:
        answer = await page.client.get("/api/sessions", headers={"Host": host.replace("PORT", str(port))})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "wrong-host")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
async def test_every_loopback_name_is_served(shared: House, name: str) -> None:
    host = f"{name}:{shared.serving.port.number}"
    async with shared.page() as page:
        answer = await page.client.get("/api/sessions", headers={"Host": host, "Origin": f"http://{host}"})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1:1", "http://evil.example", "null", "https://127.0.0.1:PORT", "file://"]
)
async def test_sec_02_another_origin_changes_nothing(shared: House, origin: str) -> None:
    event = await shared.ask(await shared.session())
    foreign = origin.replace("PORT", str(shared.serving.port.number))
    async with shared.page() as page:
        answer = await page.client.post(path_of(event), json=answer_to(event), headers={"Origin": foreign})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "wrong-origin")
    assert await shared.store.lookup(event.session, f"decided:{event.data['id']}") is None


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", None])
async def test_sec_02_the_api_is_for_same_origin_requests_only_reads_and_the_stream_too(
    shared: House, site: str | None
) -> None:
    async with shared.page() as page:
        headers = dict(page.client.headers)
        headers.pop("sec-fetch-site")
        async with httpx.AsyncClient(
            base_url=shared.url, auth=page.client.auth, trust_env=False, verify=PLAIN
        ) as other:
            given = {} if site is None else {"Sec-Fetch-Site": site}
            for path in ("/api/sessions", "/api/stream", "/openapi.json"):
                answer = await other.get(path, headers=given)
                assert (answer.status_code, answer.json()["error"]["code"]) == (403, "wrong-site")


@pytest.mark.parametrize("row", CHANGING, ids=lambda row: f"{row.verb} {row.path}")
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
async def test_sec_02_only_json_bodies_reach_a_changing_route(shared: House, row: object, kind: str | None) -> None:
    path = row.path.replace("{id}", "s-1")  # type: ignore[attr-defined]
    headers = {} if kind is None else {"Content-Type": kind}
    async with shared.page() as page:
        answer = await page.client.request(row.verb, path, content=b"{}", headers=headers)  # type: ignore[attr-defined]
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "json-only")


async def test_attack_1_no_cookie_is_set_and_a_foreign_cookie_changes_nothing(shared: House) -> None:
    async with shared.page() as page:
        cookie = {"Cookie": "placet=stolen; session=owner"}
        with_cookie = await page.client.get("/api/sessions", headers=cookie)
        assert with_cookie.status_code == 200 and "set-cookie" not in with_cookie.headers
    async with shared.stranger(Cookie="placet=stolen") as client:
        assert (await client.get("/api/sessions")).status_code == 401


async def test_an_old_tab_navigating_from_elsewhere_gets_the_shell_but_never_in_a_frame(shared: House) -> None:
    async with shared.stranger(Sec_Fetch_Site="cross-site") as client:
        window = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        frame = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
        image = {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
        assert (await client.get("/", headers=window)).json()["error"]["code"] == "no-page"  # let through to the page
        for headers in (frame, image):
            assert (await client.get("/", headers=headers)).json()["error"]["code"] == "wrong-site"


async def test_a_header_that_came_twice_is_refused(shared: House) -> None:
    async with shared.stranger() as client:
        twice = [
            ("Host", f"127.0.0.1:{shared.serving.port.number}"),
            ("Origin", shared.url[:-1]),
            ("Origin", "http://x"),
        ]
        answer = await client.get("/healthz", headers=twice)
    assert answer.status_code == 400


async def test_a_body_over_the_bound_is_refused_whether_its_length_is_declared_or_not(shared: House) -> None:
    async def endless() -> object:
        for _ in range(MAX_BODY // 65_536 + 2):
            yield b" " * 65_536

    async with shared.stranger(Content_Type="application/json") as client:
        declared = await client.post("/api/link", content=b" " * (MAX_BODY + 1))
        chunked = await client.post("/api/link", content=endless())  # type: ignore[arg-type]
    for answer in (declared, chunked):
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too-large")


async def test_a_web_socket_is_not_opened(shared: House) -> None:
    upgrade = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==",
    }  # fmt: skip
    async with shared.stranger(Sec_Fetch_Site="cross-site") as client:
        assert (await client.get("/api/stream", headers=upgrade)).status_code == 403
