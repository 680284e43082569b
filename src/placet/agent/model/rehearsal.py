"""`rehearsal`: the built-in offline model. It is no model at all, and says so; it only follows the rules below.

It behaves as a careful agent does: a line `$ COMMAND` runs that command, several such lines run side by side, and one
that ends with ` &` runs in the background. If the sandbox denies a command, it tries exactly that command once more,
with the narrowest mode that suffices and one sentence why, even where the policy answers no to every ask: a rehearsal
shows that too. A refusal is final, and any note that came with it is read back. It decides from the transcript alone,
so that it says the same thing again after a crash.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import anyio

from placet.agent.model.port import (
    PERSON,
    AssistantTurn,
    Message,
    ModelCall,
    ModelRequest,
    Piece,
    Reply,
    TextDelta,
    ToolReturn,
    UserTurn,
)
from placet.agent.model.script import words
from placet.tools.bash.text import FINAL, HINT

GREETING = """\
I am the rehearsal model: not a real model, only a few rules that let you try placet without a key. I do not \
understand sentences, but I can run commands. Write one after a dollar sign, for example

    $ echo hi > ~/note.txt

I run it in the sandbox. If the sandbox denies it, I try that command once more and ask for your consent: a card \
appears, and nothing happens before you allow it. You can reject it with a note for me, or stop me at any time. \
Several lines that begin with $ run side by side. A line that ends with & runs in the background.

For a real model, set DEEPSEEK_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY where you start placet, and start it \
again."""

MARK = "[sandbox: file access denied under "
REFUSALS = (": Read-only file system", ": Permission denied")
ENDS = ("[exit code: ", "[killed by signal: ")
REJECTED = "the user rejected"
NOTE = "\nThe user's note: "
ROOTS = ("Commands can change files inside ", "cannot change files in the workspace ")
LONGEST_PATH = 4096
BACKGROUND = " &"
STARTED, OVER = "The command runs in the background as job ", "Background job "


@dataclass(slots=True)
class Answer:
    """What the rehearsal will say and call."""

    sentences: list[str] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)

    def run(self, command: str, **more: str | bool) -> None:
        """Call for a command; `more` are arguments beside it."""
        arguments = {"command": command, "description": f"Run {_short(command)}", **more}
        self.calls.append(ModelCall(f"r{len(self.calls) + 1}", "bash", json.dumps(arguments, ensure_ascii=False)))


class Rehearsal:
    """Follows its rules; `pace` is the pause in seconds between two words, so that the page has something to stream."""

    name = "rehearsal"
    real = False

    def __init__(self, *, pace: float = 0.012) -> None:
        self.pace = pace

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        """Answer what came in since its last message: results of its calls, and messages of the person."""
        answer = respond(request.messages)
        text = "\n\n".join(answer.sentences)
        for word in words(text):
            await anyio.sleep(self.pace)
            yield TextDelta(word)
        yield Reply(text, tuple(answer.calls))


def respond(messages: tuple[Message, ...]) -> Answer:
    """The answer to a conversation, by the rules and nothing else."""
    answer = Answer()
    last, news = _since_last(messages)
    calls = {call.id: call for call in last.calls} if last else {}
    for result in news:
        if isinstance(result, ToolReturn) and result.call_id in calls:
            _after_result(answer, _arguments(calls[result.call_id]), result, messages)
    for message in news:
        if isinstance(message, UserTurn) and message.source == PERSON:
            _after_message(answer, message.text)
        elif isinstance(message, UserTurn) and message.text.startswith(OVER):
            answer.sentences.append(_short(message.text))
    if not answer.sentences and not answer.calls:
        answer.sentences.append("There is nothing for me to do.")
    return answer


def _since_last(messages: tuple[Message, ...]) -> tuple[AssistantTurn | None, tuple[Message, ...]]:
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, AssistantTurn):
            return message, messages[index + 1 :]
    return None, messages


def _after_message(answer: Answer, text: str) -> None:
    commands = [line.strip()[1:].strip() for line in text.splitlines() if line.strip().startswith("$")]
    commands = [command for command in commands if command]
    for command in commands:
        if command.endswith(BACKGROUND):
            answer.run(command.removesuffix(BACKGROUND), run_in_background=True)
        else:
            answer.run(command)
    if len(commands) == 1:
        answer.sentences.append(f"I run `{_short(commands[0])}`.")
    elif commands:
        answer.sentences.append(f"I run these {len(commands)} commands side by side.")
    else:
        answer.sentences.append(GREETING)


def _after_result(answer: Answer, asked: dict[str, Any], result: ToolReturn, messages: tuple[Message, ...]) -> None:
    command = str(asked.get("command", ""))
    escalated = "sandbox_permissions" in asked
    lines = last_lines(result.text)
    mode = next((line[len(MARK) :].partition(" ")[0] for line in lines if line.startswith(MARK)), None)
    if mode and not escalated and (HINT in lines or FINAL in lines):
        path = denied_path(result.text)
        target = f"write to {path}" if path else "write outside the workspace"
        why = f"The sandbox denied this command, which has to {target} to do what you asked for."
        wider = narrowest(mode, path, _root(messages))
        answer.run(command, sandbox_permissions=wider, justification=why)
        ask = "ask you first" if HINT in lines else "ask all the same, so that you see what becomes of an ask here"
        answer.sentences.append(f"The sandbox denied `{_short(command)}`. I try it once more, and {ask}.")
    elif mode:
        answer.sentences.append(f"The sandbox denied `{_short(command)}`. I leave it at that.")
    elif result.text.startswith(STARTED):
        answer.sentences.append(f"`{_short(command)}` runs in the background. I hear when it ends.")
    elif result.is_error:
        answer.sentences.append(_after_error(command, result.text, escalated=escalated))
    else:
        end = lines[-1].strip("[]") if lines[-1].startswith(ENDS) else "it ended"
        answer.sentences.append(f"`{_short(command)}` has run ({end}).")


def last_lines(text: str, count: int = 8) -> list[str]:
    """The last lines of a result, where placet's own marks stand. Output is never searched with regular expressions."""
    return text.rsplit("\n", count)[-count:]


