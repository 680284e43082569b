"""The other end of a TCP connection: a signature made on the agent's side, or by nobody, decides nothing."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from placet.web.security import loopback
from placet.web.security.loopback import objection
from placet.web.security.processes import Process, look
from tests.web.outside import Outside, server, visit_from
from tests.web.rig import answer_to, path_of, running

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def outside(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str) -> AsyncIterator[Outside]:
    async with server(tmp_path_factory.mktemp("loopback")) as outside:
        yield outside


async def fresh_secret(outside: Outside) -> str:
    made = await outside.visit_socket("plain", "POST", "/api/links", {})
    return str(made["body"]["url"]).partition("#link=")[2]


async def test_a_person_s_browser_links_and_answers(outside: Outside) -> None:
    async with outside.store() as house:
        event = await house.ask(await house.session())
        answer = await outside.visit_page(
            "private", path_of(event), answer_to(event), secret=await fresh_secret(outside)
        )
    assert (answer["status"], answer["body"]["receipt"]["channel"]) == (200, "page")


@pytest.mark.parametrize("how", ["confined", "placets-child"])
async def test_sec_01_attack_28_a_confined_or_started_process_cannot_even_link(outside: Outside, how: str) -> None:
    secret = await fresh_secret(outside)
    answer = await outside.visit_page(how, "/api/sessions", {}, secret=secret)
    assert (answer["status"], answer["body"]["error"]["code"]) == (403, "sender-refused")
    assert (await outside.visit("plain", url=outside.facts["url"], secret=secret))["status"] == 200  # nothing was spent


@pytest.mark.parametrize(("outcome"), ["allowed-once", "rejected"])
async def test_attack_28_an_answer_from_the_agent_s_side_is_refused_logged_and_told(
    tmp_path: Path, outcome: str
) -> None:
    """The page's key was stolen, so the signature is good; only the process at the other end gives it away."""
    refuses = {"objection": lambda client, server, state: "the other end is held by python (process 7)" if ON else None}
    ON: list[int] = []
    async with running(tmp_path, changes=refuses) as house, house.page() as page:
        event = await house.ask(await house.session())
        ON.append(1)
        answer = await page.post(path_of(event), answer_to(event, outcome))
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "sender-refused")
        ON.clear()
        log = await house.store.read(event.session)
        assert [e.type for e in log[-2:]] == ["approval/refused", "notice"]
        assert log[-2].data["why"].startswith("the other end is held") and log[-2].data["outcome"] == outcome
        assert (log[-1].data["level"], log[-1].data["ask"]) == ("error", event.data["id"])
        assert house.said[-1].code == "sender-refused"
        assert (await page.get("/api/asks")).json()["total"] == 1


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/sessions", {"cwd": "/", "key": "k"}),
        ("/api/sessions/SESSION/permission", {"preset": "danger-full-access", "confirm": True, "key": "k"}),
        ("/api/sessions/SESSION/model", {"model": "rehearsal", "key": "k"}),
    ],
)
async def test_attack_5_what_widens_needs_the_same_second_wall(tmp_path: Path, path: str, body: Any) -> None:
    allowed: list[int] = [1]
    async with running(tmp_path, changes={"objection": lambda *ends: None if allowed else "no"}) as house:
        session = await house.session()
        async with house.page() as page:
            allowed.clear()
            answer = await page.post(path.replace("SESSION", session), body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "sender-refused")
            narrowing = {"preset": "read-only", "key": "k2"}
            assert (await page.post(f"/api/sessions/{session}/permission", narrowing)).status_code == 200
            assert (await page.post(f"/api/sessions/{session}/stop", {"key": "k3"})).status_code == 200


class Connection:
    """Both ends of a loopback connection in this process."""

    def __init__(self, family: socket.AddressFamily = socket.AF_INET) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        address = self.listener.getsockname()
        self.client = socket.socket(family, socket.SOCK_STREAM)
        self.client.connect(address if family is socket.AF_INET else ("::ffff:127.0.0.1", address[1]))
        self.server, self.client_end = self.listener.accept()
        self.server_end = self.server.getsockname()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        for sock in (self.client, self.server, self.listener):
            sock.close()


def test_attack_28_a_client_that_sent_and_went_is_nobody(tmp_path: Path) -> None:
    with Connection() as connection:
        connection.client.sendall(b"x")
        connection.client.close()
        assert objection(connection.client_end, connection.server_end, tmp_path) == (
            "nobody holds the other end of the connection any more"
        )


