"""`placet sandbox` and `placet doctor`: what an agent's command would meet, tried by hand."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

OneLine = Callable[["subprocess.CompletedProcess[str]"], str]


def test_doctor_names_every_backend_and_what_it_means(cli: Cli) -> None:
    done = cli("doctor")
    assert "bubblewrap" in done.stdout and "landlock" in done.stdout
    report = json.loads(cli("doctor", "--json").stdout)
    assert {backend["name"] for backend in report["sandbox"]["backends"]} >= {"bubblewrap", "landlock"}
    assert done.returncode == (0 if report["sandbox"]["chosen"] else 1)


def test_doctor_says_where_nothing_confines(cli: Cli) -> None:
    done = cli("doctor", env={"PLACET_SANDBOX": "none"})
    assert done.returncode == 1
    assert "Sandbox: none" in done.stdout


def test_doctor_lists_what_is_hidden(cli: Cli) -> None:
    (cli.account / ".ssh").mkdir()
    (cli.home / "config.toml").write_text('[sandbox]\nhide = ["~/diary"]\n', encoding="utf-8")
    (cli.account / "diary").mkdir()
    hidden = json.loads(cli("doctor", "--json").stdout)["hidden"]
    assert str(cli.account / ".ssh") in hidden and str(cli.account / "diary") in hidden
    assert str(cli.home / "state") in hidden


def test_a_confined_command_writes_inside_and_not_outside(cli: Cli, workspace: Path) -> None:
    inside = cli("sandbox", "--cwd", str(workspace), "--", "bash", "-c", "echo hi > made; echo said")
    assert (inside.returncode, inside.stdout) == (0, "said\n")
    assert (workspace / "made").read_text() == "hi\n"
    outside = cli("sandbox", "--cwd", str(workspace), "--", "touch", str(cli.account / "made"))
    assert outside.returncode == 1
    assert "denied file access under workspace-write mode" in outside.stderr
    assert not (cli.account / "made").exists()


def test_read_only_writes_nothing(cli: Cli, workspace: Path) -> None:
    done = cli("sandbox", "--mode", "read-only", "--cwd", str(workspace), "--", "touch", "made")
    assert done.returncode == 1
    assert not (workspace / "made").exists()


def test_the_exit_code_is_that_of_the_command(cli: Cli, workspace: Path) -> None:
    assert cli("sandbox", "--cwd", str(workspace), "--", "bash", "-c", "exit 7").returncode == 7
    assert cli("sandbox", "--cwd", str(workspace), "--", "bash", "-c", "kill -9 $$").returncode == 137


def test_stdin_is_empty_and_the_environment_is_not_ours(cli: Cli, workspace: Path) -> None:
    done = cli(
        "sandbox", "--cwd", str(workspace), "--", "bash", "-c", "cat; env", stdin="x", env={"OPENAI_API_KEY": "sk-1"}
    )
    assert done.returncode == 0
    assert "sk-1" not in done.stdout and not done.stdout.startswith("x")


def test_nothing_is_left_behind(cli: Cli, workspace: Path) -> None:
    cli("sandbox", "--cwd", str(workspace), "--", "bash", "-c", "touch $TMPDIR/a; exit 0")
    assert list((cli.home / "state" / "tmp").iterdir()) == []
    assert list(workspace.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code"), [([], 2), (["--mode", "free", "--", "ls"], 2), (["--cwd", "/nowhere", "--", "ls"], 1)]
)
def test_a_mistake_is_one_line(cli: Cli, one_line: OneLine, arguments: list[str], code: int) -> None:
    done = cli("sandbox", *arguments)
    assert done.returncode == code
    one_line(done)
