"""What a command makes or changes and other programs of the person will run is found, and can be moved away."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from placet.sandbox import SandboxMode, Workdir
from placet.sandbox.errors import MoveFailed
from placet.sandbox.workspace import appeared
from placet.sandbox.workspace.appeared import Findings, Kind
from placet.sandbox.workspace.quarantine import move_away
from placet.testing.backends import WORKSPACE_WRITE, Rig
from tests.sandbox.test_git import COMMIT, repository

pytestmark = pytest.mark.anyio


def told(found: Findings, root: Path) -> dict[str, str]:
    return {str(one.path.relative_to(root)): one.kind.value for one in found.things}


async def found(rig: Rig, script: str, mode: SandboxMode = WORKSPACE_WRITE) -> dict[str, str]:
    watch = rig.sandbox.watches.begin(rig.ws, rig.git_roots)
    done = await rig.run(script, mode)
    assert done.exit_code == 0, done.stderr.text
    return told(watch.end(), rig.ws)


@pytest.mark.parametrize(
    ("script", "path", "kind"),
    [
        ("mkdir -p a/.git && cp -r .git/HEAD .git/objects .git/refs a/.git/", "a/.git", Kind.REPOSITORY),
        ("mkdir a && cp -r .git/HEAD .git/config .git/objects .git/refs a/", "a", Kind.REPOSITORY),
        ("mkdir a && echo gitdir: ../x > a/.git", "a/.git", Kind.REPOSITORY),
        ("mkdir a && ln -s ../x a/.git", "a/.git", Kind.REPOSITORY),
        ("mkdir .git/rebase-merge && echo exec id > .git/rebase-merge/git-rebase-todo", ".git/rebase-merge",
         Kind.GIT_STEPS),
        ("mkdir .git/rebase-apply", ".git/rebase-apply", Kind.GIT_STEPS),
        ("mkdir .git/sequencer && echo pick > .git/sequencer/todo", ".git/sequencer", Kind.GIT_STEPS),
        ("echo id > .envrc", ".envrc", Kind.SHELL),
        ("mkdir -p sub/.vscode && echo {} > sub/.vscode/tasks.json", "sub/.vscode/tasks.json", Kind.EDITOR),
        ("mkdir -p .idea/runConfigurations && echo x > .idea/runConfigurations/a.xml", ".idea/runConfigurations/a.xml",
         Kind.EDITOR),
        ("mkdir -p .venv/lib && echo import os > .venv/lib/x.pth", ".venv/lib/x.pth", Kind.PYTHON),
        ("echo x > sitecustomize.py", "sitecustomize.py", Kind.PYTHON),
        ("echo {} > package.json", "package.json", Kind.PACKAGE),
        ("echo all: > Makefile", "Makefile", Kind.MAKE),
        ("mkdir b && mv kept/Makefile b/", "b/Makefile", Kind.MAKE),
        ("mv kept new", "new/Makefile", Kind.MAKE),
        ("echo more >> kept/Makefile", "kept/Makefile", Kind.MAKE),
        ("cp kept/Makefile x && touch -d '2001-01-01' x && mv x kept/Makefile", "kept/Makefile", Kind.MAKE),
        ("ln -sf /etc/passwd kept/Makefile", "kept/Makefile", Kind.MAKE),
    ],
)  # fmt: skip
async def test_11_what_other_programs_run_is_found(confined: Rig, script: str, path: str, kind: Kind) -> None:
    repository(confined.ws)
    (confined.ws / "kept").mkdir()
    (confined.ws / "kept" / "Makefile").write_text("all:\n")
    assert await found(confined, "true") == {}
    assert await found(confined, script) == {path: kind.value}
    assert await found(confined, "true") == {}


@pytest.mark.parametrize(
    ("setting", "listed"),
    [
        ("kept/hooks", True),
        ("./kept/hooks", True),
        ('"kept/hooks"', True),
        ("kept/other", False),
        ("/kept/hooks", False),
        ("../kept/hooks", False),
    ],
)
async def test_11_hooks_in_the_folder_that_the_settings_of_git_name_are_found(
    confined: Rig, setting: str, listed: bool
) -> None:
    repository(confined.ws)
    config = confined.ws / ".git" / "config"
    config.write_text(f"{config.read_text()}\n[core]\n\thooksPath = {setting}\n")
    (confined.ws / "kept" / "hooks").mkdir(parents=True)
    assert await found(confined, "true") == {}
    expected = {"kept/hooks/pre-commit": "git-hook"} if listed else {}
    assert await found(confined, "echo id > kept/hooks/pre-commit; echo x > kept/note") == expected


async def test_11_settings_of_git_that_are_no_file_or_have_no_end_hold_up_no_look(landlock: Rig) -> None:
    repository(landlock.ws)
    script = "rm .git/config; mkfifo .git/config; yes '[core] hooksPath = a' | head -c 9000000 > .git/config.worktree"
    assert set(await found(landlock, f"{script}; mkdir a; echo id > a/pre-push")) == {
        ".git/config", ".git/config.worktree", "a/pre-push",
    }  # fmt: skip


async def test_11_what_git_obeys_is_found_where_it_cannot_be_protected(landlock: Rig) -> None:
    repository(landlock.ws)
    assert await found(landlock, "git config x.y z; echo x > .git/hooks/pre-commit; echo /x > .git/commondir") == {
        ".git/config": "git-settings",
        ".git/commondir": "git-settings",
        ".git/hooks/pre-commit": "git-hook",
    }
    assert await found(landlock, "rm -r .git/hooks; ln -s ../kept .git/hooks") == {".git/hooks": "git-settings"}
    assert await found(landlock, "echo '* text' > .git/info/attributes") == {".git/info/attributes": "git-settings"}


async def test_an_ordinary_commit_is_not_worth_a_word(confined: Rig) -> None:
    repository(confined.ws)
    assert await found(confined, f"echo new > file; mkdir d; echo x > d/y; git add -A; {COMMIT}; git gc -q") == {}


async def test_what_the_person_did_before_the_call_is_not_the_agents(bubblewrap: Rig) -> None:
    assert await found(bubblewrap, "true") == {}
    (bubblewrap.ws / "Makefile").write_text("all:\n")
    await anyio.sleep(0.05)  # the clock of the file system moves in steps
    assert await found(bubblewrap, "true") == {}
    assert await found(bubblewrap, "echo x >> Makefile") == {"Makefile": "make"}


async def test_the_packages_of_others_are_not_listed_one_by_one(bubblewrap: Rig) -> None:
    script = "mkdir -p node_modules/a/.git && touch node_modules/a/package.json node_modules/a/Makefile"
    assert await found(bubblewrap, script) == {"node_modules/a/.git": "repository"}


async def test_a_look_is_bounded_and_says_so(bubblewrap: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appeared, "ENTRIES", 100)
    look = appeared._Look(left=100)
    for number in range(60):
        (bubblewrap.ws / f"d{number}" / "e").mkdir(parents=True)
    look.folder(bubblewrap.ws)
    assert look.left == 0
    watch = bubblewrap.sandbox.watches.begin(bubblewrap.ws)
    monkeypatch.setattr(appeared, "LISTED", 5)
    await bubblewrap.run("for n in 1 2 3 4 5 6 7; do mkdir p$n; touch p$n/Makefile; done")
    ended = watch.end()
    assert (len(ended.things), ended.more) == (5, 2)


async def test_a_link_out_of_the_workspace_is_not_followed(bubblewrap: Rig) -> None:
    (bubblewrap.outside / "Makefile").write_text("all:\n")
    assert await found(bubblewrap, f"ln -s {bubblewrap.outside} out; ln -s .. up; mkfifo pipe") == {}


@pytest.mark.parametrize("what", ["folder", "file", "link"])
def test_it_moves_away_as_it_is(tmp_path: Path, what: str) -> None:
    workspace, target = tmp_path / "workspace", tmp_path / "elsewhere"
    (workspace / "a").mkdir(parents=True)
    thing = workspace / "a" / "thing"
    if what == "folder":
        (thing / "inner").mkdir(parents=True)
        (thing / "inner" / "x").write_text("x")
    elif what == "file":
        thing.write_text("x")
    else:
        thing.symlink_to("/etc/passwd")
    moved = move_away(Workdir.of(workspace), (), thing, target)
    assert moved.parent == target
    assert not os.path.lexists(thing)
    assert moved.is_symlink() == (what == "link")
    assert (moved / "inner" / "x").exists() == (what == "folder")


def test_it_moves_to_another_file_system(tmp_path: Path) -> None:
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second file system")
    target = other / f"placet-test-{os.getpid()}"
    (tmp_path / "thing" / "inner").mkdir(parents=True)
    (tmp_path / "thing" / "inner" / "x").write_text("x")
    (tmp_path / "thing" / "link").symlink_to("/etc")
    os.mkfifo(tmp_path / "thing" / "pipe")
    try:
        moved = move_away(Workdir.of(tmp_path), (), tmp_path / "thing", target)
        assert (moved / "inner" / "x").read_text() == "x"
        assert os.readlink(moved / "link") == "/etc"
        assert list(tmp_path.iterdir()) == []
    finally:
        import shutil

        shutil.rmtree(target)


@pytest.mark.parametrize("path", ["link/x", "..", "../outside", "missing", "link/../../outside"])
def test_nothing_outside_of_the_workspace_moves(tmp_path: Path, path: str) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_text("x")
    (workspace / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(MoveFailed):
        move_away(Workdir.of(workspace), (), workspace / path, tmp_path / "elsewhere")
    assert (tmp_path / "outside" / "x").exists()