def denied_path(text: str) -> str | None:
    """The path that the system's own words name: what stands before "Read-only file system", if it looks like one."""
    for words_of_refusal in REFUSALS:
        end = text.find(words_of_refusal)
        if end > 0:
            line = text[max(0, end - LONGEST_PATH) : end].rpartition("\n")[2]
            path = line.rpartition(": ")[2].rpartition(" ")[2].strip("'\"‘’")
            return path or None
    return None


def _after_error(command: str, text: str, *, escalated: bool) -> str:
    said, _, note = text.removeprefix("Error: ").partition(NOTE)
    if escalated and said.startswith(REJECTED):
        sentence = f"You rejected `{_short(command)}`, so it did not run, and I do not try it again."
        return f"{sentence} I read your note: {note.strip()}" if note.strip() else sentence
    return f"`{_short(command)}` did not run to its end: {said.strip()}"


def narrowest(mode: str, path: str | None, root: str | None) -> str:
    """The narrowest mode in which the denied write would go through."""
    inside = path is not None and root is not None and (not path.startswith("/") or f"{path}/".startswith(f"{root}/"))
    return (
        "workspace-write" if mode == "read-only" and inside and not str(path).startswith("..") else "danger-full-access"
    )


def _root(messages: tuple[Message, ...]) -> str | None:
    """The workspace as the last statement of the rules names it."""
    for message in reversed(messages):
        if isinstance(message, UserTurn) and message.source != PERSON:
            for words_before in ROOTS:
                start = message.text.find(words_before)
                if start >= 0:
                    return str(json.JSONDecoder().raw_decode(message.text, start + len(words_before))[0])
    return None


def _arguments(call: ModelCall) -> dict[str, Any]:
    try:
        value = json.loads(call.arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _short(command: str) -> str:
    line = command.splitlines()[0] if command else command
    return line if len(line) <= 80 else f"{line[:79]}…"
