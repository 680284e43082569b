"""The page's files: exactly the built ones, its shell for the page's own addresses, caching that cannot go stale."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from placet.web.errors import PageDamaged
from placet.web.page import Page
from tests.web.rig import running

pytestmark = pytest.mark.anyio

FILES = {
    "index.html": b"<!doctype html><script type=module src=/assets/main-1234.js></script>",
    "assets/main-1234.js": b"console.log(1)",
    "assets/main-1234.css": b"body{}",
    "assets/face-1.woff2": b"wOF2",
    "favicon.svg": b"<svg/>",
    "half-frame.html": b'<!doctype html><script nonce="HALF-FRAME-NONCE">onmessage = start</script>',
}


def built(folder: Path) -> Path:
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    (folder / "assets.json").write_text(json.dumps({"sources": "0", "files": hashes}))
    return folder


async def test_the_built_page_is_served_with_its_kinds_and_caching(tmp_path: Path) -> None:
    async with running(tmp_path, changes={"static": built(tmp_path / "static")}) as house, house.stranger() as client:
        assert house.serving.no_page is None
        for path in ("/", "/sessions/s-1", "/inbox", "/settings/"):
            shell = await client.get(path)
            assert (shell.status_code, shell.content) == (200, FILES["index.html"])
            assert shell.headers["cache-control"] == "no-cache"
            assert shell.headers["content-type"].startswith("text/html")
        script = await client.get("/assets/main-1234.js")
        assert script.headers["content-type"].startswith("text/javascript")
        assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert (await client.get("/assets/face-1.woff2")).headers["content-type"] == "font/woff2"
        assert (await client.get("/favicon.svg")).headers["content-type"] == "image/svg+xml"
        for answer in (shell, script):
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    ["/assets/none.js", "/none.png", "/assets.json", "/api/none", "/assets/../index.html.bak", "/%2e%2e/placet.db"],
)
async def test_what_is_not_of_the_page_is_not_served(tmp_path: Path, path: str) -> None:
    async with running(tmp_path, changes={"static": built(tmp_path / "static")}) as house, house.page() as page:
        answer = await page.get(path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not-found")


async def test_a_file_that_changes_while_the_server_runs_changes_nothing(tmp_path: Path) -> None:
    static = built(tmp_path / "static")
    async with running(tmp_path, changes={"static": static}) as house, house.stranger() as client:
        (static / "assets" / "main-1234.js").write_bytes(b"steal()")
        assert (await client.get("/assets/main-1234.js")).content == FILES["assets/main-1234.js"]


@pytest.mark.parametrize("how", ["changed", "missing", "list broken", "outside"])
def test_attack_27_a_page_that_is_not_the_built_one_is_refused_at_start(tmp_path: Path, how: str) -> None:
    static = built(tmp_path)
    match how:
        case "changed":
            (static / "assets" / "main-1234.js").write_bytes(b"steal()")
        case "missing":
            (static / "index.html").unlink()
        case "list broken":
            (static / "assets.json").write_text("{")
        case _:
            (static / "assets.json").write_text(json.dumps({"files": {"../../secret": "0"}}))
    with pytest.raises(PageDamaged, match="make page"):
        Page.load(static)


def test_a_file_that_the_list_does_not_name_is_not_served(tmp_path: Path) -> None:
    static = built(tmp_path)
    (static / "extra.html").write_text("hello")
    assert Page.load(static).file("extra.html") is None


async def test_without_a_built_page_one_line_says_how_to_build_it(tmp_path: Path) -> None:
    async with running(tmp_path) as house, house.stranger() as client:
        answer = await client.get("/")
        assert (
            house.serving.no_page
            == answer.json()["error"]["message"]
            == "The page is not built. Build it with `make page`."
        )
        assert (await client.get("/healthz")).status_code == 200


async def test_design_10_the_hidden_frame_has_a_policy_of_its_own_and_a_nonce_that_is_used_once(tmp_path: Path) -> None:
    async with running(tmp_path, changes={"static": built(tmp_path / "static")}) as house, house.stranger() as client:
        answers = [await client.get("/half-frame") for _ in range(3)]
        shell = await client.get("/")
    nonces = {answer.text.partition('nonce="')[2].partition('"')[0] for answer in answers}
    assert len(nonces) == 3 and all(len(nonce) >= 22 for nonce in nonces)
    for answer in answers:
        nonce = answer.text.partition('nonce="')[2].partition('"')[0]
        assert answer.content == FILES["half-frame.html"].replace(b"HALF-FRAME-NONCE", nonce.encode())
        assert answer.headers["content-security-policy"] == (
            f"sandbox allow-scripts; default-src 'none'; script-src 'nonce-{nonce}' 'unsafe-eval'; worker-src blob:; "
            "connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
        )
        assert answer.headers["x-frame-options"] == "SAMEORIGIN" and answer.headers["cache-control"] == "no-store"
        assert answer.headers["cross-origin-embedder-policy"] == "require-corp"
        assert answer.headers["cross-origin-resource-policy"] == "cross-origin"  # or no Firefox loads it
        assert "etag" not in answer.headers
    assert "frame-src 'self'" in shell.headers["content-security-policy"]
    assert "unsafe-eval" not in shell.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/half-frame/", "/half-frame?x=1", "/half-frame.html", "/Half-Frame", "//half-frame"])
async def test_no_other_address_gets_the_frame_s_policy(tmp_path: Path, path: str) -> None:
    async with running(tmp_path, changes={"static": built(tmp_path / "static")}) as house, house.stranger() as client:
        answer = await client.get(path)
    policy = answer.headers["content-security-policy"]
    if path == "/half-frame?x=1":
        assert "sandbox allow-scripts" in policy
    else:
        assert "frame-ancestors 'none'" in policy and "unsafe-eval" not in policy


async def test_another_site_cannot_frame_the_hidden_frame(tmp_path: Path) -> None:
    framing = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    changes = {"static": built(tmp_path / "static")}
    async with running(tmp_path, changes=changes) as house, house.stranger(**framing) as client:
        answer = await client.get("/half-frame")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "wrong-site")


async def test_without_a_built_page_there_is_no_frame_either(tmp_path: Path) -> None:
    async with running(tmp_path) as house, house.stranger() as client:
        answer = await client.get("/half-frame")
    assert answer.status_code == 404 and "make page" in answer.json()["error"]["message"]
    assert "unsafe-eval" not in answer.headers["content-security-policy"]
