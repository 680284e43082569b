"""The bash tool on the real sandbox (contract C, O5, O6)."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from placet.approval import Outcome
from placet.sandbox import Sandbox, Selection, backends
from placet.sandbox.mode import SandboxMode
from placet.testing.responders import says
from placet.tools import BashTool
from tests.tools.world import ToolWorld, tool_world

pytestmark = pytest.mark.anyio

ALLOW, REJECT, FULL = Outcome.ALLOWED_ONCE, Outcome.REJECTED, "danger-full-access"
WIDER = {"sandbox_permissions": FULL, "justification": "The user asked for it."}


@dataclass
class Places:
    state: Path
    config_file: Path


def sandbox_at(path: Path) -> Sandbox:
    state = path / "state"
    state.mkdir(mode=0o700)
    return Sandbox(Places(state, path / "config.toml"), Selection(backends(state)))


@pytest.fixture
async def bash(tmp_path: Path) -> AsyncIterator[ToolWorld]:
    """Return a session whose commands run unconfined, in which escalation is offered."""
    async with tool_world(tmp_path, BashTool(sandbox_at(tmp_path), confines=lambda: True)) as world:
        await world.set_mode(SandboxMode.DANGER_FULL_ACCESS)
        yield world


@pytest.fixture
async def confined(tmp_path: Path, needs_bubblewrap: str) -> AsyncIterator[ToolWorld]:
    """Return a session in workspace-write under a real backend."""
    async with tool_world(tmp_path, BashTool(sandbox_at(tmp_path), confines=lambda: True)) as world:
        yield world


@pytest.fixture
def outside() -> Iterator[Path]:
    """Return a folder that the server can write and a confined command cannot (`/tmp` is private there)."""
    path = Path(tempfile.mkdtemp(prefix="placet-test-", dir=Path.home())).resolve()
    yield path
    shutil.rmtree(path)


async def run(world: ToolWorld, command: str, **more: Any) -> dict[str, Any]:
    result = await world.call(command=command, description="Try it", **more)
    return dict(result.data)


async def test_c1_each_call_is_a_fresh_shell(bash: ToolWorld) -> None:
    await run(bash, "export KEPT=1; cd /")
    result = await run(bash, "echo ${KEPT:-nothing}; pwd")
    assert result["value"]["stdout"]["text"] == f"nothing\n{bash.folder}\n"


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"command": " ", "description": "x"}, "command: it is blank"),
        ({"command": "true", "description": "\t"}, "description: it is blank"),
        ({"command": "true"}, "description"),
        ({"command": ["ls"], "description": "x"}, "command"),
        ({"command": "true", "description": "x", "timeoutMs": 0}, "timeoutMs"),
        ({"command": "true", "description": "x", "timeoutMs": -1}, "timeoutMs"),
        ({"command": "true", "description": "x", "timeoutMs": 2**60}, "timeoutMs"),
        ({"command": "true", "description": "x", "timeoutMs": "5"}, "timeoutMs"),
        ({"command": "true", "description": "x", "timeoutMs": True}, "timeoutMs"),
        ({"command": "true", "description": "x", "run_in_background": True}, "run_in_background"),
        ({"command": "echo \0", "description": "x"}, "NUL"),
        ({"command": "echo \ud800", "description": "x"}, "half a character"),
        ({"command": "true", "description": "x", "workdir": "a\0b"}, "NUL"),
        ({"command": "x" * 200_000, "description": "x"}, "more than"),
        ({"command": "true", "description": "x", "sandbox_permissions": FULL}, "needs a justification"),
        ({"command": "true", "description": "x", "justification": "y"}, "stands alone"),
        ({"command": "true", "description": "x", "sandbox_permissions": FULL, "justification": " "}, "blank"),
        ({"command": "true", "description": "x", "sandbox_permissions": "root", "justification": "y"}, "sandbox_perm"),
        ({"command": "true", "description": "x", "sandbox_permissions": FULL.upper(), "justification": "y"}, "sandbox"),
        ({"command": "true", "description": "x", "sandbox_permissions": None, "justification": "y"}, "sandbox"),
        ({"command": "true", "description": "x", "sandbox_permissions": "read-only", "justification": "y"}, "sandbox"),
        ({"command": "true", "description": "x", **WIDER, "justification": "a\0"}, "NUL"),
    ],
)
async def test_c2_c12_what_does_not_fit_is_an_error_before_anybody_is_asked(
    bash: ToolWorld, args: dict[str, Any], why: str
) -> None:
    responder = bash.answers(ALLOW)
    result = await bash.call(**args)
    assert result.data["code"] == "INVALID_ARGUMENTS"
    assert why in result.data["text"]
    assert responder.asks == []
    assert await bash.world.events("tool/started") == []


@pytest.mark.parametrize("milliseconds", [30_000, 30_000.5])
async def test_c2_whole_and_broken_milliseconds_are_fine(bash: ToolWorld, milliseconds: float) -> None:
    assert (await run(bash, "true", timeoutMs=milliseconds))["value"]["timeoutMs"] == milliseconds


async def test_c3_a_non_zero_exit_is_a_result_and_no_error(bash: ToolWorld) -> None:
    result = await run(bash, "exit 3")
    assert (result["isError"], result["code"], result["value"]["exitCode"]) == (False, None, 3)
    assert result["text"] == "(no output)\n[exit code: 3]"


async def test_c3_death_by_a_signal_is_a_result(bash: ToolWorld) -> None:
    result = await run(bash, "kill -9 $$")
    assert (result["isError"], result["value"]["exitCode"], result["value"]["signal"]) == (False, None, "SIGKILL")
    assert result["text"].splitlines()[-1] == "[killed by signal: SIGKILL]"


async def test_c3_c4_a_time_out_is_a_result_and_its_marker_comes_before_the_end(bash: ToolWorld) -> None:
    result = await run(bash, "sleep 60", timeoutMs=200)
    assert (result["isError"], result["value"]["timedOut"]) == (False, True)
    assert result["text"].splitlines()[-2] == "[timed out after 200ms]"
    assert result["text"].splitlines()[-1].startswith("[killed by signal: ")


async def test_c4_output_then_errors_then_the_end(bash: ToolWorld) -> None:
    result = await run(bash, "echo out; echo err >&2")
    assert result["text"] == "out\n[stderr]\nerr\n[exit code: 0]"


async def test_c5_a_command_that_traps_the_time_out_still_reports_it(bash: ToolWorld) -> None:
    command = "trap 'exit 0' TERM; while :; do sleep 0.05; done"
    result = await run(bash, command, timeoutMs=500)
    assert result["text"].splitlines()[-2:] == ["[timed out after 500ms]", "[exit code: 0]"]


async def test_c8_the_folder_is_the_sessions_and_workdir_is_relative_to_it(bash: ToolWorld) -> None:
    (bash.folder / "sub").mkdir()
    assert (await run(bash, "pwd"))["value"]["stdout"]["text"] == f"{bash.folder}\n"
    assert (await run(bash, "pwd", workdir="sub"))["value"]["stdout"]["text"] == f"{bash.folder}/sub\n"
    assert (await run(bash, "pwd", workdir="/"))["value"]["stdout"]["text"] == "/\n"


def test_c11_the_two_fields_are_in_the_schema_only_where_something_confines(tmp_path: Path) -> None:
    sandbox = sandbox_at(tmp_path)
    tool, plain = BashTool(sandbox, confines=lambda: True), BashTool(sandbox, confines=lambda: False)
    assert tool.parameters["properties"]["sandbox_permissions"]["enum"] == ["workspace-write", FULL]
    assert list(tool.parameters["properties"]) == [
        "command",
        "description",
        "timeoutMs",
        "workdir",
        "sandbox_permissions",
        "justification",
    ]
    assert tool.parameters["required"] == plain.parameters["required"] == ["command", "description"]
    assert "sandbox_permissions" not in plain.parameters["properties"]
    assert "justification" not in plain.parameters["properties"]


def test_o5_o6_o8_the_description_speaks_of_more_access_only_where_there_is_any(tmp_path: Path) -> None:
    sandbox = sandbox_at(tmp_path)
    tool, plain = BashTool(sandbox, confines=lambda: True), BashTool(sandbox, confines=lambda: False)
    for word in ("workdir", "[exit code: N]", "before you go on", "TMPDIR", "at the same time", "Do not work around"):
        assert word in tool.description and word in plain.description
    for word in ("Trying is safe", "exact same command once more", "narrowest", "final"):
        assert word in tool.description and word not in plain.description


async def test_c13_injected_fields_are_an_error_where_nothing_confines(tmp_path: Path) -> None:
    async with tool_world(tmp_path, BashTool(sandbox_at(tmp_path), confines=lambda: False)) as world:
        responder = world.answers(ALLOW)
        result = await world.call(command="true", description="x", **WIDER)
        assert (result.data["code"], responder.asks) == ("INVALID_ARGUMENTS", [])


async def test_c16_the_ask_carries_the_reason_and_the_card_the_models_own_words(confined: ToolWorld) -> None:
    responder = confined.answers(REJECT)
    await run(confined, "true", **WIDER)
    (asked,) = await confined.world.events("approval/asked")
    assert asked.data["reason"] == f"escalate sandbox to {FULL}: The user asked for it."
    assert asked.data["toolName"] == "bash"
    view = await confined.world.inbox.get(responder.asks[0].id)
    assert view is not None and view.reason == "The user asked for it." and view.full_access


async def test_o7_esc_03_a_denial_says_so_with_mode_path_and_hint_and_the_retry_is_asked(
    confined: ToolWorld, outside: Path
) -> None:
    command = f"touch {outside}/a"
    confined.answers(ALLOW)
    denied = await run(confined, command)
    lines = denied["text"].splitlines()
    assert lines[-3] == "[sandbox: file access denied under workspace-write mode]"
    assert "send this exact command again now" in lines[-2]
    assert lines[-1] == "[exit code: 1]"
    assert denied["isError"] is False
    assert denied["value"]["sandbox"]["denied"] is True
    assert denied["value"]["sandbox"]["path"] == f"{outside}/a"
    assert not (outside / "a").exists()
    allowed = await run(confined, command, **WIDER)
    assert (outside / "a").exists()
    assert allowed["value"]["sandbox"] == {"mode": FULL, "denied": False}
    (asked,) = await confined.world.events("approval/asked")
    assert asked.data["subject"]["denied"]["path"] == f"{outside}/a"
    assert asked.data["subject"]["denied"]["call"] == {"turn": 1, "step": 1, "position": 0}


async def test_c6_under_never_the_denial_is_said_to_be_final(confined: ToolWorld, outside: Path) -> None:
    await confined.world.switch("never")
    text = (await run(confined, f"touch {outside}/a"))["text"]
    assert "send this exact command" not in text
    assert "this denial is final" in text


@pytest.mark.parametrize(
    "command", ["false", "exit 2", "exit 126", "nosuchcommand", "exit 125", "test -d x", "kill -9 $$", "grep nothing f"]
)
async def test_esc_01_an_ordinary_failure_is_no_denial(confined: ToolWorld, command: str) -> None:
    (confined.folder / "f").write_text("x")
    result = await run(confined, command)
    assert result["value"]["sandbox"]["denied"] is False
    assert "[sandbox:" not in result["text"]


async def test_a_command_that_only_prints_the_words_is_not_denied(confined: ToolWorld) -> None:
    result = await run(confined, "echo 'Read-only file system' >&2; exit 1")
    assert result["value"]["sandbox"]["denied"] is False


async def test_apr_08_nothing_before_the_answer_and_exactly_one_run_after_it(
    confined: ToolWorld, outside: Path
) -> None:
    ran = outside / "ran.txt"
    before: list[bool] = []

    def looks(ask: object) -> object:
        before.append(ran.exists())
        return says(ALLOW)

    confined.answers(looks)
    await run(confined, f"date +%s%N >> {ran}", **WIDER)
    assert before == [False]
    assert len(ran.read_text().splitlines()) == 1


@pytest.mark.parametrize("outcome", [REJECT, Outcome.CANCELLED, Outcome.UNAVAILABLE])
async def test_apr_08_c18_no_run_without_a_yes(confined: ToolWorld, tmp_path: Path, outcome: Outcome) -> None:
    confined.answers(outcome)
    result = await run(confined, f"date >> {tmp_path}/ran.txt", **WIDER)
    assert result["isError"] and not (tmp_path / "ran.txt").exists()


async def test_a_stop_while_a_command_runs_ends_it(bash: ToolWorld) -> None:
    pipe = bash.folder / "pipe"
    os.mkfifo(pipe)
    call = bash.make(command=f"echo runs > {pipe}; sleep 60", description="Wait")
    async with anyio.create_task_group() as group:
        group.start_soon(bash.bring, call)
        assert await anyio.to_thread.run_sync(pipe.read_text) == "runs\n"
        await bash.world.stop()
    result = await bash.result(call)
    assert (result.data["code"], result.data["isError"]) == ("ABORTED", True)
    assert result.data["value"]["aborted"] is True


async def test_d9_without_a_usable_backend_nothing_runs_and_the_person_is_told_once(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    sandbox = Sandbox(Places(state, tmp_path / "config.toml"), Selection(()))
    async with tool_world(tmp_path, BashTool(sandbox, confines=lambda: False)) as world:
        for _ in range(3):
            result = await world.call(command="touch ran", description="x")
            assert (result.data["code"], result.data["isError"]) == ("SANDBOX_UNAVAILABLE", True)
        assert os.listdir(world.folder) == []
        (notice,) = await world.world.events("notice")
        assert notice.data["code"] == "sandbox-unavailable"


async def test_apr_17_odd_asks_show_a_usable_card_or_fail_at_once(confined: ToolWorld) -> None:
    responder = confined.answers(REJECT)
    await run(confined, "true", **{**WIDER, "justification": "x" * 1_000_000})
    assert responder.asks[0].subject.values()["justification"] == "x" * 1_000_000
    for odd in ("a\0b", "a\ud800b"):
        assert (await run(confined, "true", **{**WIDER, "justification": odd}))["code"] == "INVALID_ARGUMENTS"
    too_large = await run(confined, "false", **{**WIDER, "justification": "x" * (1 << 20)})
    assert too_large["code"] == "TOO_LARGE_TO_SHOW"
    assert len(responder.asks) == 1


async def test_b19_a_card_is_drawn_again_from_the_result_event_alone(confined: ToolWorld, outside: Path) -> None:
    command = f"echo said; touch {outside}/a"
    confined.answers(ALLOW)
    await run(confined, command)
    await run(confined, command, **WIDER)
    (asked,) = await confined.world.events("approval/asked")
    denied, allowed = [event.data for event in await confined.world.events("tool/result")]
    for data, code, mode, refused in ((denied, 1, "workspace-write", True), (allowed, 0, FULL, False)):
        value = data["value"]
        assert (value["exitCode"], value["stdout"]["text"]) == (code, "said\n")
        assert (value["sandbox"]["mode"], value["sandbox"]["denied"]) == (mode, refused)
        assert data["meta"]["cwd"] == str(confined.folder)
        assert data["meta"]["durationMs"] >= 0
    assert denied["value"]["sandbox"]["path"] == f"{outside}/a"
    assert (denied["meta"].get("ask"), allowed["meta"]["ask"]) == (None, asked.data["id"])
