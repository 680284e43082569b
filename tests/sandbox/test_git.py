"""Git in a workspace works, and nothing that git runs or obeys later can be changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from placet.sandbox import SandboxMode, Workdir, WorkspaceFacts
from placet.sandbox.backends import bubblewrap as bwrap_module
from placet.sandbox.workspace.git import outside_roots
from placet.sandbox.workspace.sentinel import Sentinels
from placet.testing.backends import READ_ONLY, WORKSPACE_WRITE, Rig

pytestmark = pytest.mark.anyio

SHARE = 1 if os.environ.get("PLACET_SOAK") == "1" else 10
WHO = ("-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false")
COMMIT = "git -c user.name=A -c user.email=a@example.invalid commit -q -m x"


def git(folder: Path, *words: str) -> str:
    """Git on the host, without anybody's configuration."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
    }
    return subprocess.run(["git", *WHO, *words], cwd=folder, env=env, capture_output=True, text=True, check=True).stdout


def repository(folder: Path, commits: int = 1) -> None:
    git(folder, "init", "-q", ".")
    (folder / ".git" / "hooks").mkdir(exist_ok=True)
    for number in range(commits):
        (folder / "file").write_text(f"{number}\n")
        git(folder, "add", "file")
        git(folder, "commit", "-q", "-m", str(number))


def tree(folder: Path) -> set[tuple[str, int, int]]:
    """Everything below a folder: its name, mode and size."""
    found = set()
    for path in folder.rglob("*"):
        facts = path.lstat()
        found.add((str(path.relative_to(folder)), facts.st_mode, 0 if path.is_dir() else facts.st_size))
    return found


async def test_a_commit_works_in_the_workspace(confined: Rig) -> None:
    repository(confined.ws)
    done = await confined.run(
        f"echo new > file && git add file && {COMMIT} && git status --porcelain && git fsck && git gc -q"
    )
    assert (done.exit_code, done.stdout.text) == (0, "")
    assert git(confined.ws, "log", "--format=%s").split() == ["x", "0"]


@pytest.mark.parametrize(
    "script",
    [
        "mv .git .g; mkdir .git; cp -r .g/. .git/; echo x > .git/config",
        "echo /nowhere > .git/commondir",
        "rm -f .git/commondir; echo /nowhere > .git/commondir",
        "echo x > .git/hooks/pre-commit",
        "mv .git/hooks .git/h; mkdir .git/hooks",
        "rm -rf .git/hooks",
        "git config core.fsmonitor /bin/false",
        "echo '[core]' >> .git/config",
        "mv .git/config .git/c",
        "ln -sf /etc/passwd .git/config",
        "mv .git/info .git/i",
        "mv .git/worktrees .git/w",
        "mv .git/worktrees/side .git/worktrees/s",
    ],
)
async def test_11_nothing_that_git_obeys_can_be_changed(bubblewrap: Rig, script: str) -> None:
    repository(bubblewrap.ws)
    git(bubblewrap.ws, "worktree", "add", "-q", str(bubblewrap.outside / "side"))
    (bubblewrap.ws / ".git" / "info" / "attributes").write_text("* text\n")
    config = (bubblewrap.ws / ".git" / "config").read_bytes()
    done = await bubblewrap.run(f"set -e; {script}")
    assert done.exit_code != 0
    assert (bubblewrap.ws / ".git" / "config").read_bytes() == config
    assert list((bubblewrap.ws / ".git" / "hooks").glob("pre-commit")) == []
    assert not (bubblewrap.ws / ".git" / "commondir").exists()
    assert git(bubblewrap.ws, "log", "--format=%s").split() == ["0"]


