"""What stops placet before it begins: each is one line, and nothing is left running."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

OneLine = Callable[["subprocess.CompletedProcess[str]"], str]
WEB = ("web", "--no-open", "--port", "0")


def filled(cli: Cli, workspace: Path) -> Path:
    """A store with a session in it; returns its file."""
    assert cli("run", "hi", "--cwd", str(workspace)).returncode == 0
    database = sqlite3.connect(cli.home / "state" / "placet.db")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return cli.home / "state" / "placet.db"


@pytest.mark.parametrize("verb", [WEB, ("run", "hi", "--cwd", "../workspace")])
def test_a_store_of_another_format_is_refused(
    cli: Cli, workspace: Path, one_line: OneLine, verb: tuple[str, ...]
) -> None:
    database = sqlite3.connect(filled(cli, workspace))
    database.execute("PRAGMA user_version = 99")
    database.close()
    done = cli(*verb)
    assert done.returncode == 1
    assert "store format 99" in one_line(done)


def test_a_damaged_store_is_refused_and_not_loaded_in_part(cli: Cli, workspace: Path, one_line: OneLine) -> None:
    path = filled(cli, workspace)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    done = cli(*WEB)
    assert done.returncode == 1
    assert "damaged" in one_line(done)
    assert path.read_bytes() == content


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a directory to another account")
def test_a_state_directory_of_another_account_is_refused(cli: Cli, one_line: OneLine) -> None:
    (cli.home / "state").mkdir()
    os.chown(cli.home / "state", 1, 1)
    done = cli(*WEB)
    assert done.returncode == 1
    assert "belongs to daemon" in one_line(done)


def test_a_full_disk_is_refused_at_the_start(cli: Cli, one_line: OneLine) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare(1), to mount a small disk of its own")
    state = cli.home / "state"
    state.mkdir(mode=0o700)
    mounted = (
        f'mount -t tmpfs -o size=64k,mode=700 none {state} && head -c 60000 /dev/zero > {state}/ballast; exec "$@"'
    )
    own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    probe = subprocess.run([*own, "true"], capture_output=True, check=False, timeout=30)
    if probe.returncode != 0:
        pytest.skip(f"cannot have a mount namespace: {probe.stderr.decode().strip()}")
    done = subprocess.run(
        [*own, "sh", "-c", mounted, "sh", *cli.argv(*WEB)],
        env=cli.env,
        cwd=cli.home,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    line = one_line(done)
    assert "full" in line or "No space left" in line


@pytest.mark.parametrize("name", ["placet.db", "tmp", "processes"])
def test_a_directory_or_file_in_the_wrong_place_is_one_line(cli: Cli, one_line: OneLine, name: str) -> None:
    place = cli.home / "state" / name
    place.parent.mkdir(mode=0o700)
    if name.endswith(".db"):
        place.mkdir()
    else:
        place.write_text("", encoding="utf-8")
    done = cli(*WEB)
    assert done.returncode == 1
    one_line(done)


def test_a_planted_server_key_is_refused(cli: Cli, one_line: OneLine) -> None:
    (cli.home / "state").mkdir(mode=0o700)
    (cli.home / "state" / "server.key").write_text("planted", encoding="utf-8")
    done = cli(*WEB)
    assert done.returncode == 1
    assert "server.key" in one_line(done)


def test_a_wrong_configuration_is_one_line_that_names_file_and_key(cli: Cli, one_line: OneLine) -> None:
    (cli.home / "config.toml").write_text("[asks]\nopen_limit = 0\n", encoding="utf-8")
    done = cli(*WEB)
    assert done.returncode == 2
    line = one_line(done)
    assert "config.toml" in line and "asks.open_limit" in line
