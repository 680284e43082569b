"""A denial is told from evidence, never from words alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from placet.sandbox import Backend, Workdir
from placet.sandbox.denial import evidence
from placet.testing.backends import READ_ONLY, WORKSPACE_WRITE, Rig

pytestmark = pytest.mark.anyio

# What a sandbox denies: OUT is a folder outside that the server may write in.
DENIED = [
    "touch OUT/x",
    "echo x > OUT/x",
    "mkdir OUT/d",
    "rm OUT/file",
    "mv OUT/file OUT/file2",
    "cp file OUT/x",
    "ln -s x OUT/link",
    "sed -i s/a/b/ OUT/file",
    "tee OUT/x < file",
    "dd if=/dev/zero of=OUT/x count=1",
    "python3 -c \"open('OUT/x', 'w')\"",
    "git init OUT/repo",
    "tar cf OUT/x.tar file",
    "truncate -s 0 OUT/file",
    "mkfifo OUT/fifo",
    "touch OUT/x 2>&1",
    "touch 'OUT/a b'",
    "touch ~/.placet-test-denied",
]

# What fails for other reasons, or only speaks of denial.
NOT_DENIED = [
    "false",
    "exit 2",
    "exit 125",
    "exit 126",
    "grep nothing file",
    "nosuchcmd",
    "test -d nothing",
    "kill -9 $$",
    "kill -SYS $$",
    "echo 'Read-only file system' >&2; exit 1",
    "echo 'Read-only file system'; exit 1",
    "echo 'Permission denied (publickey).' >&2; exit 255",
    "echo 'user@host: Permission denied (publickey,password).' >&2; exit 255",
    "echo 'Permission denied, please try again.' >&2; exit 1",
    "cat nothing",
    "./file",
    "ls /nothing/at/all",
    "touch /nothing/at/all",
    "touch OUT/x; true",
    "echo '/proc/self/x: Permission denied' >&2; exit 1",
]


@pytest.fixture
def prepared(confined: Rig) -> Rig:
    (confined.ws / "file").write_text("a\n")
    (confined.outside / "file").write_text("a\n")
    return confined


@pytest.mark.parametrize("script", DENIED)
async def test_d13_esc_03_what_the_sandbox_denied_is_told_with_its_path(prepared: Rig, script: str) -> None:
    done = await prepared.run(script.replace("OUT", str(prepared.outside)))
    assert done.exit_code
    assert done.sandbox.denied, done.stderr.text
    assert str(done.sandbox.path).startswith((str(prepared.outside), str(Path.home())))
    assert (prepared.outside / "file").read_text() == "a\n"
    assert len(list(prepared.outside.iterdir())) == 1


@pytest.mark.parametrize("script", NOT_DENIED)
async def test_d13_esc_01_what_fails_for_other_reasons_is_no_denial(prepared: Rig, script: str) -> None:
    done = await prepared.run(script.replace("OUT", str(prepared.outside)))
    assert not done.sandbox.denied, (done.sandbox.path, done.stderr.text)


@pytest.mark.parametrize("script", ["touch x", "echo x > x", "mkdir d", "rm file", "touch ./x", "sed -i s/a/b/ file"])
async def test_in_read_only_mode_the_workspace_itself_is_denied(prepared: Rig, script: str) -> None:
    done = await prepared.run(script, READ_ONLY)
    assert done.sandbox.denied, done.stderr.text
    assert str(done.sandbox.path).startswith(str(prepared.ws))


@pytest.mark.parametrize("script", ["./file", "cat nothing", "grep nothing file", "ls nothing"])
async def test_in_read_only_mode_a_failed_read_is_no_denial(prepared: Rig, script: str) -> None:
    assert not (await prepared.run(script, READ_ONLY)).sandbox.denied


async def test_esc_03_a_protected_folder_in_the_workspace_is_denied(bubblewrap: Rig) -> None:
    assert (await bubblewrap.run("git init -q . && mkdir -p .git/hooks")).exit_code == 0
    for script in ("mkdir .git/hooks/d", "echo x > .git/hooks/pre-commit", "echo x >> .git/config"):
        done = await bubblewrap.run(script)
        assert done.sandbox.denied, (script, done.stderr.text)


async def test_d13_a_path_that_the_server_cannot_write_is_no_denial(bubblewrap: Rig) -> None:
    done = await bubblewrap.run("echo '/sys/kernel/nothing: Read-only file system' >&2; exit 1")
    assert not done.sandbox.denied


SAID = [
    ("bash: line 1: OUT/a: Read-only file system", "OUT/a"),
    ("bash: line 1: OUT/a b: Read-only file system", "OUT/a b"),
    ("touch: cannot touch 'OUT/a': Read-only file system", "OUT/a"),
    ("mkdir: cannot create directory ‘OUT/a’: Read-only file system", "OUT/a"),
    ("OSError: [Errno 30] Read-only file system: 'OUT/a'", "OUT/a"),
    ("Error: EROFS: read-only file system, open 'OUT/a'", "OUT/a"),
    ("open OUT/a: read-only file system", "OUT/a"),
    ("error: failed to write OUT/a: Read-only file system (os error 30)", "OUT/a"),
    ("mv: cannot move 'WS/a' to 'OUT/a': Read-only file system", "OUT/a"),
    ("/usr/bin/thing: cannot open OUT/a: Permission denied", "OUT/a"),
    ("OUT/a: Permission denied", "OUT/a"),
    ("thing: WS/a: Permission denied", None),
    ("/usr/bin/thing: Permission denied by policy of OUT/a", None),
    ("It said Read-only file system about OUT/a and went on", None),
    ("x" * 5000 + "OUT/a: Read-only file system", None),
]


def chosen(rig: Rig) -> Backend:
    backend = rig.sandbox.selection.choose()
    assert backend is not None
    return backend


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder in the machine's temp directory."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


async def test_the_machines_temp_directory_is_outside_where_it_is_not_replaced(confined: Rig, shared: Path) -> None:
    done = await confined.run(f"echo x > {shared}/new")
    assert done.exit_code
    assert done.sandbox.denied == (done.sandbox.backend == "landlock")
    assert list(shared.iterdir()) == []


async def test_a_workspace_in_the_temp_directory_is_denied_in_read_only_mode(confined: Rig, shared: Path) -> None:
    inside = Rig(confined.sandbox, Workdir.of(shared), confined.outside, confined.session)
    assert (await inside.run("echo x > new")).exit_code == 0
    for script in ("echo x > new", f"echo x > {shared}/new", "rm new"):
        assert (await inside.run(script, READ_ONLY)).sandbox.denied, script
    assert (shared / "new").read_text() == "x\n"


@pytest.mark.parametrize(("line", "path"), SAID, ids=range(len(SAID)))
def test_the_path_is_found_in_what_programs_print(bubblewrap: Rig, line: str, path: str | None) -> None:
    def named(text: str) -> str:
        return text.replace("OUT", str(bubblewrap.outside)).replace("WS", str(bubblewrap.ws))

    profile = bubblewrap.sandbox.profile(bubblewrap.session, bubblewrap.workspace, WORKSPACE_WRITE)
    found = evidence(named(line), chosen(bubblewrap), profile, bubblewrap.ws)
    assert (None if found is None else str(found)) == (None if path is None else named(path))


def test_the_search_is_bounded(bubblewrap: Rig) -> None:
    profile = bubblewrap.sandbox.profile(bubblewrap.session, bubblewrap.workspace, WORKSPACE_WRITE)
    line = " ".join(f"/{number}" for number in range(1500)) + ": Permission denied"
    assert evidence("\n".join([line] * 1000), chosen(bubblewrap), profile, bubblewrap.ws) is None