def test_a_connection_that_does_not_exist_is_held_by_nobody(tmp_path: Path) -> None:
    assert "nobody" in (objection(("127.0.0.1", 1), ("127.0.0.1", 2), tmp_path) or "")


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_the_holder_is_found_through_either_family_and_placet_itself_is_refused(
    tmp_path: Path, family: socket.AddressFamily
) -> None:
    try:
        connection = Connection(family)
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    with connection:
        why = objection(connection.client_end, connection.server_end, tmp_path)
        assert f"process {os.getpid()}" in (why or "")


def test_a_holder_that_hides_what_it_holds_is_refused_if_it_may_be_the_agent_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for an ordinary user, who may not look into a process that made itself private."""
    with Connection() as connection:
        ends = (connection.client_end, connection.server_end, tmp_path)
        monkeypatch.setattr(loopback, "holds_socket", lambda pid, inode: None if pid == os.getpid() else False)
        assert "hides what it holds" in (objection(*ends) or "")
        monkeypatch.setattr(loopback, "holds_socket", lambda pid, inode: None if pid == os.getppid() else False)
        assert objection(*ends) is None  # hidden, but nothing of ours: a browser may be


def test_a_browser_that_its_packager_confined_is_not_taken_for_an_agent_s_orphan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    me = look(os.getpid())
    assert me is not None
    browser = replace(me, pid=10**6, parent=1, no_new_privs=1, seccomp=2, filters=me.filters + 1, root_mount="another")
    orphan = replace(browser, root_mount=me.root_mount)

    def found(process: Process) -> Any:
        monkeypatch.setattr(loopback, "_holders", lambda inode: ([process], []))
        return objection(connection.client_end, connection.server_end, tmp_path)

    with Connection() as connection:
        assert found(replace(orphan, seccomp=me.seccomp, filters=me.filters)) is None  # Chromium's network service
        assert found(browser) is None
        assert "confined" in found(orphan)
        assert found(replace(orphan, uid=me.uid + 1)) is None  # a service of another account


def _hidden(pid: int, inode: int) -> tuple[list[Process], list[int]]:
    """No holder is seen, and one process hides what it holds."""
    return [], [pid]


def test_what_another_account_hides_is_no_reason_to_refuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    me = look(os.getpid())
    assert me is not None
    filtered = replace(me, pid=10**6, parent=1, seccomp=2, filters=me.filters + 1)
    seen = {10**6: filtered, 10**6 + 1: replace(filtered, uid=me.uid + 1)}
    monkeypatch.setattr(loopback, "look", lambda pid: seen.get(pid) or look(pid))
    with Connection() as connection:
        for pid, refused in ((10**6, True), (10**6 + 1, False)):
            monkeypatch.setattr(loopback, "_holders", partial(_hidden, pid))
            why = objection(connection.client_end, connection.server_end, tmp_path)
            assert ("hides" in (why or "")) == refused


async def test_the_terminal_names_who_was_signed_in(outside: Outside) -> None:
    async with outside.store():
        secret = await fresh_secret(outside)
    visit = await outside.visit("plain", url=outside.facts["url"], secret=secret, label="the one to be named")
    assert visit["status"] == 200
    while "the one to be named" not in (line := await outside.lines.next())["text"]:
        pass  # what earlier visitors left, of whom some cannot be seen
    assert line["code"] == "link-redeemed" and "process" in line["text"]


async def test_sec_01_a_command_in_bubblewrap_is_found_through_its_namespaces(
    tmp_path: Path, needs_bubblewrap: str
) -> None:
    """It knows port, secret and socket, which real commands do not even see, and still cannot become a page."""
    wall = [needs_bubblewrap, "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-pid", "--proc", "/proc"]
    async with running(tmp_path, changes={"objection": objection}) as house:
        by_page = {"url": house.url, "secret": house.secret}
        by_socket = {"socket": str(house.serving.socket), "requests": [("GET", "/api/asks", None)]}
        for wish, code in ((by_page, "sender-refused"), (by_socket, "peer-refused")):
            (answer,) = await visit_from(wall, "plain", wish)
            assert (answer["status"], answer["body"]["error"]["code"]) == (403, code)
        assert "sender-refused" in [said.code for said in house.said]