@pytest.mark.parametrize("mode", [READ_ONLY, WORKSPACE_WRITE])
async def test_sbx_12_commands_leave_the_workspace_as_it_was(confined: Rig, mode: SandboxMode) -> None:
    repository(confined.ws)
    before, mounts = tree(confined.ws), _mounts()
    around = sorted(confined.ws.parent.iterdir())
    for number in range(100 // SHARE):
        stopped = number % 10 == 0
        done = await confined.run("sleep 60" if stopped else "true", mode, timeout_ms=100 if stopped else 20_000)
        assert (done.timed_out, done.exit_code) == ((True, None) if stopped else (False, 0))
    assert tree(confined.ws) == before
    assert (sorted(confined.ws.parent.iterdir()), _mounts()) == (around, mounts)
    assert list(confined.outside.iterdir()) == []
    assert git(confined.ws, "status", "--porcelain") == ""


def _mounts() -> list[str]:
    return Path("/proc/self/mountinfo").read_text().splitlines()


async def test_12_an_empty_workspace_stays_empty_and_can_become_a_repository(confined: Rig) -> None:
    assert (await confined.run("true")).exit_code == 0
    assert list(confined.ws.iterdir()) == []
    assert (await confined.run("git init -q . && touch f && git add f")).exit_code == 0


async def test_sbx_12_a_killed_server_leaves_what_the_next_start_removes(bubblewrap: Rig) -> None:
    repository(bubblewrap.ws)
    before, mounts = tree(bubblewrap.ws), _mounts()
    state = bubblewrap.sandbox.temp_dir(bubblewrap.session).parents[1]
    for _ in range(10 // SHARE):
        server = subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(state), str(bubblewrap.ws)], stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        assert server.stdout.readline() == "running\n"
        assert (bubblewrap.ws / ".git" / "commondir").read_text() == ".\n"
        server.send_signal(signal.SIGKILL)
        server.wait()
        server.stdout.close()
        bubblewrap.sandbox.sweep()
        assert tree(bubblewrap.ws) == before
    assert _mounts() == mounts


def test_a_sentinel_that_somebody_holds_is_not_swept(tmp_path: Path) -> None:
    directory = tmp_path / "git"
    directory.mkdir()
    first, second = Sentinels(tmp_path / "locks"), Sentinels(tmp_path / "locks")
    held = first.hold([directory])
    second.sweep()
    second.hold([directory]).close()
    assert (directory / "commondir").read_text() == ".\n"
    held.close()
    assert not (directory / "commondir").exists()


def test_a_commondir_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "commondir").write_text("../..\n")
    sentinels = Sentinels(tmp_path / "locks")
    sentinels.hold([tmp_path]).close()
    sentinels.sweep()
    assert (tmp_path / "commondir").read_text() == "../..\n"


async def test_sbx_10_a_commit_works_in_a_linked_worktree_and_opens_no_hooks(bubblewrap: Rig) -> None:
    repository(bubblewrap.outside)
    git(bubblewrap.outside, "worktree", "add", "-q", str(bubblewrap.ws / "tree"))
    facts = await bubblewrap.sandbox.check_workspace(bubblewrap.ws / "tree")
    assert isinstance(facts, WorkspaceFacts)
    assert facts.git_roots == (bubblewrap.outside / ".git",)
    inside = Rig(bubblewrap.sandbox, facts.workdir, bubblewrap.outside, bubblewrap.session, facts.git_roots)
    done = await inside.run(f"echo new > new && git add -A && {COMMIT}")
    assert (done.exit_code, done.stderr.text) == (0, "")
    for script in (
        "echo x > .git",
        "git config x.y z",
        f"echo x > {bubblewrap.outside}/.git/hooks/pre-commit",
        f"echo x > {bubblewrap.outside}/.git/commondir",
        f"echo x > {bubblewrap.outside}/.git/worktrees/tree/commondir",
        f"echo x > {bubblewrap.outside}/file",
    ):
        assert (await inside.run(script)).exit_code != 0, script
    assert not (bubblewrap.outside / ".git" / "commondir").exists()


