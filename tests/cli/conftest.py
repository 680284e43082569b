"""The command line as people use it: a process of its own, with a home of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"


@dataclass(frozen=True)
class Cli:
    """Runs `placet` with one PLACET_HOME and nothing of the person's own environment."""

    home: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        account_home = self.home / "account"
        account_home.mkdir(exist_ok=True)
        own = {"PLACET_HOME": str(self.home), "HOME": str(account_home), "PYTHONPATH": str(SOURCE), "TERM": "xterm"}
        return kept | own | dict(self.extra)

    def argv(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "placet", *arguments]

    def __call__(
        self, *arguments: str, cwd: Path | None = None, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.argv(*arguments),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=cwd or self.home,
            env=self.env | dict(env or {}),
        )


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


@pytest.fixture
def one_line() -> Callable[["subprocess.CompletedProcess[str]"], str]:
    """The one line that a refused verb printed, checked to be one and no traceback."""

    def check(done: "subprocess.CompletedProcess[str]") -> str:
        assert "Traceback" not in done.stderr + done.stdout
        lines = done.stderr.strip().splitlines()
        assert len(lines) == 1, done.stderr
        assert lines[0].startswith("placet: ")
        return lines[0]

    return check
