"""The socket: for processes of the same person that are no part of any agent, each checked when it connects."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from placet.session.event import Draft
from placet.web.errors import AlreadyServing
from placet.web.listening.socket import listen
from placet.web.security import peer as peers
from placet.web.security.processes import Process, look
from tests.web.outside import Outside, server
from tests.web.rig import House, answer_to, path_of, running, state_in

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def outside(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str) -> AsyncIterator[Outside]:
    async with server(tmp_path_factory.mktemp("socket")) as outside:
        yield outside


@pytest.mark.parametrize("how", ["plain", "private"])
async def test_a_person_s_process_may_list_and_answer(outside: Outside, how: str) -> None:
    async with outside.store() as house:
        event = await house.ask(await house.session())
        listed = await outside.visit_socket(how, "GET", "/api/asks")
        assert event.data["id"] in [ask["id"] for ask in listed["body"]["asks"]]
        answer = await outside.visit_socket(how, "POST", path_of(event), answer_to(event))
        decided = await house.store.lookup(event.session, f"decided:{event.data['id']}")
    assert (answer["status"], answer["body"]["receipt"]["channel"]) == (200, "socket")
    assert answer["body"]["receipt"]["who"] == {"kind": "person", "name": "owner", "account": "tester"}
    assert answer["body"]["receipt"]["strength"] == "peer-process"
    assert decided is not None and decided.data["evidence"].startswith("peer:")


REFUSED = ["no-new-privs", "confined", "placets-child", "other-mounts", "other-pids"]


@pytest.mark.parametrize("how", REFUSED)
async def test_attack_4_the_agent_s_processes_are_refused_for_every_verb_and_decide_nothing(
    outside: Outside, how: str
) -> None:
    async with outside.store() as house:
        event = await house.ask(await house.session())
        requests: list[tuple[str, str, Any]] = [
            ("GET", "/api/asks", None),
            ("POST", "/api/links", {}),
            ("GET", "/healthz", None),
        ]
        requests.append(("POST", path_of(event), answer_to(event)))
        answers = await outside.visit_often(how, *requests)
        if "cannot" in answers[0]:
            pytest.skip(f"this account may not make namespaces: {answers[0]['cannot']}")
        assert len(answers) == len(requests)
        for answer in answers:
            assert (answer["status"], answer["body"]["error"]["code"]) == (403, "peer-refused")
        assert await house.store.lookup(event.session, f"decided:{event.data['id']}") is None


async def test_attack_4_the_heir_of_a_connection_decides_nothing(outside: Outside) -> None:
    async with outside.store() as house:
        event = await house.ask(await house.session())
        answer = await outside.visit_socket("heir", "POST", path_of(event), answer_to(event))
        assert answer["body"]["error"]["code"] == "peer-refused"
        assert await house.store.lookup(event.session, f"decided:{event.data['id']}") is None


async def test_the_socket_serves_the_same_api_but_neither_the_page_nor_its_link(house: House) -> None:
    async with house.terminal() as client:
        assert (await client.get("/api/sessions")).json()["sessions"] == []
        assert (await client.post("/api/links", json={})).json()["url"].startswith(house.url)
        for answer in (await client.get("/"), await client.post("/api/link", json={"publicKey": "A" * 87})):
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "wrong-channel")


async def test_a_browser_may_not_use_the_socket(house: House) -> None:
    async with house.terminal() as client:
        for header in ({"Origin": house.url[:-1]}, {"Sec-Fetch-Site": "same-origin"}):
            answer = await client.get("/api/sessions", headers=header)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "wrong-channel")


COMMAND = Draft(
    "tool/started",
    {"turn": 1, "step": 1, "position": 1, "ask": None, "digest": None, "mode": "danger-full-access"},
    "started:1.1.1",
)
HALF = Draft(
    "cordis/started",
    {"run": "run-1", "plugin": "dice-1", "package": "pkg-1", "mode": "danger-full-access", "holder": "1:2:3"},
    "run-started:run-1",
)


@pytest.mark.parametrize("started", [COMMAND, HALF], ids=["a command", "a host half"])
async def test_after_full_access_the_socket_s_word_is_weak_and_a_setting_refuses_it(
    tmp_path: Path, started: Draft
) -> None:
    for weak, status in ((True, 200), (False, 403)):
        folder = tmp_path / str(weak)
        folder.mkdir()
        async with running(folder, weak_socket_answers=weak) as house, house.terminal() as client:
            session = await house.session()
            first, second = await house.ask(session), await house.ask(session)
            before = await client.post(path_of(first), json=answer_to(first))
            assert before.json()["receipt"]["strength"] == "peer-process"
            await house.append(session, started)
            after = await client.post(path_of(second), json=answer_to(second))
            assert after.status_code == status
            if weak:
                assert after.json()["receipt"]["strength"] == "peer-process (weak)"
            else:
                assert after.json()["error"]["code"] == "sender-refused"


async def test_the_socket_is_for_its_owner_only(house: House) -> None:
    facts = os.lstat(house.serving.socket)
    assert stat.S_ISSOCK(facts.st_mode) and stat.S_IMODE(facts.st_mode) == 0o600
    assert stat.S_IMODE(house.serving.socket.parent.stat().st_mode) == 0o700


def test_a_second_server_of_the_same_state_is_refused_and_a_dead_one_s_socket_is_replaced(tmp_path: Path) -> None:
    state = state_in(tmp_path)
    first = listen(state)
    with pytest.raises(AlreadyServing):
        listen(state)
    first.sock.close()  # as after kill -9: the file stays
    second = listen(state)
    first.remove()  # no longer its own
    assert second.path.exists()
    second.remove()
    second.sock.close()
    assert os.listdir(state) == []


def test_a_socket_works_however_deep_its_directory_lies(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    ear = listen(deep)
    assert ear.path.exists()
    ear.remove()
    ear.sock.close()


def test_a_kernel_that_cannot_name_the_peer_gets_everybody_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(peers, "SO_PEERPIDFD", 9_999)
    left, right = socket.socketpair()
    with left, right:
        assert "Linux 6.5" in (peers.check_peer(left, tmp_path).refused or "")


def test_an_ancestor_that_is_younger_than_its_child_breaks_the_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    me = look(os.getpid())
    assert me is not None
    changed = {me.parent: 10**15}

    def younger(pid: int) -> Process | None:
        from dataclasses import replace

        found = look(pid)
        return found if found is None or pid not in changed else replace(found, start=changed[pid])

    monkeypatch.setattr("placet.web.security.processes.look", younger)
    left, right = socket.socketpair()
    with left, right:
        peer = peers.check_peer(left, tmp_path)
        peer.close()
    assert peer.refused == "It cannot be told what started the process."
