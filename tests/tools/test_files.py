"""The file tools on the real sandbox (contract D18, O4 to O7)."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from placet.approval import Outcome
from placet.sandbox import Sandbox, Selection, backends
from placet.sandbox.mode import SandboxMode
from placet.testing.backends import TestPlaces
from placet.testing.responders import says
from placet.tools import BashTool
from placet.tools.files import file_tools
from tests.tools.world import ToolWorld, tool_world

pytestmark = pytest.mark.anyio

ALLOW, REJECT, FULL = Outcome.ALLOWED_ONCE, Outcome.REJECTED, "danger-full-access"
WIDER = {"sandbox_permissions": FULL, "justification": "The user asked for it."}
HOSTILE = {"pattern": "(a|aa)+$"}
NAMES = ("read_file", "write_file", "edit_file", "list_files", "search_files")


@asynccontextmanager
async def a_world(path: Path) -> AsyncIterator[ToolWorld]:
    """Open a session with bash and the file tools, in workspace-write under a real backend."""
    state = path / "state"
    state.mkdir(mode=0o700)
    sandbox = Sandbox(TestPlaces(state), Selection(backends(state)))
    async with tool_world(path, BashTool(sandbox, confines=lambda: True)) as world:
        for tool in file_tools(sandbox, confines=lambda: True):
            world.registry.register(tool)
        yield world


@pytest.fixture
async def files(tmp_path: Path, needs_bubblewrap: str) -> AsyncIterator[ToolWorld]:
    """Return a session with the file tools."""
    async with a_world(tmp_path) as world:
        yield world


@pytest.fixture
def outside() -> Iterator[Path]:
    """Return a folder that the server can write and a confined operation cannot."""
    path = Path(tempfile.mkdtemp(prefix="placet-test-", dir=Path.home())).resolve()
    yield path
    shutil.rmtree(path)


async def use(world: ToolWorld, name: str, **args: Any) -> dict[str, Any]:
    return dict((await world.call(name, **args)).data)


async def shell(world: ToolWorld, command: str, **more: Any) -> dict[str, Any]:
    return await use(world, "bash", command=command, description="Try it", **more)


async def test_read_file_numbers_the_lines_and_says_where_to_go_on(files: ToolWorld) -> None:
    (files.folder / "note").write_text("one\ntwo\n\nfour\n")
    assert (await use(files, "read_file", path="note"))["text"] == "     1\tone\n     2\ttwo\n     3\t\n     4\tfour"
    piece = await use(files, "read_file", path="note", offset=2, limit=2)
    assert piece["text"] == "     2\ttwo\n     3\t\n[more lines follow: go on with offset 4]"
    assert (await use(files, "read_file", path="note", offset=9))["code"] == "NO_SUCH_LINE"
    (files.folder / "empty").touch()
    assert (await use(files, "read_file", path="empty"))["text"] == "(the file is empty)"


async def test_long_lines_and_bytes_that_are_no_text_stay_within_bounds(files: ToolWorld) -> None:
    (files.folder / "long").write_bytes(b"x" * 300_000 + b"\nnext \xff\n")
    text = (await use(files, "read_file", path="long"))["text"]
    assert text.splitlines()[0].endswith("xx [... 292000 more bytes in this line]")
    assert text.splitlines()[1] == "     2\tnext �"
    (files.folder / "binary").write_bytes(b"a\0b")
    assert (await use(files, "read_file", path="binary"))["code"] == "NOT_TEXT"


async def test_write_file_makes_folders_and_shows_what_changed(files: ToolWorld) -> None:
    made = await use(files, "write_file", path="a/b/note", content="one\ntwo\n")
    assert made["text"] == f"Made {files.folder}/a/b/note (8 bytes, 2 lines added, 0 removed)"
    changed = await use(files, "write_file", path="a/b/note", content="one\n2\n")
    assert changed["text"].endswith("(6 bytes, 1 line added, 1 removed)\n@@ -1,2 +1,2 @@\n one\n-two\n+2")
    assert (changed["value"]["added"], changed["value"]["created"], changed["isError"]) == (1, False, False)
    assert changed["value"]["sandbox"] == {"mode": "workspace-write", "denied": False}
    assert (files.folder / "a/b/note").read_text() == "one\n2\n"
    assert sorted(os.listdir(files.folder / "a/b")) == ["note"]


async def test_a_write_keeps_the_rights_of_a_file(files: ToolWorld) -> None:
    script = files.folder / "run"
    script.write_text("old")
    script.chmod(0o755)
    await use(files, "write_file", path="run", content="new")
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("new", 0o755)


async def test_edit_file_wants_one_place_unless_all_are_meant(files: ToolWorld) -> None:
    note = files.folder / "note"
    note.write_bytes(b"a\r\nb\r\na\r\n\xff")
    assert (await use(files, "edit_file", path="note", old_text="c", new_text=""))["code"] == "NO_MATCH"
    assert (await use(files, "edit_file", path="note", old_text="a", new_text=""))["code"] == "AMBIGUOUS"
    assert (await use(files, "edit_file", path="note", old_text="b\r\n", new_text="é\r\n"))["value"]["replaced"] == 1
    every = await use(files, "edit_file", path="note", old_text="a", new_text="x", replace_all=True)
    assert every["value"]["replaced"] == 2
    assert note.read_bytes() == b"x\r\n\xc3\xa9\r\nx\r\n\xff"


async def test_list_files_tells_kinds_and_sizes(files: ToolWorld) -> None:
    (files.folder / "sub").mkdir()
    (files.folder / "sub" / "inner").write_text("12345")
    (files.folder / "link").symlink_to("/etc/passwd")
    os.mkfifo(files.folder / "pipe")
    (files.folder / "odd\nname").touch()
    (files.folder / os.fsdecode(b"caf\xe9")).touch()
    text = (await use(files, "list_files"))["text"]
    assert text.splitlines() == [
        "caf�  0 bytes", "link -> /etc/passwd", '"odd\\nname"  0 bytes', "pipe  (neither file nor folder)", "sub/",
    ]  # fmt: skip
    assert "sub/inner  5 bytes" in (await use(files, "list_files", depth=2))["text"]
    assert (await use(files, "list_files", path="nowhere"))["code"] == "NOT_FOUND"


async def test_search_files_tells_places_and_what_it_passed_over(files: ToolWorld) -> None:
    for name, text in {"a.py": "def one():\n", "b.txt": "def two\n", ".git/x": "def no\n", "s/c.py": "DEF 3\n"}.items():
        (files.folder / name).parent.mkdir(exist_ok=True)
        (files.folder / name).write_text(text)
    (files.folder / "d.bin").write_bytes(b"def\0")
    found = await use(files, "search_files", pattern=r"^def \w+")
    assert found["text"].splitlines() == [
        "a.py:1: def one():", "b.txt:1: def two", "[2 lines found in 4 files]", "[passed over: 1 binary]",
    ]  # fmt: skip
    narrow = await use(files, "search_files", pattern="def", glob="**/*.py", ignore_case=True)
    assert narrow["text"].splitlines() == ["a.py:1: def one():", "s/c.py:1: DEF 3", "[2 lines found in 2 files]"]
    assert (await use(files, "search_files", pattern="("))["code"] == "BAD_PATTERN"


@pytest.mark.parametrize(
    ("name", "args", "why"),
    [
        ("read_file", {}, "path"),
        ("read_file", {"path": ""}, "path"),
        ("read_file", {"path": "a\0"}, "NUL"),
        ("read_file", {"path": "a", "offset": 0}, "offset"),
        ("read_file", {"path": "a", "limit": 10**9}, "limit"),
        ("write_file", {"path": "a"}, "content"),
        ("write_file", {"path": "a", "content": "\ud800"}, "half a character"),
        ("write_file", {"path": "a", "content": "x" * (1 << 20) + "x"}, "content"),
        ("edit_file", {"path": "a", "old_text": "", "new_text": "x"}, "old_text"),
        ("list_files", {"depth": 6}, "depth"),
        ("search_files", {"pattern": "x", "more": 1}, "more"),
        ("write_file", {"path": "a", "content": "", "justification": "x"}, "stands alone"),
        ("write_file", {"path": "a", "content": "", **WIDER, "justification": " "}, "this operation has to do more"),
        ("read_file", {"path": "a", **WIDER, "sandbox_permissions": "read-only"}, "sandbox_permissions"),
    ],
)
async def test_what_does_not_fit_is_an_error_before_anything_is_opened(
    files: ToolWorld, name: str, args: dict[str, Any], why: str
) -> None:
    responder = files.answers(ALLOW)
    result = await use(files, name, **args)
    assert (result["code"], why in result["text"]) == ("INVALID_ARGUMENTS", True), result["text"]
    assert responder.asks == []


async def test_d18_a_denied_write_says_so_and_can_be_asked_for(files: ToolWorld, outside: Path) -> None:
    responder = files.answers(ALLOW)
    call = {"path": str(outside / "note"), "content": "new\n"}
    denied = await use(files, "write_file", **call)
    assert denied["code"] == "FS_SANDBOX_DENIED"
    marker, hint = denied["text"].splitlines()[1:]
    assert marker == "[sandbox: file access denied under workspace-write mode]"
    assert hint.startswith("[sandbox: you may ask once: send this exact operation again now, with sandbox_permissions")
    assert responder.asks == []
    granted = await use(files, "write_file", **call, **WIDER)
    assert (granted["isError"], (outside / "note").read_text()) == (False, "new\n")
    subject = responder.asks[0].subject
    assert subject.denied is not None
    assert (subject.tool, subject.to_mode, subject.denied.path) == ("write_file", FULL, str(outside / "note"))


async def test_c18_a_rejection_speaks_of_the_operation(files: ToolWorld, outside: Path) -> None:
    files.answers(says(REJECT))
    call = {"path": str(outside / "note"), "content": "new\n", **WIDER}
    rejected = await use(files, "write_file", **call)
    assert (rejected["code"], "running this operation once" in rejected["text"]) == ("APPROVAL_REJECTED", True)
    again = await use(files, "write_file", **call)
    assert (again["code"], "this very operation" in again["text"]) == ("ALREADY_REJECTED", True)
    assert list(outside.iterdir()) == []


async def test_read_only_denies_writing_and_grants_it_once(files: ToolWorld) -> None:
    await files.set_mode(SandboxMode.READ_ONLY)
    responder = files.answers(ALLOW)
    call = {"path": "note", "content": "x"}
    assert (await use(files, "write_file", **call))["code"] == "FS_SANDBOX_DENIED"
    wider = {**WIDER, "sandbox_permissions": "workspace-write"}
    assert (await use(files, "write_file", **call, **wider))["isError"] is False
    assert (await use(files, "write_file", **call))["code"] == "FS_SANDBOX_DENIED"
    assert len(responder.asks) == 1


async def test_a_granted_path_through_a_symlink_is_refused(files: ToolWorld, outside: Path) -> None:
    (outside / "target").write_text("kept")
    (files.folder / "link").symlink_to(outside / "target")
    responder = files.answers(ALLOW)
    result = await use(files, "write_file", path="link", content="new", **WIDER)
    assert (result["code"], str(outside / "target") in result["text"]) == ("SYMLINK", True)
    assert responder.asks == []

    def swap(ask: object) -> Any:
        (files.folder / "fine").symlink_to(outside / "target")
        return says(ALLOW)

    responder = files.answers(swap)
    result = await use(files, "write_file", path="fine", content="new", **WIDER)
    assert (result["code"], len(responder.asks)) == ("SYMLINK", 1)
    assert (outside / "target").read_text() == "kept"


@pytest.mark.parametrize("how", ["git", "tar", "cp"])
async def test_sbx_03_a_link_from_an_archive_is_denied_alike(files: ToolWorld, outside: Path, how: str) -> None:
    made = {
        "git": "git init -q r && ln -s {0} r/out && git -C r add out && git -C r -c user.name=a -c user.email=a@b"
        " commit -qm x && git clone -q r copy && mv copy/out link && rm -rf r copy",
        "tar": "ln -s {0} link && tar cf a.tar link && rm link && tar xf a.tar && rm a.tar",
        "cp": "mkdir t && ln -s {0} t/link && cp -a t/link . && rm -r t",
    }[how].format(outside)
    assert (await shell(files, made))["value"]["exitCode"] == 0
    assert (files.folder / "link").is_symlink()
    by_shell = await shell(files, "echo new > link/note")
    by_tool = await use(files, "write_file", path="link/note", content="new")
    assert by_shell["value"]["sandbox"]["denied"] is by_tool["value"]["sandbox"]["denied"] is True
    assert by_tool["value"]["sandbox"]["path"] == str(outside / "note")
    (outside / "there").write_text("kept")
    assert (await use(files, "edit_file", path="link/there", old_text="kept", new_text="x"))["value"]["sandbox"][
        "denied"
    ]
    assert [path.name for path in outside.iterdir()] == ["there"]
    assert (outside / "there").read_text() == "kept"


async def test_sbx_17_tmp_is_the_same_for_the_tools_and_the_shell(files: ToolWorld) -> None:
    await use(files, "write_file", path="/tmp/a", content="by tool\n")
    assert (await shell(files, "cat /tmp/a; echo by shell > /tmp/b"))["value"]["stdout"]["text"] == "by tool\n"
    assert (await use(files, "read_file", path="/tmp/b"))["text"] == "     1\tby shell"
    assert not Path("/tmp/a").exists() or Path("/tmp/a").read_text() != "by tool\n"


@pytest.mark.parametrize("name", NAMES)
async def test_attack_6_nothing_special_is_opened(files: ToolWorld, name: str) -> None:
    os.mkfifo(files.folder / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(files.folder / "socket"))
    (files.folder / "environ").symlink_to("/proc/self/environ")
    state = files.folder.parent / "state"
    (state / "placet.db").write_text("secret")
    more: dict[str, Any] = {
        "write_file": {"content": "x"},
        "edit_file": {"old_text": "s", "new_text": "x"},
        "search_files": {"pattern": "."},
    }.get(name, {})
    for path in ("/proc/self/environ", "environ", "/dev/zero", "fifo", "socket", str(state / "placet.db")):
        with anyio.fail_after(20):
            result = await use(files, name, path=path, **more)
        assert result["isError"], (path, result)
    assert (state / "placet.db").read_text() == "secret"


async def test_a_stop_during_a_hostile_search_is_answered_at_once(files: ToolWorld) -> None:
    (files.folder / "evil").write_text("a" * 60 + "b")
    call = files.make("search_files", **HOSTILE)
    took = 0.0
    async with anyio.create_task_group() as group:

        async def run() -> None:
            nonlocal took
            result = await files.bring(call)
            took = anyio.current_time() - began
            assert result.data["code"] == "ABORTED"

        began = anyio.current_time()
        group.start_soon(run)
        while not await files.world.events("tool/started"):  # noqa: ASYNC110 - the log is what there is to see
            await anyio.sleep(0.01)
        began = anyio.current_time()
        files.world.signal.abort()
    assert took < 6  # by itself it would go on for twelve seconds


async def test_reading_is_parallel_and_writing_is_not(files: ToolWorld) -> None:
    told = {
        name: files.pipeline.parallel(files.make(name, path="x", pattern="x"), files.world.session) for name in NAMES
    }
    assert [name for name, beside in told.items() if not beside] == ["write_file", "edit_file"]


def test_without_a_backend_there_is_nothing_to_ask_for(tmp_path: Path) -> None:
    sandbox = Sandbox(TestPlaces(tmp_path), Selection([], {}))
    for tool in file_tools(sandbox, confines=lambda: False):
        assert "sandbox_permissions" not in tool.parameters["properties"]
        assert "justification" not in tool.description
    for tool in file_tools(sandbox, confines=lambda: True):
        assert "sandbox_permissions" in tool.parameters["properties"]
        assert "additionalProperties" in tool.parameters
