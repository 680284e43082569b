"""Which folders may be a workspace, and the one line that says why not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from placet.sandbox import Selection, WorkspaceFacts, WorkspaceRefused
from placet.sandbox.execution import environment
from placet.sandbox.service import Sandbox
from placet.sandbox.workspace import check
from placet.sandbox.workspace.hidden import hidden
from placet.testing.backends import READ_ONLY, WORKSPACE_WRITE, Rig, TestPlaces

pytestmark = pytest.mark.anyio


async def refused(rig: Rig, path: Path | str) -> str:
    found = await rig.sandbox.check_workspace(Path(path))
    assert isinstance(found, WorkspaceRefused), found
    assert "\n" not in found.why
    return found.why


async def test_a_folder_of_ones_own_is_accepted(bubblewrap: Rig) -> None:
    found = await bubblewrap.sandbox.check_workspace(bubblewrap.ws)
    assert found == WorkspaceFacts(bubblewrap.workspace, (), ())


async def test_d5_a_symlink_is_resolved(bubblewrap: Rig) -> None:
    (bubblewrap.outside / "link").symlink_to(bubblewrap.ws)
    found = await bubblewrap.sandbox.check_workspace(bubblewrap.outside / "link")
    assert isinstance(found, WorkspaceFacts)
    assert found.workdir == bubblewrap.workspace


async def test_what_is_no_folder_is_refused(bubblewrap: Rig) -> None:
    (bubblewrap.ws / "file").touch()
    os.mkfifo(bubblewrap.ws / "fifo")
    assert "No such file" in await refused(bubblewrap, bubblewrap.ws / "missing")
    assert "not a directory" in await refused(bubblewrap, bubblewrap.ws / "file")
    assert "not a directory" in await refused(bubblewrap, bubblewrap.ws / "fifo")
    assert "whole path" in await refused(bubblewrap, "relative")
    assert "embedded null" in await refused(bubblewrap, "/a\0b")


async def test_folders_that_hold_too_much_are_refused(bubblewrap: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "(/)" in await refused(bubblewrap, "/")
    monkeypatch.setenv("HOME", str(bubblewrap.ws))
    assert "home directory" in await refused(bubblewrap, bubblewrap.ws)
    assert "home directory" in await refused(bubblewrap, bubblewrap.ws.parent)
    for system in ("/proc", "/sys", "/dev", "/run"):
        assert "system" in await refused(bubblewrap, system)


async def test_placets_own_state_is_refused(bubblewrap: Rig) -> None:
    temp = bubblewrap.sandbox.temp_dir(bubblewrap.session)
    state = temp.parents[1]
    assert "state" in await refused(bubblewrap, state)
    assert "state" in await refused(bubblewrap, state.parent)
    assert "state" in await refused(bubblewrap, temp)


async def test_7_placets_own_code_in_the_workspace_stays_read_only(
    bubblewrap: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = bubblewrap.ws / "environment" / "lib"
    code.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(code))
    found = await bubblewrap.sandbox.check_workspace(bubblewrap.ws)
    assert isinstance(found, WorkspaceFacts)
    assert found.read_only == (code,)
    assert (await bubblewrap.run(f"echo x > {code}/planted.py")).sandbox.denied
    assert (await bubblewrap.run("mv environment e")).exit_code != 0
    assert list(code.iterdir()) == []
    assert "placet's own program" in await refused(bubblewrap, code)


async def test_sec_04_what_starts_placet_from_a_checkout_stays_read_only(
    bubblewrap: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = [bubblewrap.ws / name for name in ("Makefile", "hatch_build.py", "tools", "ui")]
    (bubblewrap.ws / "src" / "placet").mkdir(parents=True)
    for path in starts:
        path.mkdir() if path.name in ("tools", "ui") else path.write_text("as it was\n")
    monkeypatch.setattr(check, "_PACKAGE", bubblewrap.ws / "src" / "placet")
    found = await bubblewrap.sandbox.check_workspace(bubblewrap.ws)
    assert isinstance(found, WorkspaceFacts)
    assert set(starts) <= set(found.read_only)
    assert (await bubblewrap.run("echo x >> Makefile")).sandbox.denied
    assert (await bubblewrap.run("touch tools/venv")).exit_code != 0
    assert (await bubblewrap.run("echo y > notes.txt")).exit_code == 0


async def test_7_without_bubblewrap_such_a_workspace_is_refused(landlock: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    code = landlock.ws / "lib"
    code.mkdir()
    monkeypatch.syspath_prepend(str(code))
    assert "bubblewrap" in await refused(landlock, landlock.ws)


async def test_the_write_probe_leaves_nothing_behind(confined: Rig) -> None:
    assert await confined.sandbox.probe_write(confined.session, confined.workspace) is None
    assert list(confined.ws.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a folder of another account")
async def test_a_folder_of_another_account_is_refused_with_its_owner(confined: Rig) -> None:
    os.chown(confined.ws, 65534, 65534)
    why = await confined.sandbox.probe_write(confined.session, confined.workspace)
    assert why is not None
    assert f"belongs to {check._account(65534)}" in why
    assert "\n" not in why


async def test_what_others_authenticate_with_is_hidden(bubblewrap: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    home = bubblewrap.outside
    for name in (".ssh/id_test", ".mozilla/firefox/p/cookies.sqlite", "snap/firefox/common/x", ".docker/config.json"):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text("a secret")
    (home / ".netrc").write_text("a secret")
    (home / "plain").write_text("no secret")
    monkeypatch.setenv("HOME", str(home))
    for mode in (READ_ONLY, WORKSPACE_WRITE):
        done = await bubblewrap.run("grep -rs 'a secret' ~; cat ~/plain; ls -A ~/.ssh", mode)
        assert done.stdout.text == "no secret"
    state = bubblewrap.sandbox.temp_dir(bubblewrap.session).parents[1]
    (state / "placet.db").write_text("a secret")
    assert (await bubblewrap.run(f"ls -A {state}; cat {state}/placet.db")).stdout.text == ""


def test_the_hide_list_can_be_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (".ssh", ".aws", "mine", "state"):
        (tmp_path / name).mkdir()
    found = hidden(tmp_path / "state", names=(".ssh", ".aws", "mine"), shown=(tmp_path / ".aws",))
    assert [path.name for path in found if tmp_path in path.parents] == [".ssh", "mine", "state"]


async def test_sbx_17_two_sessions_do_not_share_their_temp_files(bubblewrap: Rig) -> None:
    other = Rig(bubblewrap.sandbox, bubblewrap.workspace, bubblewrap.outside, type(bubblewrap.session)("s-other"))
    await bubblewrap.run("echo mine > /tmp/name; echo more > /var/tmp/name2")
    assert (await bubblewrap.run("cat /tmp/name /var/tmp/name2 /tmp/name2")).stdout.text == "mine\nmore\nmore\n"
    assert (await other.run("cat /tmp/name")).exit_code == 1
    bubblewrap.sandbox.forget_session(bubblewrap.session)
    assert (await bubblewrap.run("ls -A /tmp")).stdout.text == ""


POOL = """
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(2) as pool:
    print(list(pool.map(abs, [-1, -2])))
