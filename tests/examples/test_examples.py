"""Every example runs, and prints what its page says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

PRINTS = {
    "first_log.py": ["first: durable", "second: refused (duplicate), the log already says 'first'"],
    "second_ask.py": ["answered: Receipt", "outcome: rejected | may it run? False | note: Not on a Friday."],
    "third_command.py": [
        "inside: exit code 0, denied by the sandbox: False",
        "outside: exit code 1, denied by the sandbox: True",
        "written inside: True | written outside: False",
    ],
    "fourth_turn.py": [
        "decided: allowed-once by house-rule",
        "decided: unavailable by placet",
        "note.txt: True | other.txt: False",
    ],
}
NEED_A_SANDBOX = frozenset({"third_command.py", "fourth_turn.py"})


def run(name: str, tmp_path: Path) -> str:
    """Run one example as a reader would, with a home of its own, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PLACET_HOME": str(tmp_path / "home")}
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def missing_lines(name: str, tmp_path: Path) -> list[str]:
    """Return the promised lines that the example did not print."""
    said = run(name, tmp_path)
    return [line for line in PRINTS[name] if line not in said]


@pytest.mark.parametrize("name", [name for name in PRINTS if name not in NEED_A_SANDBOX])
def test_an_example_prints_what_it_promises(name: str, tmp_path: Path) -> None:
    assert missing_lines(name, tmp_path) == []


@pytest.mark.parametrize("name", [name for name in PRINTS if name in NEED_A_SANDBOX])
def test_an_example_with_commands_prints_what_it_promises(name: str, tmp_path: Path, needs_bubblewrap: str) -> None:
    assert missing_lines(name, tmp_path) == []


def test_every_example_is_tested_and_explained() -> None:
    names = {path.name for path in EXAMPLES.glob("*.py")}
    assert names == set(PRINTS)
    text = (EXAMPLES / "README.md").read_text()
    assert [name for name in names if name not in text] == []
