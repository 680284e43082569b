"""The confined helper: what it does, what it never opens, and that it can always be ended."""

from __future__ import annotations

import ast
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from placet.kernel.signal import AbortSignal
from placet.sandbox import SandboxMode
from placet.sandbox.errors import HelperFailed, HelperOverran, HelperStopped, WorkdirChanged
from placet.sandbox.helper import Failure, Found, Helper, Inquiry, Verb
from placet.sandbox.helper import process as helper_process
from placet.sandbox.helper.inside import scripts
from placet.testing.backends import FULL, READ_ONLY, WORKSPACE_WRITE, Rig

pytestmark = pytest.mark.anyio
SLOW = {"pattern": "(a|aa)+$", "path": ".", "glob": None, "ignoreCase": False, "seconds": 60}


@pytest.fixture
async def rig(confined: Rig) -> AsyncIterator[Rig]:
    """A rig of each backend in turn, with its helpers ended afterwards."""
    yield confined
    await confined.sandbox.aclose()


async def ask(rig: Rig, verb: Verb, mode: SandboxMode = WORKSPACE_WRITE, **more: Any) -> Found | Failure:
    named = {name: more.pop(name) for name in ("seconds_in_all", "signal", "straight", "signed") if name in more}
    if "seconds_in_all" in named:
        named["seconds"] = named.pop("seconds_in_all")
    if "signed" in named:
        named["folder"] = named.pop("signed")
    profile = rig.sandbox.profile(rig.session, rig.workspace, mode)
    return await rig.sandbox.inquire(Inquiry(profile=profile, verb=verb, arguments=more, **named))


async def read(rig: Rig, path: str, **more: Any) -> Found | Failure:
    return await ask(rig, Verb.READ, path=path, first=1, count=100, **more)


async def write(rig: Rig, path: str, mode: SandboxMode = WORKSPACE_WRITE, **more: Any) -> Found | Failure:
    return await ask(rig, Verb.WRITE, mode, path=path, text="new\n", **more)


async def test_it_is_kept_warm_for_what_only_looks(rig: Rig) -> None:
    (rig.ws / "note").write_text("hello\n")
    assert isinstance(await read(rig, "note"), Found)
    warm = rig.sandbox._helpers._places[rig.session].helper
    assert isinstance(await read(rig, "note", mode=READ_ONLY), Found)
    assert rig.sandbox._helpers._places[rig.session].helper is warm is not None
    await rig.sandbox.release(rig.session)
    assert rig.sandbox._helpers._places == {}


async def test_d18_a_write_follows_the_mode_as_a_command_does(rig: Rig) -> None:
    assert isinstance(await write(rig, "note"), Found)
    assert (rig.ws / "note").read_text() == "new\n"
    refused = await write(rig, "note", READ_ONLY)
    assert isinstance(refused, Failure)
    assert (refused.code, refused.denied, refused.path) == ("FS_SANDBOX_DENIED", True, f"{rig.ws}/note")
    outside = await write(rig, f"{rig.outside}/note")
    assert isinstance(outside, Failure)
    assert (outside.denied, list(rig.outside.iterdir())) == (True, [])
    assert isinstance(await write(rig, f"{rig.outside}/note", FULL), Found)
    assert (rig.outside / "note").read_text() == "new\n"


async def test_what_any_program_could_not_write_is_no_denial(rig: Rig) -> None:
    (rig.ws / "folder").mkdir()
    for path in ("folder", "folder/", "/proc/self/mem", "/dev/null"):
        refused = await write(rig, path)
        assert isinstance(refused, Failure)
        assert not refused.denied, path


