"""The page's key: what it signs counts once, for this server, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from placet.session.ids import HOUSE
from placet.testing.page_key import PageKey
from placet.web.security.counters import LARGEST, WINDOW, Counters
from placet.web.security.keyring import revoked
from placet.web.security.signature import b64url, from_b64url, public_key, signed_by
from tests.web.rig import BY, House, running

pytestmark = pytest.mark.anyio


async def test_a_linked_page_reads_and_its_key_stands_in_the_house_log(house: House) -> None:
    async with house.page() as page:
        assert (await page.get("/api/sessions")).json()["sessions"] == []
    linked = await house.store.lookup(HOUSE, f"page:{page.key.id}")
    assert linked is not None and linked.data["publicKey"] == page.key.public


async def test_a_key_that_nobody_linked_reads_nothing(shared: House) -> None:
    key, instance = PageKey(), shared.serving.desk.instance
    async with shared.stranger() as client:
        answer = await client.get("/api/sessions", headers=key.headers("GET", "/api/sessions", b"", instance))
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not-linked")


async def test_the_same_signed_request_counts_once(shared: House) -> None:
    async with shared.page() as page, shared.stranger() as client:
        headers = page.key.headers("GET", "/api/sessions", b"", page.instance)
        first = await client.get("/api/sessions", headers=headers)
        again = await client.get("/api/sessions", headers=headers)
    assert (first.status_code, again.status_code) == (200, 401)
    assert again.json()["error"]["code"] == "bad-signature"


async def test_parallel_requests_of_one_page_all_count(shared: House) -> None:
    async with shared.page() as page, anyio.create_task_group() as tasks:
        statuses: list[int] = []

        async def read() -> None:
            statuses.append((await page.get("/api/sessions")).status_code)

        for _ in range(40):
            tasks.start_soon(read)
    assert statuses == [200] * 40


@pytest.mark.parametrize(
    ("method", "signed", "sent", "body"),
    [
        ("POST", "/api/sessions", "/api/sessions", b""),
        ("GET", "/api/asks", "/api/sessions", b""),
        ("GET", "/api/sessions", "/api/sessions?limit=1", b""),
        ("GET", "/api/sessions", "/api/sessions", b"x"),
    ],
    ids=["another method", "another path", "another query", "another body"],
)
async def test_a_signature_covers_method_path_query_and_body(
    shared: House, method: str, signed: str, sent: str, body: bytes
) -> None:
    async with shared.page() as page, shared.stranger() as client:
        headers = page.key.headers(method, signed, body, page.instance)
        answer = await client.get(sent, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "bad-signature")


async def test_a_body_that_was_changed_on_its_way_is_refused(shared: House) -> None:
    async with shared.page() as page, shared.stranger() as client:
        headers = page.key.headers("POST", "/api/sessions", b'{"cwd": "/a"}', page.instance)
        headers["Content-Type"] = "application/json"
        answer = await client.post("/api/sessions", content=b'{"cwd": "/b"}', headers=headers)
    assert answer.json()["error"]["code"] == "bad-signature"


@pytest.mark.parametrize("counter", ["", "0", "-1", "1.0", "1e9", "007", "٣", "9" * 17, str(2**53)])
async def test_a_counter_that_is_none_is_refused(shared: House, counter: str) -> None:
    async with shared.page() as page, shared.stranger() as client:
        headers = page.key.headers("GET", "/api/sessions", b"", page.instance, counter=5)
        raw = [(k.encode(), v.encode()) for k, v in (headers | {"Placet-Counter": counter}).items()]
        answer = await client.get("/api/sessions", headers=raw)
    assert answer.json()["error"]["code"] == "bad-signature"


@pytest.mark.parametrize("signature", ["", "A", "A" * 86, "=" * 86, "!" * 86, "A" * 200])
async def test_a_signature_that_is_none_is_refused(shared: House, signature: str) -> None:
    async with shared.page() as page, shared.stranger() as client:
        headers = page.key.headers("GET", "/api/sessions", b"", page.instance) | {"Placet-Signature": signature}
        answer = await client.get("/api/sessions", headers=headers)
    assert answer.json()["error"]["code"] == "bad-signature"


async def test_a_wrong_signature_does_not_use_up_the_counter(shared: House) -> None:
    async with shared.page() as page, shared.stranger() as client:
        good = page.key.headers("GET", "/api/sessions", b"", page.instance)
        bad = good | {"Placet-Signature": b64url(bytes(64))}
        assert (await client.get("/api/sessions", headers=bad)).status_code == 401
        assert (await client.get("/api/sessions", headers=good)).status_code == 200


async def test_a_revoked_key_counts_no_more_and_cannot_be_linked_again(house: House) -> None:
    async with house.page() as page:
        await house.append(HOUSE, revoked(page.key.id, BY))
        await house.serving.desk.summaries.catch_up()
        assert (await page.get("/api/sessions")).json()["error"]["code"] == "not-linked"
        secret = house.serving.desk.links.issue().secret
        async with house.stranger() as client:
            again = await client.post("/api/link", json={"secret": secret, "publicKey": page.key.public})
        assert (again.status_code, again.json()["error"]["code"]) == (403, "key-revoked")


async def test_the_link_survives_a_restart_and_old_signatures_do_not(tmp_path: Path) -> None:
    async with running(tmp_path) as first, first.page() as page:
        key, old = page.key, page.key.headers("GET", "/api/sessions", b"", page.instance)
        server_key = first.serving.desk.server_key.public
    async with running(tmp_path) as second, second.stranger() as client:
        stale = await client.get("/api/sessions", headers=old)
        assert (stale.status_code, stale.json()["error"]["code"]) == (409, "other-instance")
        fresh = key.headers("GET", "/api/sessions", b"", second.serving.desk.instance)
        assert (await client.get("/api/sessions", headers=fresh)).status_code == 200
        assert second.serving.desk.server_key.public == server_key


async def test_the_server_proves_itself_by_the_pinned_key_before_anything_is_sent(shared: House) -> None:
    nonce = b64url(b"n" * 24)
    async with shared.stranger() as client:
        health = (await client.get("/healthz", params={"nonce": nonce})).json()
        plain = (await client.get("/healthz")).json()
    point = from_b64url(shared.serving.desk.server_key.public, length=65)
    key = public_key(point or b"")
    assert key is not None
    assert signed_by(key, health["proof"], f"placet-hello-v1\n{nonce}\n{health['instance']}".encode())
    assert not signed_by(key, health["proof"], f"placet-hello-v1\n{nonce}x\n{health['instance']}".encode())
    assert plain["proof"] is None and plain["product"] == "placet"


def test_counters_are_taken_once_in_any_order() -> None:
    counters = Counters()
    assert [counters.take(n) for n in (5, 3, 5, 4, 3)] == [True, True, False, True, False]
    assert not counters.take(LARGEST + 1) and not counters.take(0)


def test_counters_stay_bounded_and_what_fell_out_counts_as_used() -> None:
    counters = Counters()
    assert all(counters.take(n) for n in range(1, 3 * WINDOW))
    assert len(counters.seen) <= WINDOW
    assert not any(counters.take(n) for n in range(1, 3 * WINDOW))
