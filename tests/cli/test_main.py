"""Starting: quick, safe before the first import, and one clear line for every mistake."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import SOURCE, Cli

OneLine = Callable[["subprocess.CompletedProcess[str]"], str]


def test_help_lists_every_verb(cli: Cli) -> None:
    done = cli("--help")
    assert done.returncode == 0
    for verb in ("web", "run", "inbox", "session", "link", "browsers", "log", "doctor", "sandbox"):
        assert verb in done.stdout


@pytest.mark.parametrize(
    "verb",
    [
        "web", "run", "link", "doctor", "sandbox", "inbox list", "inbox show", "inbox allow", "inbox reject",
        "session new", "session list", "session move-away", "log show", "log export", "log verify",
    ],
)  # fmt: skip
def test_every_verb_has_help(cli: Cli, verb: str) -> None:
    done = cli(*verb.split(), "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage: placet" in done.stdout


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version").stdout.strip() == "0.1.0"


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"], ["web", "--nonsense"], ["web", "--port", "many"], ["inbox", "show"], ["inbox", "nonsense"],
        ["session", "new", "--cwd", "/tmp"], ["run", "x", "--policy", "always"],
    ],
)  # fmt: skip
def test_a_wrong_word_is_one_line_and_exit_code_2(cli: Cli, one_line: OneLine, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert done.returncode == 2
    one_line(done)


@pytest.mark.parametrize(
    ("arguments", "verb"),
    [
        (["inbox", "show"], "inbox show"), (["inbox", "nonsense"], "inbox"), (["web", "--nonsense"], "web"),
        (["session", "end-job"], "session end-job"), (["nonsense"], ""),
    ],
)  # fmt: skip
def test_a_wrong_word_leads_to_the_help_of_its_verb(
    cli: Cli, one_line: OneLine, arguments: list[str], verb: str
) -> None:
    assert one_line(cli(*arguments)).endswith(f"placet {verb} --help".replace("  ", " "))


@pytest.mark.parametrize(
    "arguments",
    [
        ["inbox", "list"], ["inbox", "show", "a-1"], ["inbox", "reject", "a-1"], ["link"], ["session", "list"],
        ["session", "new", "--cwd", "/tmp", "--message", "hi"],
    ],
)  # fmt: skip
def test_without_a_server_the_verb_says_so_and_ends_with_1(cli: Cli, one_line: OneLine, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert done.returncode == 1
    assert "No placet server is running" in one_line(done)


def test_a_socket_that_nobody_serves_is_no_server(cli: Cli, one_line: OneLine) -> None:
    import socket

    (cli.home / "state").mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(cli.home / "state" / "placet.sock"))
    assert "No placet server is running" in one_line(cli("inbox", "list"))


def test_a_relative_placet_home_is_one_line_and_exit_code_2(cli: Cli, one_line: OneLine) -> None:
    done = cli("inbox", "list", env={"PLACET_HOME": "here"})
    assert done.returncode == 2
    assert "absolute" in one_line(done)


def test_a07_a_file_in_the_current_folder_never_takes_the_place_of_a_module(cli: Cli, tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    planted.mkdir()
    lazily = ["anyio", "ctypes", "cyclopts", "fastapi", "http", "json", "pydantic", "pydantic_ai", "sqlite3", "uvicorn"]
    for name in lazily:
        (planted / f"{name}.py").write_text("raise SystemExit('PLANTED CODE RAN')\n", encoding="utf-8")
    for arguments in (["--help"], ["inbox", "list"], ["web", "--port", "many"], ["log", "export", "s-1"]):
        for path in (str(SOURCE), f"{SOURCE}{os.pathsep}", f".{os.pathsep}{SOURCE}"):
            done = cli(*arguments, cwd=planted, env={"PYTHONPATH": path})
            assert "PLANTED" not in done.stdout + done.stderr


def test_others_cannot_read_the_process(cli: Cli) -> None:
    probe = "import sys; sys.path.insert(0, ''); from placet.cli.main import harden; print(harden(), sys.path[:1]);"
    probe += "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)); import os; print(oct(os.umask(0)))"
    done = subprocess.run(
        [sys.executable, "-c", probe], env=cli.env, cwd="/", capture_output=True, text=True, timeout=60, check=True
    )
    assert "''" not in done.stdout
    assert done.stdout.splitlines()[1:] == ["0", "0o77"]


def test_help_loads_no_heavy_library(cli: Cli) -> None:
    probe = "import sys; from placet.cli.verbs import run; run(['--help'], umask=18); print('LOADED', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", probe], env=cli.env, capture_output=True, text=True, timeout=60, check=True
    )
    loaded = done.stdout.split("LOADED")[1].split()
    for heavy in ("pydantic", "pydantic_ai", "fastapi", "uvicorn", "asyncio", "sqlite3", "cryptography", "httpx"):
        assert heavy not in loaded


def test_a_word_too_many_and_one_too_few_are_told_in_words(cli: Cli) -> None:
    for arguments, said in (
        (("link", "extra"), "placet: There is one word too many: 'extra'."),
        (("run",), "placet: TASK is missing."),
        (("run", "--model"), "placet: --model needs a value."),
    ):
        ended = cli(*arguments)
        assert (ended.returncode, ended.stderr.partition(" See: ")[0]) == (2, said)