@pytest.mark.parametrize("verb", [Verb.READ, Verb.LIST, Verb.SEARCH, Verb.WRITE, Verb.EDIT, Verb.CAPTURE])
async def test_attack_6_it_opens_nothing_but_regular_files_and_folders(rig: Rig, verb: Verb) -> None:
    os.mkfifo(rig.ws / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(rig.ws / "socket"))
    (rig.ws / "environ").symlink_to("/proc/self/environ")
    (rig.ws / "zero").symlink_to("/dev/zero")
    state = rig.sandbox._places.state
    (state / "placet.db").write_text("secret")
    paths = ["/proc/self/environ", "/proc/self/cwd/fifo", "/dev/zero", "/sys/kernel/notes", "environ", "zero"]
    for path in [*paths, "fifo", "socket", str(state / "placet.db"), "/proc/self/cwd/x", f"/proc/self/fd/{1}"]:
        more: dict[str, Any] = {
            Verb.READ: {"first": 1, "count": 9},
            Verb.LIST: {"depth": 1},
            Verb.SEARCH: {**SLOW, "pattern": "."},
            Verb.WRITE: {"text": "x"},
            Verb.EDIT: {"old": "secret", "new": "x", "all": False},
            Verb.CAPTURE: {"command": f"bash {path}", "folder": str(rig.ws), "workspace": str(rig.ws)},
        }[verb]
        got = await ask(rig, verb, **{**more, "path": path})
        if verb is Verb.CAPTURE:
            assert got == Found({"file": None}), path
        else:
            assert isinstance(got, Failure), (path, got)
    assert (state / "placet.db").read_text() == "secret"


async def test_the_state_directory_is_closed_in_full_access_too(rig: Rig) -> None:
    (rig.sandbox._places.state / "placet.db").write_text("secret")
    for mode in (READ_ONLY, WORKSPACE_WRITE, FULL):
        assert isinstance(await read(rig, str(rig.sandbox._places.state / "placet.db"), mode=mode), Failure)
        assert isinstance(await write(rig, str(rig.sandbox._places.state / "placet.db"), mode), Failure)
    assert (rig.sandbox._places.state / "placet.db").read_text() == "secret"


async def test_a_sparse_file_of_2_gib_costs_neither_memory_nor_time(rig: Rig) -> None:
    with open(rig.ws / "sparse", "wb") as file:
        file.truncate(2 << 30)
    found = await read(rig, "sparse", seconds_in_all=10)
    assert isinstance(found, Failure)
    assert found.code == "NOT_TEXT"
    searched = await ask(rig, Verb.SEARCH, **{**SLOW, "pattern": "x"})
    assert isinstance(searched, Found)
    assert searched.data["skipped"]["large"] == 1
    edited = await ask(rig, Verb.EDIT, path="sparse", old="a", new="b", all=False)
    assert isinstance(edited, Failure)
    assert edited.code == "TOO_LARGE"


async def test_a_hostile_expression_is_ended_with_its_helper_and_the_next_request_works(rig: Rig) -> None:
    (rig.ws / "evil").write_text("a" * 60 + "b")
    with pytest.raises(HelperOverran):
        await ask(rig, Verb.SEARCH, seconds_in_all=0.5, **SLOW)
    (rig.ws / "evil").write_text("fine\n")
    assert isinstance(await read(rig, "evil"), Found)