"""


async def test_sbx_09_process_pools_and_devices_work(bubblewrap: Rig) -> None:
    shared = f"/dev/shm/{bubblewrap.ws.parent.name}"
    done = await bubblewrap.run(
        f'python3 -c "{POOL}" && mktemp && echo x > /dev/null && echo out > /dev/stdout && '
        f"touch {shared}; python3 -c 'import pty; pty.openpty()'; echo x > /dev/full"
    )
    assert done.stdout.text.startswith("[1, 2]\n/tmp/tmp.")
    assert done.stdout.text.endswith("out\n")
    assert done.stderr.text.count("\n") == 1
    assert "No space left" in done.stderr.text
    assert not os.path.lexists(shared)


async def test_sbx_09_under_landlock_devices_work_and_what_does_not_is_said(landlock: Rig) -> None:
    done = await landlock.run("mktemp && echo x > /dev/null && echo out > /dev/stdout; echo x > /dev/full")
    assert done.stdout.text.startswith(f"{landlock.sandbox.temp_dir(landlock.session)}/tmp.")
    assert done.stdout.text.endswith("out\n")
    assert "No space left" in done.stderr.text
    pool = await landlock.run(f'python3 -c "{POOL}"')
    assert (pool.exit_code, pool.stdout.text) == (1, "")
    assert "PermissionError" in pool.stderr.text
    [report] = landlock.sandbox.selection.report()["backends"]
    assert any("/dev/shm" in said and "do not work" in said for said in report["not_governed"])


async def test_d1_name_resolution_still_works(bubblewrap: Rig) -> None:
    done = await bubblewrap.run("getent hosts localhost && cat /etc/resolv.conf > /dev/null && ls /run")
    assert done.exit_code == 0
    assert "localhost" in done.stdout.text


async def test_c9_d12_the_environment_is_built_from_a_short_list(
    confined: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "OPENAI_API_KEY",
        "LD_PRELOAD_X",
        "BASH_ENV",
        "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS",
        "PYTHONPATH",
        "PLACET_SESSION",
        "PLACET_SHELL",
        "TERM",
        "NO_COLOR",
        "PAGER",
    ):
        monkeypatch.setenv(name, "leaked")
    monkeypatch.setenv("https_proxy", "http://name:leaked@proxy:1")
    for mode in (READ_ONLY, WORKSPACE_WRITE):
        done = await confined.run("env", mode)
        assert "leaked" not in done.stdout.text
        assert f"PLACET_SESSION={confined.session}\n" in done.stdout.text
        assert {"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "PLACET_SHELL=1"} <= set(done.stdout.text.splitlines())


async def test_the_search_path_of_an_escalated_call_is_fixed(bubblewrap: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"relative::{bubblewrap.ws}/bin:{os.environ['PATH']}")
    usual = bubblewrap.sandbox.profile(bubblewrap.session, bubblewrap.workspace, WORKSPACE_WRITE)
    granted = bubblewrap.sandbox.profile(bubblewrap.session, bubblewrap.workspace, WORKSPACE_WRITE, escalated=True)
    assert environment.build(usual, "/tmp")["PATH"].startswith(f"{bubblewrap.ws}/bin:")
    assert environment.build(granted, "/tmp")["PATH"] == environment.FIXED_PATH


async def test_without_any_backend_a_plain_folder_is_still_a_workspace(tmp_path: Path) -> None:
    box = Sandbox(TestPlaces(tmp_path / "state"), Selection([], {}))
    (tmp_path / "folder").mkdir()
    assert isinstance(await box.check_workspace(tmp_path / "folder"), WorkspaceFacts)
    assert sys.prefix
