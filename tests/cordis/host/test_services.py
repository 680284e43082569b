"""What a half can do outside of a turn: its services, within the mode in force, written down before they act."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from placet.cordis.host import InvokeFailed
from placet.sandbox import Network, SandboxMode
from placet.session import Draft
from placet.session.codec import unescape
from tests.cordis.host.house import HostHouse

pytestmark = pytest.mark.anyio

DOES = """
async def apply(ctx):
    async def do(args):
        try:
            return await eval(args, {"ctx": ctx})
        except Exception as failure:
            return [type(failure).__name__, getattr(failure, "code", None), str(failure)]
    harness.handle("do", do)
    harness.handle("say", lambda args: str(eval(args, {"ctx": ctx})))
"""


async def test_k18_the_files_of_the_workspace_can_be_read_written_edited_listed_and_searched(each: HostHouse) -> None:
    half = await each.start(DOES)

    async def do(code: str) -> Any:
        return await half.invoke("do", code)

    written = await do("ctx.files.write('notes/a.txt', 'one\\n\\ttwo\\nthree\\n')")
    assert (written["created"], written["size"]) == (True, 15)
    assert (each.folder / "notes/a.txt").read_text() == "one\n\ttwo\nthree\n"
    read = await do("ctx.files.read('notes/a.txt')")
    assert (read["text"], read["first"], read["lines"], read["more"]) == ("one\n\ttwo\nthree", 1, 3, False)
    assert (await do("ctx.files.read('notes/a.txt', offset=2, limit=1)"))["text"] == "\ttwo"
    assert (await do("ctx.files.edit('notes/a.txt', 'three', 'drei')"))["replaced"] == 1
    assert [entry["name"] for entry in (await do("ctx.files.list('notes')"))["entries"]] == ["a.txt"]
    found = await do("ctx.files.search('d.ei')")
    assert found["matches"] == [{"path": "notes/a.txt", "line": 3, "text": "drei"}]
    kind, code, text = await do("ctx.files.read('nothing')")
    assert (kind, code) == ("ServiceError", "NOT_FOUND") and "nothing" in text


async def test_k18_a_command_runs_in_the_sessions_sandbox(each: HostHouse) -> None:
    half = await each.start(DOES)
    ran = await half.invoke("do", "ctx.shell.run('echo hello; echo oops >&2; exit 3')")
    assert (ran["exitCode"], ran["stdout"]["text"], ran["stderr"]["text"]) == (3, "hello\n", "oops\n")
    ran = await half.invoke("do", "ctx.shell.run('echo x > /etc/placet-half')")
    assert ran["exitCode"] != 0 and ran["denied"] is True


async def test_what_changes_something_is_in_the_log_before_it_acts_and_looking_is_not(host: HostHouse) -> None:
    half = await host.start(DOES)
    await half.invoke("do", "ctx.files.write('a', 'text')")
    await half.invoke("do", "ctx.files.read('a')")
    await half.invoke("do", "ctx.shell.run('true')")
    called = await host.events("cordis/called")
    assert [(event.data["n"], event.data["service"]) for event in called] == [(1, "files.write"), (2, "shell.run")]
    assert [event.key for event in called] == ["cordis-called:run-1.1", "cordis-called:run-1.2"]
    assert json.loads(unescape(called[0].data["arguments"])) == {"path": "a", "content": "text"}
    assert await host.events("tool/call") == []


async def test_a_half_whose_run_was_stopped_in_the_log_changes_nothing_any_more(host: HostHouse) -> None:
    half = await host.start(DOES)
    stopped = {"run": "run-1", "plugin": "demo-1", "status": "stopped", "detail": "stopped", "by": None, "error": None}
    await host.store.append(host.session, [Draft("cordis/stopped", stopped, "run-stopped:run-1")])
    assert (await half.invoke("do", "ctx.files.write('a', 'text')"))[:2] == ["ServiceError", "stopping"]
    assert not (host.folder / "a").exists()


async def test_outside_of_a_turn_nobody_is_asked_and_nothing_is_wider(host: HostHouse) -> None:
    half = await host.start(DOES)
    wish = "ctx.shell.run('id', sandbox_permissions='danger-full-access', justification='please')"
    kind, code, text = await half.invoke("do", wish)
    assert (kind, code) == ("ServiceError", "APPROVAL_UNAVAILABLE")
    assert "no turn of the agent is open" in text
    assert await host.events("approval/asked", "cordis/called") == []
    same = "ctx.shell.run('echo ok', sandbox_permissions='workspace-write', justification='please')"
    assert (await half.invoke("do", same))["stdout"]["text"] == "ok\n"
    await host.tools.set_mode(SandboxMode.READ_ONLY)
    assert (await half.invoke("do", "ctx.files.write('late', 'x')"))[0] == "ServiceError"
    assert not (host.folder / "late").exists()


async def test_a_guard_of_the_pipeline_holds_for_halves_too(host: HostHouse) -> None:
    host.tools.stages.on_guard(lambda request: "not today" if request.call.name == "bash" else None)
    half = await host.start(DOES)
    assert (await half.invoke("do", "ctx.shell.run('true')"))[1:] == ["DENIED", "not today"]
    assert await host.events("cordis/called") == []


async def test_attack_25_there_is_no_way_to_what_is_not_a_service(host: HostHouse) -> None:
    half = await host.start(
        """
        async def apply(ctx):
            async def call(args):
                try:
                    return await harness._half.line.call(*args)
                except Exception as failure:
                    return str(failure)
            harness.handle("call", call)
        """
    )
    for method in (
        "approval.decide",
        "sessions.steer",
        "sandbox.mode",
        "permission.preset",
        "sessions.list",
        "consent",
    ):
        assert "for plugins" in await half.invoke("call", [method, {}])
    background = {"command": "sleep 100", "run_in_background": True}
    assert "takes no 'run_in_background'" in await half.invoke("call", ["shell.run", background])
    assert "there is no event 'approval/asked'" in await half.invoke("call", ["on", {"event": "approval/asked"}])
    assert "there is no event 'approval/request'" in await half.invoke("call", ["on", {"event": "approval/request"}])


async def test_k13_tools_can_be_seen_and_not_called(host: HostHouse) -> None:
    half = await host.start(DOES)
    tools = await half.invoke("do", "ctx.tools.list()")
    assert {tool["name"] for tool in tools} >= {"bash", "read_file"}
    assert all(set(tool) == {"name", "description", "parameters"} for tool in tools)


async def test_the_own_session_can_be_read_and_a_message_left_in_it(host: HostHouse) -> None:
    half = await host.start(DOES)
    state = await half.invoke("do", "ctx.sessions.current().state()")
    assert (state["id"], state["cwd"], state["mode"], state["policy"], state["turnOpen"]) == (
        host.session, str(host.folder), "workspace-write", "ask", True,
    )  # fmt: skip
    await half.invoke("do", "ctx.sessions.current().inject('the build is broken')")
    [put] = [event.data["put"] for event in await host.events("agent/inbox")]
    head = "Message of the plugin demo-1, a program that does not speak for the user:"
    assert (put["text"], put["wake"]) == (f"{head}\nthe build is broken", False)
    assert put["source"] == {"kind": "plugin", "name": "demo-1"}
    answers = [await half.invoke("do", "ctx.sessions.current().inject('again')") for _ in range(12)]
    assert answers[-1][1] == "too-many"


class Answers(BaseHTTPRequestHandler):
    """Says what it was asked."""

    def do_GET(self) -> None:
        self._say("")

    def do_POST(self) -> None:
        self._say(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def _say(self, body: str) -> None:
        status = 404 if self.path == "/missing" else 200
        text = "x" * (3 << 20) if self.path == "/big" else f"{self.command} {self.path} {body}"
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def web() -> Iterator[str]:
    """A server on the loopback."""
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


async def test_k18_the_web_is_fetched_from_inside_the_halfs_own_process(each: HostHouse, web: str) -> None:
    half = await each.start(DOES)
    page = await half.invoke("do", f"ctx.web.get('{web}/hello')")
    assert (page["status"], page["text"]) == (200, "GET /hello ")
    assert (await half.invoke("do", f"ctx.web.get('{web}/missing')"))["status"] == 404
    page = await half.invoke("do", f"ctx.web.post('{web}/p', json={{'a': 1}})")
    assert page["text"] == 'POST /p {"a": 1}'
    assert (await half.invoke("do", f"ctx.web.get('{web}/big')"))[1] == "too-large"
    assert (await half.invoke("do", "ctx.web.get('file:///etc/passwd')"))[1] == "bad-url"
    assert (await half.invoke("do", "ctx.web.get('http://127.0.0.1:1/')"))[1] == "unreachable"
    called = [
        (event.data["service"], json.loads(unescape(event.data["arguments"])))
        for event in await each.events("cordis/called")
    ]
    assert called == [
        ("web.get", {"url": f"{web}/hello"}),
        ("web.get", {"url": f"{web}/missing"}),
        ("web.post", {"url": f"{web}/p", "bytes": 8}),
        ("web.get", {"url": f"{web}/big"}),
        ("web.get", {"url": "http://127.0.0.1:1/"}),
    ]


async def test_without_a_network_the_web_is_out_of_reach(host: HostHouse, web: str) -> None:
    host.sandbox._settings = replace(host.sandbox._settings, network=Network.NONE)
    half = await host.start(DOES)
    assert (await half.invoke("do", f"ctx.web.get('{web}/hello')"))[1] == "unreachable"


async def test_k9_k10_k11_the_context_says_what_to_do_instead(host: HostHouse) -> None:
    half = await host.start(DOES)
    for code, said in {
        "ctx.weather": "Name it in `inject = ['weather']`",
        "ctx.root": "a plugin sees no other part",
        "ctx.plugin": "a plugin sees no other part",
        "setattr(ctx, 'files', 1)": "cannot be set",
        "ctx.on('approval/request', print)": "there is no event 'approval/request'",
        "ctx.provide('files', object())": "cannot be the name of a service",
        "ctx.provide('x', {})": "provide an object with public methods",
    }.items():
        with pytest.raises(InvokeFailed) as refused:
            await half.invoke("say", code)
        assert said in refused.value.message
    assert await half.invoke("say", "ctx.get('weather')") == "None"
    assert "Files" in await half.invoke("say", "ctx.get('files')")


TRIES = """
async def apply(ctx):
    try:
        exec(CODE, globals())
    except RuntimeError as trapped:
        harness.handle("said", lambda args, text=str(trapped): text)