@pytest.mark.parametrize("full", [False, True])
async def test_a_stop_is_answered_at_once(rig: Rig, full: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    (rig.ws / "evil").write_text("a" * 60 + "b")
    signal, asked, began = AbortSignal(), anyio.Event(), 0.0
    original = Helper.ask

    async def noted(helper: Helper, message: Any) -> Any:
        asked.set()
        return await original(helper, message)

    async def stop() -> None:
        nonlocal began
        await asked.wait()
        began = anyio.current_time()
        signal.abort()

    monkeypatch.setattr(Helper, "ask", noted)
    async with anyio.create_task_group() as group:
        group.start_soon(stop)
        try:
            await ask(rig, Verb.SEARCH, FULL if full else WORKSPACE_WRITE, signal=signal, **SLOW)
        except HelperStopped:
            assert anyio.current_time() - began < 6  # by itself it would go on for ten seconds
        else:
            pytest.fail("it was not stopped")


async def test_processor_time_is_bounded_from_within(bubblewrap: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    (bubblewrap.ws / "evil").write_text("a" * 60 + "b")
    monkeypatch.setattr("placet.sandbox.helper.judging.ceil", lambda seconds: 0)
    with pytest.raises(HelperFailed, match="processor time"):
        await ask(bubblewrap, Verb.SEARCH, seconds_in_all=60, **SLOW)
    await bubblewrap.sandbox.aclose()


async def test_memory_files_and_processes_are_bounded_from_within(landlock: Rig) -> None:
    assert isinstance(await ask(landlock, Verb.LIST, path=".", depth=1), Found)
    warm = landlock.sandbox._helpers._places[landlock.session].helper
    assert warm is not None
    rows = Path(f"/proc/{warm._process.pid}/limits").read_text().splitlines()
    limits = {row[:26].strip(): row[26:].split()[0] for row in rows}
    assert limits["Max address space"] == str(768 << 20)
    assert (limits["Max file size"], limits["Max processes"], limits["Max core file size"]) == (str(32 << 20), "0", "0")
    await landlock.sandbox.aclose()


async def test_an_edit_does_not_make_a_file_of_any_size(rig: Rig) -> None:
    (rig.ws / "note").write_text("a\n" * 1_000_000)
    refused = await ask(rig, Verb.EDIT, path="note", old="a", new="b" * 100_000, all=True)
    assert isinstance(refused, Failure)
    assert refused.code == "TOO_LARGE"


async def test_a_folder_that_was_replaced_is_not_written_in(rig: Rig) -> None:
    rig.ws.rename(rig.ws.parent / "other")
    rig.ws.mkdir()
    with pytest.raises(WorkdirChanged):
        await write(rig, "note", signed=rig.workspace)
    (rig.ws.parent / "other").rename(rig.ws.parent / "away")


async def test_git_settings_stay_whatever_appeared_after_the_start(rig: Rig) -> None:
    assert isinstance(await write(rig, "note"), Found)
    done = await rig.run("git init -q . && mkdir -p .git/hooks && git status --short")
    assert done.exit_code == 0, done.stderr.text
    for name in (".git/config", ".git/hooks/pre-commit"):
        refused = await write(rig, name)
        assert isinstance(refused, Failure)
        assert refused.denied, refused


async def test_sbx_17_the_temp_directory_is_the_same_for_commands(rig: Rig) -> None:
    where = (await rig.run('echo "$TMPDIR"')).stdout.text.strip()
    assert isinstance(await write(rig, f"{where}/a"), Found)
    assert (await rig.run(f"cat {where}/a; echo other > {where}/b")).stdout.text == "new\n"
    found = await read(rig, f"{where}/b")
    assert isinstance(found, Found)
    assert found.data["lines"] == [["other", 0]]


async def test_a_straight_path_has_no_symlink_in_it(rig: Rig) -> None:
    (rig.outside / "target").write_text("kept")
    (rig.ws / "link").symlink_to(rig.outside / "target")
    (rig.ws / "folder").symlink_to(rig.outside)
    for path in ("link", "folder/target", "folder/new"):
        refused = await write(rig, path, FULL, straight=True)
        assert isinstance(refused, Failure)
        assert (refused.code, str(rig.outside) in refused.text) == ("SYMLINK", True), refused
    assert isinstance(await write(rig, str(rig.outside / "target"), FULL, straight=True), Found)


async def test_at_most_four_helpers_are_kept(rig: Rig) -> None:
    for number in range(6):
        profile = rig.sandbox.profile(f"s-{number}", rig.workspace, READ_ONLY)  # type: ignore[arg-type]
        await rig.sandbox.inquire(Inquiry(profile=profile, verb=Verb.LIST, arguments={"path": ".", "depth": 1}))
    assert len(rig.sandbox._helpers._places) == 4


def test_its_program_needs_nothing_but_the_standard_library() -> None:
    folder = Path(helper_process.__file__).parent / "inside"
    names = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    assert sorted(helper_process._NAMES) == names
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 1 or str(node.module).split(".")[0] in sys.stdlib_module_names


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("bash s.sh", "s.sh"),
        ("sh -e ./s.sh one two", "./s.sh"),
        ("/bin/bash 'a b.sh'", "a b.sh"),
        ('python3 -u "tools/x.py" --flag', "tools/x.py"),
        ("./run && rm x", "./run"),
        ("A=1 B=2 ./run", "./run"),
        ("./run|cat", "./run"),
        ("./run>out", "./run"),
        ("  \n bash s.sh\necho", "s.sh"),
        ("bash -- s.sh", "s.sh"),
        ("bash", None),
        ("bash -c 'x'", None),
        ("python -m x", None),
        ("python3 -", None),
        ("bash -o pipefail s.sh", None),
        ("bash < s.sh", None),
        ("bash $X", None),
        ('bash "$X"', None),
        ("bash *.sh", None),
        ("bash ~/s.sh", None),
        ("ls s.sh", None),
        ("bash 's.sh", None),
        ("(bash s.sh)", None),
        ("", None),
        ("# bash s.sh", None),
    ],
)
def test_which_script_a_command_runs(command: str, script: str | None) -> None:
    assert scripts.script_of(command) == script
