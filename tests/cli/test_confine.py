"""`placet sandbox` and `placet doctor`: what an agent's command would meet, tried by hand."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.server import Server

OneLine = Callable[["subprocess.CompletedProcess[str]"], str]


def test_doctor_names_every_backend_and_what_it_means(cli: Cli) -> None:
    done = cli("doctor")
    assert "bubblewrap" in done.stdout and "landlock" in done.stdout
    report = json.loads(cli("doctor", "--json").stdout)
    assert {backend["name"] for backend in report["backends"]} == {"bubblewrap", "landlock", "seatbelt"}
    assert report.keys() == {"chosen", "backends"}
    for backend in report["backends"]:
        assert backend.keys() == {"name", "usable", "enforcement", "not_governed", "why"}
    assert done.returncode == (0 if report["chosen"] else 1)


def test_doctor_speaks_of_gaps_only_where_it_lists_them(cli: Cli) -> None:
    said = cli("doctor").stdout
    assert "listed below" not in said and "doctor lists" not in said


def test_doctor_and_the_start_warn_root_alone(cli: Cli) -> None:
    assert ("placet runs as root" in cli("doctor").stdout) == (os.geteuid() == 0)
    with Server(cli) as server:
        assert ("placet runs as root" in server.said) == (os.geteuid() == 0)


def test_a_partial_sandbox_is_told_at_start_in_short_lines_and_with_what_mends_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bash").symlink_to("/bin/bash")
    alone = replace(cli, extra={"PATH": str(tmp_path)})
    if '"chosen":"landlock"' not in alone("doctor", "--json").stdout:
        pytest.skip("this kernel has no Landlock of the version that is needed")
    with Server(alone) as server:
        said = server.said.splitlines()
    assert "install bubblewrap" in " ".join(said) and any(line.endswith("doctor") for line in said)
    assert all(len(line) < 80 for line in said if "http://" not in line)


def test_doctor_says_where_nothing_confines(cli: Cli) -> None:
    done = cli("doctor", env={"PLACET_SANDBOX": "none"})
    assert done.returncode == 1
    assert "Sandbox: none" in done.stdout


def test_doctor_says_under_landlock_whether_silent_denials_are_looked_for(cli: Cli) -> None:
    alone = replace(cli, extra={"PLACET_SANDBOX": "landlock"})
    if '"chosen":"landlock"' not in alone("doctor", "--json").stdout:
        pytest.skip("this kernel has no Landlock of the version that is needed")
    assert "sandbox.watch_denials = true looks for it" in alone("doctor").stdout
    (cli.home / "config.toml").write_text("[sandbox]\nwatch_denials = true\n", encoding="utf-8")
    assert "is watched (sandbox.watch_denials)" in alone("doctor").stdout


def test_doctor_lists_what_is_hidden(cli: Cli) -> None:
    (cli.account / ".ssh").mkdir()
    (cli.home / "config.toml").write_text('[sandbox]\nhide = ["~/diary"]\n', encoding="utf-8")
    (cli.account / "diary").mkdir()
    hidden = [line.strip() for line in cli("doctor").stdout.splitlines()]
    assert str(cli.account / ".ssh") in hidden and str(cli.account / "diary") in hidden
    assert str(cli.home / "state") in hidden


def test_8_doctor_finds_what_runs_code_for_its_reader(cli: Cli) -> None:
    runtime = cli.account / ".local" / "share" / "jupyter" / "runtime"
    runtime.mkdir(parents=True)
    (runtime / "jpserver-1.json").write_text("{}", encoding="utf-8")
    (cli.account / ".ssh").mkdir()
    for name in ("id_own", "id_other"):
        (cli.account / ".ssh" / name).write_text("private", encoding="utf-8")
        (cli.account / ".ssh" / f"{name}.pub").write_text(f"ssh-ed25519 AAAA{name} me", encoding="utf-8")
    (cli.account / ".ssh" / "authorized_keys").write_text("ssh-ed25519 AAAAid_own me\n", encoding="utf-8")
    said = cli("doctor", env={"HOME": str(cli.home)}).stdout
    assert ("Doors that lead out" in said) != ("No door is known here that leads out" in said)
    said = cli("doctor").stdout
    assert str(runtime / "jpserver-1.json") in said
    assert str(cli.account / ".ssh" / "id_own") in said and str(cli.account / ".ssh" / "id_other") not in said


def test_8_doctor_knows_the_ports_of_services_that_run_code(tmp_path: Path) -> None:
    from placet.app.doors import doors

    table = tmp_path / "tcp"
    rows = ["  sl  local_address rem_address   st"]
    rows += [
        f"   {n}: 0100007F:{port:04X} 00000000:0000 {state}"
        for n, (port, state) in enumerate([(9229, "0A"), (22, "0A"), (8888, "01"), (12345, "0A")])
    ]
    table.write_text("\n".join(rows), encoding="ascii")
    assert [door.where for door in doors(tmp_path, [table, tmp_path / "missing"])] == ["port 22", "port 9229"]


@pytest.mark.parametrize("backend", ["bubblewrap", "landlock"])
def test_one_backend_can_be_asked_for(cli: Cli, workspace: Path, backend: str) -> None:
    usable = {one["name"]: one["usable"] for one in json.loads(cli("doctor", "--json").stdout)["backends"]}
    words = ("sandbox", "--backend", backend, "--cwd", str(workspace), "--", "bash", "-c", "echo $TMPDIR; exit 7")
    done = cli(*words)
    if usable[backend]:
        assert (done.returncode, done.stdout == "/tmp\n") == (7, backend == "bubblewrap")
    else:
        assert done.returncode == 1
    refused = cli("sandbox", "--backend", "seatbelt", "--cwd", str(workspace), "--", "true")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1


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


def test_a_confined_command_is_told_that_it_cannot_reach_placet(cli: Cli, one_line: OneLine) -> None:
    done = cli("inbox", "list", env={"PLACET_SESSION": "s-1"})
    assert done.returncode == 1
    assert "A confined command cannot reach placet." in one_line(done)


@pytest.mark.parametrize("folder", ["/", "~", "placet/state", "missing"])
def test_a_folder_that_no_session_could_have_is_refused(cli: Cli, one_line: OneLine, folder: str) -> None:
    place = folder if folder[0] in "/~" else str(cli.root / folder)
    done = cli("sandbox", "--cwd", place, "--", "true")
    assert done.returncode == 1
    assert "folder" in one_line(done) or "file system" in one_line(done) or "directory" in one_line(done)


@pytest.mark.parametrize(
    ("arguments", "code"), [([], 2), (["--mode", "free", "--", "ls"], 2), (["--cwd", "/nowhere", "--", "ls"], 1)]
)
def test_a_mistake_is_one_line(cli: Cli, one_line: OneLine, arguments: list[str], code: int) -> None:
    done = cli("sandbox", *arguments)
    assert done.returncode == code
    one_line(done)


def test_sbx_16_doctor_names_the_version_and_where_the_setting_is_none_says_so(cli: Cli) -> None:
    done = cli("doctor", env={"PLACET_SANDBOX": "none"})
    assert done.returncode == 1 and 'That is the setting: "none". To mend it: ' in done.stdout
    report = json.loads(cli("doctor", "--json").stdout)
    bubblewrap = next(backend for backend in report["backends"] if backend["name"] == "bubblewrap")
    if bubblewrap["usable"]:
        assert re.search(r"^  bubblewrap [0-9][^ ]*: usable$", cli("doctor").stdout, re.MULTILINE)


def test_a_command_that_takes_too_much_is_ended_with_one_line(cli: Cli) -> None:
    (cli.home / "config.toml").write_text("[sandbox]\nmemory_mib = 96\n", encoding="utf-8")
    work = cli.account / "work"
    work.mkdir()
    done = cli("sandbox", "--cwd", str(work), "--", "tail", "/dev/zero")
    assert done.returncode == 137
    assert "The command was ended: it had more than 96 MiB of memory" in done.stderr
    assert "Bounds: 2000 processes and 96 MiB of memory for one command." in cli("doctor").stdout
