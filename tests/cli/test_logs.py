"""The server's own troubles: one line on the terminal, whatever becomes of the file."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from placet.cli.logs import to_terminal


def test_a_full_disk_costs_the_file_and_leaves_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "server.log").symlink_to("/dev/full")
    with to_terminal(tmp_path):
        logging.getLogger("placet.test").error("the store failed: %s", "no space left")
    said = capsys.readouterr()
    assert (said.out + said.err).splitlines() == ["placet: the store failed: no space left"]
