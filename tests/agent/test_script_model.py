"""`script:FILE` plays written steps, and finds its place by the transcript alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from placet.agent.errors import BadScript
from placet.agent.model import AssistantTurn, ModelRequest, Reply, TextDelta, UserTurn, model_named
from placet.agent.model.script import CLOSING, words

pytestmark = pytest.mark.anyio


def script(tmp_path: Path, steps: object) -> str:
    path = tmp_path / "steps.json"
    path.write_text(json.dumps(steps))
    return f"script:{path}"


async def step(name: str, done: int) -> tuple[str, Reply]:
    messages = (UserTurn("go"), *[AssistantTurn("earlier")] * done)
    pieces = [piece async for piece in model_named(name).stream(ModelRequest("", messages))]
    reply = pieces[-1]
    assert isinstance(reply, Reply)
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)), reply


async def test_each_request_gets_the_step_after_the_ones_in_the_transcript(tmp_path: Path) -> None:
    call = {"name": "bash", "arguments": {"command": "ls"}, "id": "x"}
    name = script(
        tmp_path, [{"text": "one two", "calls": [call, {"name": "bash", "arguments": "{broken"}]}, {"text": "three"}]
    )
    text, first = await step(name, 0)
    assert text == "one two"
    assert [(call.id, call.name, call.arguments) for call in first.calls] == [
        ("x", "bash", '{"command": "ls"}'),
        ("s1c2", "bash", "{broken"),
    ]
    assert (await step(name, 1))[1].text == "three"
    assert (await step(name, 2))[1] == Reply(CLOSING)
    assert (await step(name, 0))[1] == first


@pytest.mark.parametrize(
    "steps",
    [{}, [1], [{"text": 1}], [{"calls": {}}], [{"calls": [{}]}], [{"text": "x", "more": 1}]],
    ids=lambda steps: json.dumps(steps),
)
def test_a_file_that_is_no_script_is_one_clear_line(tmp_path: Path, steps: object) -> None:
    with pytest.raises(BadScript) as caught:
        model_named(script(tmp_path, steps))
    assert "\n" not in str(caught.value)


def test_a_missing_or_broken_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BadScript, match="cannot be read"):
        model_named(f"script:{tmp_path / 'nothing'}")
    (tmp_path / "broken").write_text("[{")
    with pytest.raises(BadScript, match="is not JSON"):
        model_named(f"script:{tmp_path / 'broken'}")


@pytest.mark.parametrize("text", ["", "a", "a b", " a  b ", "a\nb c"])
def test_words_give_the_text_again(text: str) -> None:
    assert "".join(words(text)) == text
