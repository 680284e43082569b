"""The command line as people use it: a process of its own, with a home of its own."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"


@dataclass(frozen=True)
class Cli:
    """Runs `placet` with one PLACET_HOME and nothing of the person's own environment."""

    root: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        """PLACET_HOME."""
        return self.root / "placet"

    @property
    def account(self) -> Path:
        """The HOME of whoever runs it."""
        return self.root / "account"

    @property
    def env(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        own = {"PLACET_HOME": str(self.home), "HOME": str(self.account), "PYTHONPATH": str(SOURCE), "TERM": "xterm"}
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
            timeout=120,
            check=False,
            cwd=cwd or self.home,
            env=self.env | dict(env or {}),
        )


@contextmanager
def new_home() -> Iterator[Cli]:
    """A home that commands could reach if they were not confined: not below /tmp, which is private to each sandbox."""
    cache = Path.home() / ".cache"
    cache.mkdir(exist_ok=True)
    cli = Cli(Path(tempfile.mkdtemp(prefix="placet-test-", dir=cache)))
    cli.home.mkdir(mode=0o700)
    cli.account.mkdir()
    try:
        yield cli
    finally:
        shutil.rmtree(cli.root, ignore_errors=True)


@pytest.fixture
def cli() -> Iterator[Cli]:
    """A home of this test's own."""
    with new_home() as made:
        yield made


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


@pytest.fixture
def workspace(cli: Cli) -> Path:
    """A folder for a session."""
    folder = cli.root / "workspace"
    folder.mkdir()
    return folder
