"""The register of running placet processes: who is in it is alive, and nobody stays in it."""

import os
from pathlib import Path

from placet.app.processes import registered, running
from placet.session.lease import holder


def test_a_process_is_registered_while_it_runs(tmp_path: Path) -> None:
    with registered(tmp_path, "web") as name:
        assert name == holder()
        assert running(tmp_path) == {name: "web"}
    assert list(tmp_path.iterdir()) == []


def test_names_of_dead_processes_are_removed_and_not_counted(tmp_path: Path) -> None:
    dead = f"{os.getpid()}:1:{holder().split(':')[2]}"
    (tmp_path / dead).write_text("run", encoding="utf-8")
    assert running(tmp_path) == {}
    with registered(tmp_path, "run") as name:
        assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_name_is_readable_by_this_account_only(tmp_path: Path) -> None:
    with registered(tmp_path, "run") as name:
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
