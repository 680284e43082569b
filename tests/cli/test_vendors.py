"""A run with a real vendor's dialect, from the configuration to the log: keys stay in the environment."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from placet.agent.model.port import ModelCall
from placet.testing.openai_server import Answer, OpenAIServer
from tests.cli.conftest import Cli

pytestmark = pytest.mark.anyio
KEY = "sk-this-is-a-secret-key"


async def run(cli: Cli, workspace: Path, answers: list[Answer]) -> tuple[int, list[dict[str, Any]], str]:
    """A run against the scripted endpoint that the configuration names: exit code, events, stderr."""
    async with OpenAIServer(answers) as server:
        text = f'[model]\nname = "openai:some-model"\nbase_url = "{server.address}"\n'
        (cli.home / "config.toml").write_text(text, encoding="utf-8")
        with anyio.fail_after(110):
            done = await to_thread.run_sync(
                lambda: cli("run", "go", "--cwd", str(workspace), "--json", env={"OPENAI_API_KEY": KEY}),
            )
        assert set(server.keys) <= {f"Bearer {KEY}", KEY}
    assert KEY not in done.stdout + done.stderr
    assert KEY.encode() not in (cli.home / "state" / "placet.db").read_bytes()
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


async def test_a_vendors_tool_call_runs_and_its_key_is_in_no_log(cli: Cli, workspace: Path) -> None:
    arguments = json.dumps({"command": "env > env.txt; echo done", "description": "look"})
    calls = (ModelCall("call_1", "bash", arguments),)
    code, events, err = await run(cli, workspace, [Answer(text="I look.", calls=calls), Answer(text="Seen.")])
    assert code == 0, err
    [result] = [event["data"] for event in events if event["type"] == "tool/result"]
    assert result["value"]["exitCode"] == 0
    assert KEY not in (workspace / "env.txt").read_text()


async def test_an_endless_stream_ends_the_turn_with_one_clear_error(cli: Cli, workspace: Path) -> None:
    code, events, err = await run(cli, workspace, [Answer(endless=True)] * 10)
    assert code == 1
    assert "Traceback" not in err
    assert events[-1]["type"] == "turn/end"
    assert events[-1]["data"]["reason"]["kind"] in ("error", "max-tokens")


async def test_a_refused_key_ends_the_turn_with_one_clear_error(cli: Cli, workspace: Path) -> None:
    code, events, _ = await run(cli, workspace, [Answer(status=401)] * 3)
    assert code == 1
    assert events[-1]["data"]["reason"]["kind"] == "error"