"""


@pytest.mark.parametrize(
    ("code", "service"),
    [
        ("import subprocess; subprocess.run(['ls'])", "ctx.shell.run"),
        ("import os; os.system('ls')", "ctx.shell.run"),
        ("import os; os.fork()", "ctx.shell.run"),
        ("from os import popen; popen('ls')", "ctx.shell.run"),
        ("import socket; socket.create_connection(('a', 1))", "ctx.web.get"),
        ("from socket import socket; socket()", "ctx.web.get"),
        ("import urllib.request; urllib.request.urlopen('http://a')", "ctx.web.get"),
        ("from urllib.request import urlopen; urlopen('http://a')", "ctx.web.get"),
        ("import threading; threading.Thread()", "ctx.timer"),
        ("import time; time.sleep(1)", "ctx.timer"),
        ("open('x', 'w')", "ctx.files.write"),
        ("fetch('http://a')", "ctx.web.get"),
        ("setTimeout(print, 1)", "ctx.timer"),
        ("require('fs')", "import"),
        ("import asyncio; asyncio.run(None)", "ctx.timer"),
    ],
)
async def test_k4_traps_name_the_service_to_use(host: HostHouse, code: str, service: str) -> None:
    half = await host.start(f"CODE = {code!r}\n{TRIES}")
    assert service in await half.invoke("said", None)


async def test_k4_pythons_own_modules_are_there(host: HostHouse) -> None:
    half = await host.start(
        """
        import asyncio, collections, datetime, json, math, os.path, pathlib, re, time, urllib.parse
        async def apply(ctx):
            await asyncio.sleep(0)
            text = open(__import__("sys").executable, "rb").read(4)
            found = [os.path.basename("/a/b"), urllib.parse.quote("a b"), time.time() > 0, text == b"\\x7fELF"]
            harness.handle("found", lambda args: found)
        """
    )
    assert await half.invoke("found", None) == ["b", "a%20b", True, True]


async def test_k19_only_lossless_json_goes_over_the_line(host: HostHouse) -> None:
    half = await host.start(
        """
        import datetime
        class Thing: pass
        loop = []
        loop.append(loop)
        ODD = [{1, 2}, (1, 2), b"x", Thing(), print, datetime.date(2026, 1, 1), -0.0, float("nan"), 2**60, {1: 2}, loop]
        async def apply(ctx):
            for number, odd in enumerate(ODD):
                harness.handle(f"odd{number}", lambda args, odd=odd: {"in": [odd]})
            harness.handle("fine", lambda args: args)
        """
    )
    for name in half.handlers:
        if name.startswith("odd"):
            with pytest.raises(InvokeFailed) as refused:
                await half.invoke(name, None)
            assert "$.in[0]" in refused.value.message
    fine = {"a": [None, True, 1, -1, 0.5, "ä\u2028\ud800", {}], "b": 2**53 - 1}
    assert await half.invoke("fine", fine) == fine


async def test_k5_what_a_half_changes_in_its_interpreter_stays_its_own(host: HostHouse) -> None:
    source = """
    import builtins, json
    async def apply(ctx):
        before = hasattr(builtins, "mine")
        builtins.mine = json.mine = 1
        harness.handle("before", lambda args: before)
    """
    one, other = await host.start(source), await host.start(source, plugin="demo-2")
    assert await one.invoke("before", None) is False and await other.invoke("before", None) is False


async def test_k8_the_context_has_these_members_and_no_others(host: HostHouse) -> None:
    half = await host.start(DOES)
    members = "sorted(name for name in [*vars(ctx), *dir(type(ctx))] if not name.startswith('_'))"
    found = set((await half.invoke("say", members)).strip("[]").replace("'", "").split(", "))
    inside = {"ready", "keep", "spawn", "guarded"}
    services = {"files", "shell", "web", "timer", "tools", "sessions"}
    assert found - inside == services | {"get", "provide", "on", "once", "effect", "log"}


async def test_k12_a_context_never_leaves_its_half(host: HostHouse) -> None:
    half = await host.start("async def apply(ctx):\n    harness.handle('me', lambda args: ctx)")
    with pytest.raises(InvokeFailed) as refused:
        await half.invoke("me", None)
    assert "of type Context, which JSON cannot hold" in refused.value.message