async def test_sbx_10_a_commit_in_a_submodule_is_denied_with_its_path(bubblewrap: Rig) -> None:
    inner = bubblewrap.outside / "inner"
    inner.mkdir()
    repository(inner)
    whole = bubblewrap.outside / "whole"
    whole.mkdir()
    repository(whole)
    git(whole, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    facts = await bubblewrap.sandbox.check_workspace(whole / "sub")
    assert isinstance(facts, WorkspaceFacts)
    assert facts.git_roots == ()
    inside = Rig(bubblewrap.sandbox, facts.workdir, bubblewrap.outside, bubblewrap.session)
    done = await inside.run("touch new && git add new")
    assert done.sandbox.denied
    assert str(done.sandbox.path).startswith(str(whole / ".git"))


def test_a_worktree_that_is_not_named_back_has_no_outside_roots(tmp_path: Path) -> None:
    main, forged = tmp_path / "main", tmp_path / "forged"
    main.mkdir()
    forged.mkdir()
    repository(main)
    git(main, "worktree", "add", "-q", str(tmp_path / "tree"))
    (forged / ".git").write_text((tmp_path / "tree" / ".git").read_text())
    assert outside_roots(tmp_path / "tree") == (main / ".git",)
    assert outside_roots(forged) == ()
    (forged / ".git").write_text("gitdir: /etc\n")
    assert outside_roots(forged) == ()
    os.unlink(forged / ".git")
    os.mkfifo(forged / ".git")
    assert outside_roots(forged) == ()


async def test_sbx_13_starts_do_not_fail_while_git_rewrites_its_files(confined: Rig) -> None:
    repository(confined.ws)
    loop = "while :; do git config x.y z; touch .git/modules a; rm -f .git/modules a; done"
    busy = subprocess.Popen(["bash", "-c", loop], cwd=confined.ws, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        for _ in range(500 // SHARE):
            done = await confined.run("true")
            assert (done.exit_code, done.sandbox.runner_failed) == (0, None)
        assert busy.poll() is None
        assert git(confined.ws, "config", "x.y") == "z\n"
    finally:
        os.killpg(busy.pid, signal.SIGKILL)
        busy.wait()


@pytest.mark.parametrize("way", ["directory", "hooks", "config"])
async def test_11_a_git_folder_behind_a_symlink_is_guarded_as_well(bubblewrap: Rig, way: str) -> None:
    repository(bubblewrap.ws)
    git_folder, shared = bubblewrap.ws / ".git", bubblewrap.ws / "shared"
    if way == "directory":
        git_folder.rename(shared)
        git_folder.symlink_to("shared")
    elif way == "hooks":
        (git_folder / "hooks").rename(shared)
        (git_folder / "hooks").symlink_to("../shared")
    else:
        (git_folder / "config").rename(shared)
        (git_folder / "config").symlink_to("../shared")
    before = tree(bubblewrap.ws)
    target = {"directory": "shared/hooks/pre-commit", "hooks": "shared/pre-commit", "config": "shared"}[way]
    for script in (f"echo x >> {target}", "git config x.y z", "mv shared other", "echo x > .git/hooks/pre-commit"):
        if way != "config" or "hooks" not in script:
            await bubblewrap.run(script)
    assert {one for one in tree(bubblewrap.ws) if one[0] != ".git"} >= {one for one in before if one[0] != ".git"}
    watch = bubblewrap.sandbox.watches.begin(bubblewrap.ws)
    link = ".git" if way == "directory" else f".git/{way}"
    done = await bubblewrap.run(f"mkdir z && ln -sfn z x && mv -T x {link}")
    found = {str(one.path.relative_to(bubblewrap.ws)) for one in watch.end().things}
    assert found == ({link} if done.exit_code == 0 else set())
    assert (await bubblewrap.run("true")).exit_code == 0


async def test_the_hooks_that_a_command_makes_where_there_were_none_are_found(bubblewrap: Rig) -> None:
    repository(bubblewrap.ws)
    for one in (bubblewrap.ws / ".git" / "hooks").iterdir():
        one.unlink()
    (bubblewrap.ws / ".git" / "hooks").rmdir()
    watch = bubblewrap.sandbox.watches.begin(bubblewrap.ws)
    assert (await bubblewrap.run("mkdir .git/hooks && echo id > .git/hooks/pre-commit")).exit_code == 0
    assert [(one.path.name, one.kind.value) for one in watch.end().things] == [("pre-commit", "git-hook")]


async def test_a_folder_that_becomes_a_symlink_during_the_start_opens_nothing_that_is_hidden(
    bubblewrap: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(bubblewrap.ws)
    state = bubblewrap.sandbox.temp_dir(bubblewrap.session).parents[1]
    (state / "secret").write_text("secret")
    real = bwrap_module.flags

    def swapped(*words: Any, **more: Any) -> list[str]:
        found = real(*words, **more)
        if not (bubblewrap.ws / ".git" / "old").exists():
            (bubblewrap.ws / ".git" / "hooks").rename(bubblewrap.ws / ".git" / "old")
            (bubblewrap.ws / ".git" / "hooks").symlink_to("../../state")
        return found

    bubblewrap.sandbox.selection.choose()
    monkeypatch.setattr(bwrap_module, "flags", swapped)
    done = await bubblewrap.run("cat .git/hooks/secret; ls .git/hooks/ ../state")
    assert "secret" not in done.stdout.text
    assert (bubblewrap.ws / ".git" / "hooks").is_symlink()


@pytest.mark.parametrize(
    "way",
    [
        "git apply patch",
        "ln -s OUT link && tar cf a.tar link && rm link && tar xf a.tar",
        "ln -s OUT x && cp -a x link && rm x",
    ],
)
async def test_sbx_03_a_symlink_that_arrives_by_a_tool_leads_nowhere(confined: Rig, way: str) -> None:
    git(confined.ws, "init", "-q", ".")
    target = str(confined.outside)
    patch = f"diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+{target}\n"
    (confined.ws / "patch").write_text(patch + "\\ No newline at end of file\n")
    done = await confined.run(way.replace("OUT", target) + " && test -L link && echo x > link/new")
    assert (done.exit_code, done.sandbox.denied) == (1, True), done.stderr.text
    assert list(confined.outside.iterdir()) == []


async def test_bsh_07_a_rebase_goes_on_without_an_editor(bubblewrap: Rig) -> None:
    repository(bubblewrap.ws, 2)
    git(bubblewrap.ws, "checkout", "-q", "-b", "side", "HEAD~1")
    (bubblewrap.ws / "file").write_text("side\n")
    git(bubblewrap.ws, "commit", "-q", "-a", "-m", "side")
    done = await bubblewrap.run(
        "export GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.invalid;"
        " main=$(git branch --format='%(refname:short)' | grep -v side); git rebase -q $main;"
        " echo solved > file; git add file; git rebase --continue",
        timeout_ms=15_000,
    )
    assert (done.exit_code, done.timed_out) == (0, False), done.stderr.text
    assert git(bubblewrap.ws, "log", "--format=%s").split() == ["side", "1", "0"]


async def test_bsh_09_an_interactive_rebase_fails_and_changes_nothing(bubblewrap: Rig) -> None:
    repository(bubblewrap.ws, 5)
    head = git(bubblewrap.ws, "rev-parse", "HEAD")
    named = "export GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.invalid;"
    done = await bubblewrap.run(f"{named} git rebase -i HEAD~3", timeout_ms=15_000)
    assert done.exit_code
    assert "editor" in done.stderr.text  # not for want of a name
    assert git(bubblewrap.ws, "rev-parse", "HEAD") == head


_SERVER = textwrap.dedent("""
    import sys
    from pathlib import Path
    import anyio
    from placet.sandbox import Bubblewrap, Command, Sandbox, SandboxMode, Selection, Workdir
    from placet.testing.backends import TestPlaces
    state = Path(sys.argv[1])
    box = Sandbox(TestPlaces(state), Selection([Bubblewrap(state)], {}))
    profile = box.profile("s-killed", Workdir.of(Path(sys.argv[2])), SandboxMode.WORKSPACE_WRITE)
    said = lambda *_: print("running", flush=True)
    anyio.run(box.run, Command(profile=profile, script="echo x; sleep 60", on_output=said))
""")


def test_a_workdir_of_a_missing_folder_is_refused(tmp_path: Path) -> None:
    from placet.sandbox import WorkdirUnusable

    with pytest.raises(WorkdirUnusable):
        Workdir.of(tmp_path / "nothing")


async def test_a_sentinel_of_another_state_directory_stays_while_it_is_held_and_goes_when_its_server_is_gone(
    tmp_path: Path,
) -> None:
    git = tmp_path / ".git"
    git.mkdir()
    one, other = Sentinels(tmp_path / "one"), Sentinels(tmp_path / "other")
    held = one.hold([git])
    other.hold([git]).close()
    assert (git / "commondir").read_text() == ".\n"
    held.close()
    assert not (git / "commondir").exists()
    (git / "commondir").write_text(".\n")  # as a killed server leaves it
    other.hold([git]).close()
    assert not (git / "commondir").exists()
