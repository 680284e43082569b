"""Start and end of a server: ports, signals, open streams, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import socket
import threading
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from placet.web.errors import AlreadyServing, PlantedKey, PortTaken
from placet.web.listening.ports import NEARBY, take_port
from placet.web.security.serverkey import NAME
from tests.web.outside import server
from tests.web.rig import free_port, running, state_in

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
async def test_a26_a_signal_ends_the_server_soon_although_a_stream_is_open_and_settles_nothing(
    tmp_path: Path, how: signal.Signals
) -> None:
    from placet.testing.page_key import LinkedPage

    async with server(tmp_path) as outside, outside.store() as house:
        event = await house.ask(await house.session())
        async with LinkedPage.link(outside.facts["url"], outside.secret) as page, aclosing(page.frames()) as frames:
            await anext(frames)
            with anyio.fail_after(60):
                assert await outside.end(how) == 0
        assert await house.store.lookup(event.session, f"decided:{event.data['id']}") is None
        assert not Path(outside.facts["socket"]).exists() and not Path(outside.facts["link_file"]).exists()


async def test_after_kill_9_the_next_server_starts_and_the_ask_is_there(tmp_path: Path) -> None:
    async with server(tmp_path) as first, first.store() as house:
        event = await house.ask(await house.session())
        await first.end(signal.SIGKILL)
    async with server(tmp_path) as second:
        listed = await second.visit_socket("plain", "GET", "/api/asks")  # before any page connects
    assert [ask["id"] for ask in listed["body"]["asks"]] == [event.data["id"]]


async def test_attack_10_a_taken_port_is_left_alone_and_its_holder_named(tmp_path: Path) -> None:
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as foreign:
        foreign.settimeout(0.2)
        port = foreign.getsockname()[1]
        async with running(tmp_path, port=port) as house:
            assert house.serving.port.number != port
            assert f"process {os.getpid()}" in (house.serving.port.taken_by or "")
            assert f":{house.serving.port.number}/#link=" in house.serving.link.url
        with pytest.raises(TimeoutError):
            heard.append(foreign.accept()[0].recv(1))
    assert heard == []


async def test_attack_10_an_impostor_on_the_port_gets_no_byte_that_it_could_use(tmp_path: Path) -> None:
    """What a page sends before proof is a nonce; what it sends after it is signed for one instance."""
    port = free_port()
    async with running(tmp_path, port=port) as first, first.page() as page:
        stolen = page.key.headers("GET", "/api/sessions", b"", page.instance)
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", port)) as impostor:

        def listen() -> None:
            client, _ = impostor.accept()
            with client:
                received.append(client.recv(65_536))
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

        thread = threading.Thread(target=listen)
        thread.start()
        async with await anyio.connect_tcp("127.0.0.1", port) as old_tab:
            await old_tab.send(b"GET /healthz?nonce=0123456789abcdef HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            await old_tab.receive()
        await anyio.to_thread.run_sync(thread.join)
    assert b"Placet-" not in received[0]
    async with running(tmp_path, port=port) as second, second.stranger() as client:
        answer = await client.get("/api/sessions", headers=stolen)
    assert answer.status_code == 409


def test_no_port_at_all_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()

    def taken(self: socket.socket, address: object) -> None:
        raise OSError(98, "Address already in use")

    monkeypatch.setattr(socket.socket, "bind", taken)
    with pytest.raises(PortTaken, match=f"No port from {port} to {port + NEARBY} is free"):
        take_port(port)


def test_answers_are_not_held_back_for_the_client_s_acknowledgement() -> None:
    port = take_port(0)
    with port.sock:
        assert port.sock.proto == socket.IPPROTO_TCP  # what asyncio looks at before it sets TCP_NODELAY


async def test_two_servers_of_one_state_do_not_run_at_once(tmp_path: Path) -> None:
    async with running(tmp_path):
        with pytest.raises(AlreadyServing):
            async with running(tmp_path):
                pass


async def test_the_server_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    async with running(tmp_path) as first:
        facts, key = (first.services.state / NAME).stat(), first.serving.desk.server_key.public
        assert facts.st_mode & 0o777 == 0o600
    async with running(tmp_path) as second:
        assert second.serving.desk.server_key.public == key
    (tmp_path / "state" / NAME).unlink()
    async with running(tmp_path) as third:
        assert third.serving.desk.server_key.public != key


@pytest.mark.parametrize("how", ["another key", "no key", "symlink", "readable by others", "empty"])
async def test_a_server_key_found_before_the_first_start_is_refused(tmp_path: Path, how: str) -> None:
    (tmp_path / "other").mkdir()
    async with running(tmp_path / "other"):
        planted = (tmp_path / "other" / "state" / NAME).read_bytes()
    path = state_in(tmp_path) / NAME
    if how == "symlink":
        path.symlink_to(tmp_path / "other" / "state" / NAME)
    else:
        path.write_bytes({"no key": b"hello", "empty": b""}.get(how, planted))
        path.chmod(0o644 if how == "readable by others" else 0o600)
    with pytest.raises(PlantedKey, match="remove it"):
        async with running(tmp_path):
            pass


async def test_a_killed_server_s_redirect_file_is_removed_by_the_next(tmp_path: Path) -> None:
    folder = state_in(tmp_path) / "tmp"
    folder.mkdir()
    (folder / "open-left.html").write_text("a dead link")
    (folder / "s-1").mkdir()
    async with running(tmp_path) as house:
        assert list(folder.glob("*.html")) == [house.serving.link_file]
    assert [path.name for path in folder.iterdir()] == ["s-1"]


async def test_sec_01_attack_21_nothing_secret_stands_in_argv_environment_or_output(tmp_path: Path) -> None:
    async with server(tmp_path) as outside:
        await outside.visit_page("plain", "/api/sessions", {})
        pid = outside.process.pid
        argv = Path(f"/proc/{pid}/cmdline").read_bytes()
        said = await outside.lines.next()
    assert outside.secret.encode() not in argv and outside.facts["code"].encode() not in argv
    assert outside.secret not in repr(said)
