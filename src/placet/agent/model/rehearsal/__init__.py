"""`rehearsal`: the built-in offline model. It is no model at all, and says so; it only follows the rules below.

It behaves as a careful agent does: a line `$ COMMAND` runs that command, several such lines run side by side, and one
that ends with ` &` runs in the background. If the sandbox denies a command, it tries exactly that command once more,
with the narrowest mode that suffices and one sentence why, even where the policy answers no to every ask: a rehearsal
shows that too. A refusal is final, and any note that came with it is read back. The word `plugin` begins a tour of
what plugins can do. It decides from the transcript alone, so that it says the same thing again after a crash.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio

from placet.agent.model.port import (
    PERSON,
    AssistantTurn,
    Message,
    ModelRequest,
    Piece,
    Reply,
    TextDelta,
    ToolReturn,
    UserTurn,
)
from placet.agent.model.rehearsal import commands, tour
from placet.agent.model.rehearsal.answer import Answer, arguments_of, in_short
from placet.agent.model.script import words

GREETING = """\
I am the rehearsal model: not a real model, only a few rules that let you try placet without a key. I do not \
understand sentences, but I can run commands. Write one after a dollar sign, for example

    $ echo hi > ~/note.txt

I run it in the sandbox. If the sandbox denies it, I try that command once more and ask for your consent: a card \
appears, and nothing happens before you allow it. You can reject it with a note for me, or stop me at any time. \
Several lines that begin with $ run side by side. A line that ends with & runs in the background.

Write

    plugin

and I write two small plugins for you: one gives me a tool, the other puts a view into your page, if you agree.

For a real model, set DEEPSEEK_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY where you start placet, and start it \
again."""


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
    for message in news:
        call = calls.get(message.call_id) if isinstance(message, ToolReturn) else None
        if isinstance(message, ToolReturn) and call is not None and not tour.after_result(answer, call, message):
            commands.after_command(answer, arguments_of(call), message, messages)
    for message in news:
        if isinstance(message, UserTurn):
            _after_message(answer, message, messages)
    if not answer.sentences and not answer.calls:
        answer.say("There is nothing for me to do.")
    return answer


def _since_last(messages: tuple[Message, ...]) -> tuple[AssistantTurn | None, tuple[Message, ...]]:
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, AssistantTurn):
            return message, messages[index + 1 :]
    return None, messages


def _after_message(answer: Answer, message: UserTurn, messages: tuple[Message, ...]) -> None:
    if message.source != PERSON:
        if message.text.startswith(commands.OVER):
            answer.say(in_short(message.text))
        else:
            tour.after_outcome(answer, message.text, messages)
    elif wanted := commands.asked(message.text):
        commands.run_all(answer, wanted)
    elif not tour.begin(answer, message.text):
        answer.say(GREETING)
