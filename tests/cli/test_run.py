"""A run without a page: its own worker on the same store, and an exit code that tells how it ended."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.conftest import missing

OneLine = Callable[["subprocess.CompletedProcess[str]"], str]


def script(folder: Path, *steps: dict[str, Any]) -> str:
    path = folder / "script.json"
    path.write_text(json.dumps(steps), encoding="utf-8")
    return f"script:{path}"


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"name": "bash", "arguments": {"command": command, "description": "a step", **more}}


def events(done: "subprocess.CompletedProcess[str]") -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_command_that_the_sandbox_allows_completes_with_0(cli: Cli, workspace: Path) -> None:
    done = cli("run", "$ echo hi > note.txt", "--cwd", str(workspace))
    assert done.returncode == 0, done.stderr
    assert (workspace / "note.txt").read_text() == "hi\n"


def test_without_a_responder_an_ask_ends_unavailable_and_the_exit_code_is_4(cli: Cli, workspace: Path) -> None:
    done = cli("run", "$ echo hi > ~/note.txt", "--cwd", str(workspace), "--json")
    assert done.returncode == 4, done.stderr
    [decided] = [event["data"] for event in events(done) if event["type"] == "approval/decided"]
    assert decided["outcome"] == "unavailable"
    assert not (cli.account / "note.txt").exists()


def test_under_never_an_ask_ends_rejected_and_the_exit_code_is_4(cli: Cli, workspace: Path) -> None:
    asks = script(cli.home, {"calls": [bash("true", sandbox_permissions="danger-full-access", justification="to see")]})
    done = cli("run", "go", "--cwd", str(workspace), "--policy", "never", "--json", "--model", asks)
    assert done.returncode == 4, done.stderr
    [decided] = [event["data"] for event in events(done) if event["type"] == "approval/decided"]
    assert (decided["outcome"], decided["who"]["kind"]) == ("rejected", "policy")


def test_json_prints_the_whole_log_in_order(cli: Cli, workspace: Path) -> None:
    done = cli("run", "$ true", "--cwd", str(workspace), "--json")
    printed = events(done)
    assert [event["seq"] for event in printed] == list(range(len(printed)))
    assert printed[0]["type"] == "session/created"
    assert printed[-1]["type"] == "turn/end"
    exported = cli("log", "export", printed[0]["session"])
    assert events(exported) == printed


def test_full_access_runs_without_asking(cli: Cli, workspace: Path) -> None:
    done = cli("run", "$ echo hi > ~/note.txt", "--cwd", str(workspace), "--preset", "danger-full-access")
    assert done.returncode == 0, done.stderr
    assert (cli.account / "note.txt").read_text() == "hi\n"


def test_where_nothing_confines_no_command_runs_and_the_exit_code_is_1(cli: Cli, workspace: Path) -> None:
    done = cli("run", "$ touch made", "--cwd", str(workspace), env={"PLACET_SANDBOX": "none"})
    assert done.returncode == 1
    assert "Your choice leaves no sandbox" in done.stderr
    assert not (workspace / "made").exists()


@pytest.mark.parametrize("backend", ["bubblewrap", "landlock"])
def test_each_backend_denies_and_the_agent_asks_once(cli: Cli, workspace: Path, backend: str) -> None:
    report = json.loads(cli("doctor", "--json").stdout)["backends"]
    if not next(found["usable"] for found in report if found["name"] == backend):
        missing(backend, "doctor says that it does not work here")
    chosen = {"PLACET_SANDBOX": backend}
    done = cli("run", "$ echo hi > ~/note.txt", "--cwd", str(workspace), "--json", env=chosen)
    assert done.returncode == 4, done.stderr
    first = next(event["data"] for event in events(done) if event["type"] == "tool/result")
    assert first["value"]["sandbox"]["denied"] is True
    [asked] = [event["data"] for event in events(done) if event["type"] == "approval/asked"]
    assert asked["subject"]["denied"]["path"].endswith("note.txt")


def test_files_of_commands_get_the_persons_own_umask(cli: Cli, workspace: Path) -> None:
    done = cli("run", "$ touch made", "--cwd", str(workspace))
    assert done.returncode == 0, done.stderr
    mask = os.umask(0)
    os.umask(mask)
    assert (workspace / "made").stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--preset", "yolo"], "'yolo' is not a preset"),
        (["--model", "nonsense"], "There is no model 'nonsense'"),
        (["--model", "nonsense:x"], "nonsense"),
        (["--model", "openai:gpt-x"], "OPENAI_API_KEY"),
        (["--model", "script:/nowhere.json"], "/nowhere.json"),
        (["--policy", "always"], "always"),
    ],
)
def test_an_unknown_preset_policy_or_model_is_one_line_and_exit_code_2(
    cli: Cli, one_line: OneLine, workspace: Path, arguments: list[str], wanted: str
) -> None:
    done = cli("run", "hi", "--cwd", str(workspace), *arguments)
    assert done.returncode == 2
    assert wanted in one_line(done)


def test_an_empty_task_is_one_line_and_exit_code_2(cli: Cli, one_line: OneLine, workspace: Path) -> None:
    done = cli("run", "  ", "--cwd", str(workspace))
    assert done.returncode == 2
    one_line(done)


@pytest.mark.parametrize("folder", ["missing", "/", "account", "placet/state", "placet", "."])
def test_a_folder_that_cannot_be_a_workspace_is_one_line_and_exit_code_1(
    cli: Cli, one_line: OneLine, workspace: Path, folder: str
) -> None:
    done = cli("run", "hi", "--cwd", str(cli.root / folder))
    assert done.returncode == 1
    one_line(done)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be refused by a folder of another account")
def test_a_folder_of_another_account_is_refused_and_its_owner_named(
    cli: Cli, one_line: OneLine, workspace: Path
) -> None:
    locked = workspace / "theirs"
    locked.mkdir(mode=0o755)
    os.chown(locked, 1, 1)
    done = cli("run", "$ true", "--cwd", str(locked))
    if done.returncode == 0:
        pytest.skip("this root may write everywhere, even confined")
    assert "daemon" in one_line(done)


def test_ctrl_c_stops_the_turn_for_good(cli: Cli, workspace: Path) -> None:
    process = subprocess.Popen(
        cli.argv("run", "$ touch begun; sleep 60", "--cwd", str(workspace)),
        env=cli.env,
        cwd=cli.home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (workspace / "begun").exists():
        assert time.monotonic() < deadline, process.communicate(timeout=60)
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ({"name": "nonsense", "arguments": {}}, "UNKNOWN_TOOL"),
        ({"name": "bash", "arguments": "{broken"}, "INVALID_ARGUMENTS"),
        ({"name": "bash", "arguments": '{"command": "ls", "command": "id", "description": "x"}'}, "INVALID_ARGUMENTS"),
        (bash("true", timeoutMs=2**60), None),
        (bash("true", api_token="x"), None),
        (bash("echo \ud800"), None),
        (bash("printf a\0b"), "INVALID"),
        (bash("cat"), None),
        (bash("printf '\\377\\376'"), None),
        (bash("sleep 300 & setsid sleep 300 & echo started"), None),
        (bash("head -c 200000000 /dev/zero"), None),
    ],
)  # fmt: skip
def test_bad_input_of_a_model_is_a_clear_tool_error_and_the_run_goes_on(
    cli: Cli, workspace: Path, call: dict[str, Any], wanted: str | None
) -> None:
    model = script(cli.home, {"text": "first", "calls": [call]}, {"text": "the last word"})
    done = cli("run", "go", "--cwd", str(workspace), "--model", model, "--json")
    assert done.returncode == 0, done.stderr
    printed = events(done)
    [result] = [event["data"] for event in printed if event["type"] == "tool/result"]
    if wanted is not None:
        assert result["isError"] and wanted in (result["code"] or ""), result
    assert any(event["data"].get("text") == "the last word" for event in printed)


def test_equal_call_ids_of_a_model_are_two_calls(cli: Cli, workspace: Path) -> None:
    calls = [bash("echo 1 >> ran"), bash("echo 2 >> ran")]
    model = script(cli.home, {"calls": [call | {"id": "same"} for call in calls]})
    done = cli("run", "go", "--cwd", str(workspace), "--model", model)
    assert done.returncode == 0, done.stderr
    assert sorted((workspace / "ran").read_text().split()) == ["1", "2"]


@pytest.mark.parametrize("size", [1 << 20, 2 << 20])
def test_a_subject_too_large_to_show_never_becomes_an_ask(cli: Cli, workspace: Path, size: int) -> None:
    call = bash("true", sandbox_permissions="danger-full-access", justification="x" * size)
    model = script(cli.home, {"calls": [call]})
    done = cli("run", "go", "--cwd", str(workspace), "--model", model, "--json")
    printed = events(done)
    assert not [event for event in printed if event["type"] == "approval/asked"]
    [result] = [event["data"] for event in printed if event["type"] == "tool/result"]
    assert result["code"] == "TOO_LARGE_TO_SHOW"
