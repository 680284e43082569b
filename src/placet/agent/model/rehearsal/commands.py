"""The rules about commands: what the rehearsal runs, and what it says about how that went."""

from __future__ import annotations

import json
from typing import Any

from placet.agent.model.port import PERSON, Message, ToolReturn, UserTurn
from placet.agent.model.rehearsal.answer import Answer, in_short
from placet.tools.bash.text import FINAL, HINT

MARK = "[sandbox: file access denied under "
REFUSALS = (": Read-only file system", ": Permission denied")
ENDS = ("[exit code: ", "[killed by signal: ")
REJECTED = "the user rejected"
NOTE = "\nThe user's note: "
ROOTS = ("Commands can change files inside ", "cannot change files in the workspace ")
LONGEST_PATH = 4096
BACKGROUND = " &"
STARTED, OVER = "The command runs in the background as job ", "Background job "


def asked(text: str) -> list[str]:
    """The commands of a person's message: what stands after a dollar sign."""
    lines = (line.strip() for line in text.splitlines())
    return [line[1:].strip() for line in lines if line.startswith("$") and line[1:].strip()]


def run_all(answer: Answer, commands: list[str]) -> None:
    """Run what a person asked for."""
    for command in commands:
        if command.endswith(BACKGROUND):
            answer.run(command.removesuffix(BACKGROUND), run_in_background=True)
        else:
            answer.run(command)
    if len(commands) == 1:
        answer.sentences.append(f"I run `{in_short(commands[0])}`.")
    else:
        answer.sentences.append(f"I run these {len(commands)} commands side by side.")


def after_command(answer: Answer, given: dict[str, Any], result: ToolReturn, messages: tuple[Message, ...]) -> None:
    """Say how a command went; one that the sandbox denied is tried once more, with a request for access."""
    command = str(given.get("command", ""))
    escalated = "sandbox_permissions" in given
    lines = last_lines(result.text)
    mode = next((line[len(MARK) :].partition(" ")[0] for line in lines if line.startswith(MARK)), None)
    if mode and not escalated and (HINT in lines or FINAL in lines):
        path = denied_path(result.text)
        target = f"write to {path}" if path else "write outside the workspace"
        why = f"The sandbox denied this command, which has to {target} to do what you asked for."
        wider = narrowest(mode, path, _root(messages))
        answer.run(command, sandbox_permissions=wider, justification=why)
        ask = "ask you first" if HINT in lines else "ask all the same, so that you see what becomes of an ask here"
        answer.sentences.append(f"The sandbox denied `{in_short(command)}`. I try it once more, and {ask}.")
    elif mode:
        answer.sentences.append(f"The sandbox denied `{in_short(command)}`. I leave it at that.")
    elif result.text.startswith(STARTED):
        answer.sentences.append(f"`{in_short(command)}` runs in the background. I hear when it ends.")
    elif result.is_error:
        answer.sentences.append(_after_error(command, result.text, escalated=escalated))
    else:
        end = lines[-1].strip("[]") if lines[-1].startswith(ENDS) else "it ended"
        answer.sentences.append(f"`{in_short(command)}` has run ({end}).")


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
        sentence = f"You rejected `{in_short(command)}`, so it did not run, and I do not try it again."
        return f"{sentence} I read your note: {note.strip()}" if note.strip() else sentence
    return f"`{in_short(command)}` did not run to its end: {said.strip()}"


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
