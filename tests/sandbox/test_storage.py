"""Temp directories and spills lie in the state directory, and go with their session whatever is in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from placet.sandbox.execution.storage import Storage
from placet.session.ids import SessionId

SESSION = SessionId("s-01")


def test_14_a_spill_is_new_and_follows_no_link(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    file, path = storage.spills(SESSION)("stdout")
    os.close(file)
    assert path.parent == tmp_path / "spill" / SESSION
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    (tmp_path / "spill" / SESSION / "stderr-x.txt").symlink_to(tmp_path / "victim")
    file, other = storage.spills(SESSION)("stdout")
    os.close(file)
    assert other != path
    assert not (tmp_path / "victim").exists()


def test_14_removal_takes_everything_and_follows_nothing(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "state")
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "kept").write_text("kept")
    temp = storage.temp(SESSION)
    (temp / "link").symlink_to(victim)
    os.link(victim / "kept", temp / "hard")
    os.mkfifo(temp / "fifo")
    locked = temp / "locked"
    locked.mkdir()
    (locked / "file").write_text("x")
    locked.chmod(0o000)
    storage.remove(SESSION)
    assert not temp.exists()
    assert (victim / "kept").read_text() == "kept"
    storage.remove(SESSION)


def test_14_thousands_of_nested_directories_go_too(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    here = os.open(storage.temp(SESSION), os.O_RDONLY)
    for _ in range(5000 if os.environ.get("PLACET_SOAK") == "1" else 500):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    storage.remove(SESSION)
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\0b"])
def test_a_name_that_is_no_session_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not the id"):
        Storage(tmp_path).temp(SessionId(name))
