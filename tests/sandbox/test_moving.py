"""A workspace that changes places with a symlink all the time never lends its rights to what the symlink leads to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from placet.sandbox import Command, Landlock, SandboxMode, WorkdirChanged, WorkdirUnusable
from placet.sandbox.policy import Workdir
from placet.testing.backends import Rig

pytestmark = pytest.mark.anyio

STARTS = 60
EXCHANGE = """
import ctypes, os, time
os.chdir({folder!r})
call = ctypes.CDLL(None).renameat2
while True:
    call(-100, b"x", -100, b"y", 2)
    time.sleep(0.0005)
"""


@pytest.fixture
def moving(confined: Rig) -> Iterator[tuple[Rig, Path, Path]]:
    """A rig, a folder that another program exchanges with a symlink, and where that leads."""
    folder, victim = confined.ws.parent / "moving", confined.ws.parent / "victim"
    (folder / "x" / ".git" / "hooks").mkdir(parents=True)
    (victim / ".git" / "hooks").mkdir(parents=True)
    (folder / "y").symlink_to("../victim")
    yield confined, folder, victim


async def test_attack_a_folder_in_motion_never_leads_a_command_out(moving: tuple[Rig, Path, Path]) -> None:
    rig, folder, victim = moving
    profile = rig.sandbox.profile(rig.session, Workdir.of(folder / "x"), SandboxMode.WORKSPACE_WRITE)
    script = f"touch {victim}/hit {victim}/.git/hit; touch here"
    mover = subprocess.Popen([sys.executable, "-S", "-c", EXCHANGE.format(folder=str(folder))])
    try:
        for _ in range(STARTS):
            try:
                await rig.sandbox.run(Command(profile=profile, script=script))
            except (WorkdirChanged, WorkdirUnusable):
                continue
    finally:
        mover.kill()
        mover.wait()
    assert sorted(path.name for path in victim.rglob("*")) == [".git", "hooks"]


async def test_a_path_with_blanks_and_signs_is_found_among_the_mounts(confined: Rig) -> None:
    odd = confined.ws.parent / "a b\\c*?'\"$[x]\tü"
    odd.mkdir()
    profile = confined.sandbox.profile(confined.session, Workdir.of(odd), SandboxMode.WORKSPACE_WRITE)
    done = await confined.sandbox.run(Command(profile=profile, script="touch here"))
    assert done.exit_code == 0 and (odd / "here").exists()


def test_landlock_calls_a_root_that_became_a_symlink_a_changed_folder(landlock: Rig, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    profile = landlock.sandbox.profile(landlock.session, Workdir.of(folder), SandboxMode.WORKSPACE_WRITE)
    folder.rmdir()
    folder.symlink_to(tmp_path)
    backend = landlock.sandbox.selection.choose()
    assert isinstance(backend, Landlock)
    with pytest.raises(WorkdirChanged, match="replaced right before the start"):
        backend._rules(profile)
