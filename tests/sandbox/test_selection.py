"""A backend is chosen because it confines here, not because of what it is called or what it says."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from placet.sandbox import (
    Bubblewrap,
    Command,
    Landlock,
    Sandbox,
    SandboxMode,
    SandboxUnavailable,
    Selection,
    StartFailed,
    Workdir,
    WorkdirChanged,
    WorkdirUnusable,
)
from placet.session.ids import SessionId
from placet.testing.backends import Rig, TestPlaces

pytestmark = pytest.mark.anyio

FAKES = {
    "old /proc message": 'echo "bwrap: Can\'t mount proc on /newroot/proc: Operation not permitted" >&2; exit 1',
    "new /proc message": 'echo "bwrap: mount proc: EPERM" >&2; exit 1',
    "network message": 'echo "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted" >&2; exit 1',
    "uid map message": 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1',
    "no message": "exit 1",
    "another language": 'echo "bwrap: Vorgang nicht zulässig" >&2; exit 1',
    "success without running": "exit 0",
    "the right code without running": "exit 70",
    "success without confining": 'while [ "$1" != "--" ]; do shift; done; shift; exec "$@"',
    "a long silence": "exec sleep 60",
}


def fake(folder: Path, script: str) -> str:
    program = folder / "bwrap"
    program.write_text(f"#!/bin/bash\n{script}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize("what", FAKES)
def test_d10_sbx_15_a_bwrap_that_does_not_confine_is_not_used(tmp_path: Path, what: str) -> None:
    began = time.monotonic()
    backend = Bubblewrap(tmp_path / "state", fake(tmp_path, FAKES[what]))
    result = backend.probe()
    assert not result.usable
    assert result.why
    assert time.monotonic() - began < 20


async def test_d10_sbx_15_the_next_backend_is_used_instead(tmp_path: Path) -> None:
    state = tmp_path / "state"
    selection = Selection([Bubblewrap(state, fake(tmp_path, "exit 0")), Landlock(state)], {})
    chosen = selection.choose()
    report = selection.report()
    assert report["chosen"] == (chosen.name if chosen else None)
    assert [row["name"] for row in report["backends"]] == ["bubblewrap", "landlock"]
    assert report["backends"][0]["usable"] is False
    assert (chosen is not None) == report["backends"][1]["usable"]


async def test_d9_without_a_backend_nothing_runs_and_the_refusal_says_what_helps(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    selection = Selection([Bubblewrap(tmp_path / "state", fake(tmp_path, "exit 1"))], {})
    box = Sandbox(TestPlaces(tmp_path / "state"), selection)
    workspace = Workdir.of(tmp_path / "workspace")
    for mode in (SandboxMode.READ_ONLY, SandboxMode.WORKSPACE_WRITE):
        profile = box.profile(SessionId("s-1"), workspace, mode)
        with pytest.raises(SandboxUnavailable) as refused:
            await box.run(Command(profile=profile, script="echo ran > ran"))
        assert "bubblewrap" in refused.value.why
        assert refused.value.hint
        assert "full access" not in f"{refused.value.why} {refused.value.hint}"
    assert not (tmp_path / "workspace" / "ran").exists()
    profile = box.profile(SessionId("s-1"), workspace, SandboxMode.DANGER_FULL_ACCESS)
    assert (await box.run(Command(profile=profile, script="echo ran > ran"))).exit_code == 0


def test_d10_the_verdict_is_kept_until_it_is_forgotten(tmp_path: Path) -> None:
    backend = Bubblewrap(tmp_path / "state", fake(tmp_path, f"echo x >> {tmp_path}/asked; exit 1"))
    selection = Selection([backend], {})
    selection.choose()
    asked = (tmp_path / "asked").read_text()
    selection.choose()
    selection.report()
    assert (tmp_path / "asked").read_text() == asked
    selection.forget()
    selection.choose()
    assert (tmp_path / "asked").read_text() == asked * 2


def test_a_missing_bwrap_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = Bubblewrap(tmp_path).probe()
    assert (result.usable, "bubblewrap" in result.hint) == (False, True)


@pytest.mark.parametrize("name", ["landlock", "none"])
def test_the_environment_can_force_a_backend(tmp_path: Path, name: str) -> None:
    selection = Selection([Bubblewrap(tmp_path), Landlock(tmp_path)], {"PLACET_SANDBOX": name})
    assert [row["name"] for row in selection.report()["backends"]] == ([] if name == "none" else [name])


async def test_d14_a_bwrap_that_breaks_later_is_no_denial_and_is_tried_anew(
    needs_bubblewrap: str, tmp_path: Path
) -> None:
    home = Path.home()
    breaks = f'echo "bwrap: {home}/x: Read-only file system" >&2; exit 1'
    program = fake(tmp_path, f'[ -e {tmp_path}/broken ] && {{ {breaks}; }}; exec {needs_bubblewrap} "$@"')
    (tmp_path / "workspace").mkdir()
    selection = Selection([Bubblewrap(tmp_path / "state", program)], {})
    box = Sandbox(TestPlaces(tmp_path / "state"), selection)
    profile = box.profile(SessionId("s-1"), Workdir.of(tmp_path / "workspace"), SandboxMode.WORKSPACE_WRITE)
    assert (await box.run(Command(profile=profile, script="exit 0"))).exit_code == 0
    (tmp_path / "broken").touch()
    done = await box.run(Command(profile=profile, script="exit 0"))
    assert (done.exit_code, done.sandbox.denied) == (None, False)
    assert done.sandbox.runner_failed == f"bwrap: {home}/x: Read-only file system"
    with pytest.raises(SandboxUnavailable):
        await box.run(Command(profile=profile, script="exit 0"))


async def test_a_backend_that_is_removed_in_mid_session_is_named_and_the_next_call_tries_anew(
    needs_bubblewrap: str, tmp_path: Path
) -> None:
    program = fake(tmp_path, f'exec {needs_bubblewrap} "$@"')
    (tmp_path / "workspace").mkdir()
    selection = Selection([Bubblewrap(tmp_path / "state", program)], {})
    box = Sandbox(TestPlaces(tmp_path / "state"), selection)
    profile = box.profile(SessionId("s-1"), Workdir.of(tmp_path / "workspace"), SandboxMode.WORKSPACE_WRITE)
    assert (await box.run(Command(profile=profile, script="echo x > ran"))).exit_code == 0
    Path(program).rename(tmp_path / "away")
    for _ in range(2):
        with pytest.raises(SandboxUnavailable) as refused:
            await box.run(Command(profile=profile, script="echo x > ran-again"))
        assert "bubblewrap" in f"{refused.value.why} {refused.value.hint}"
    assert not (tmp_path / "workspace" / "ran-again").exists()
    (tmp_path / "away").rename(program)
    assert (await box.run(Command(profile=profile, script="exit 0"))).exit_code == 0


async def test_a_workspace_that_is_gone_or_moved_is_one_clear_line(confined: Rig) -> None:
    assert (await confined.run("true")).exit_code == 0
    confined.ws.rename(confined.ws.with_name("moved"))
    with pytest.raises((WorkdirUnusable, WorkdirChanged)) as gone:
        await confined.run("echo x > ran")
    assert str(confined.ws) in gone.value.why
    confined.ws.symlink_to(confined.outside)
    with pytest.raises((WorkdirUnusable, WorkdirChanged)) as replaced:
        await confined.run("echo x > ran")
    assert str(confined.ws) in replaced.value.why
    assert list(confined.outside.iterdir()) == []
    confined.ws.unlink()


async def test_d15_a_command_that_could_not_start_is_no_broken_sandbox(tmp_path: Path, needs_bubblewrap: str) -> None:
    (tmp_path / "workspace").mkdir()
    box = Sandbox(TestPlaces(tmp_path / "state"), Selection([Bubblewrap(tmp_path / "state")], {}))
    workspace = Workdir.of(tmp_path / "workspace")
    too_much = ("/bin/sh", "-c", "touch ran", *("x" * 100_000,) * 100)  # the system takes 6 MiB of words at most
    for mode in SandboxMode:
        profile = box.profile(SessionId("s-1"), workspace, mode)
        with pytest.raises(StartFailed) as failed:
            await box.run(Command(profile=profile, script="", argv=too_much))
        assert (failed.value.code, "Argument list too long" in failed.value.why) == ("START_FAILED", True)
        assert (await box.run(Command(profile=profile, script="exit 0"))).exit_code == 0
    assert not (tmp_path / "workspace" / "ran").exists()
