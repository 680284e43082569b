"""From the log to what the model reads: only `user/message`, `assistant/message` and `tool/result` count (A20, F3).

The fold costs the same for each event, however long the log is: the conversation is a linked list that grows at one
end. Results come into the log as they are known; here they stand in the order of the calls. A call's id is the
server's own name of it, (turn, step, position), because a model may give two calls one id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from placet.agent.model.port import AssistantTurn, Message, ModelCall, ToolReturn, UserTurn
from placet.session.codec import unescape
from placet.session.event import Event
from placet.session.turn import FIRST_OF_PLUGINS

NO_RESULT = "Error: the log holds no result of this call."
INTERRUPTED = "\n\n[The reply was interrupted here.]"


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the model said in one step, and the results of its calls by position."""

    turn: int
    step: int
    said: AssistantTurn
    results: Mapping[int, ToolReturn] = field(default_factory=dict)

    def messages(self) -> list[Message]:
        """The message and its results in the order of the calls; a result that is missing is said to be."""
        returns = [
            self.results.get(position, ToolReturn(call.id, call.name, NO_RESULT, is_error=True))
            for position, call in enumerate(self.said.calls)
        ]
        return [self.said, *returns]


@dataclass(frozen=True, slots=True)
class Link:
    """One entry of the conversation and what came before it."""

    entry: Exchange | UserTurn
    before: Link | None


@dataclass(frozen=True, slots=True)
class Transcript:
    """The conversation so far, newest entry first, and the context statement that the model saw last."""

    last: Link | None = None
    context: str | None = None

    def messages(self) -> tuple[Message, ...]:
        """The conversation as a model reads it, oldest first."""
        entries: list[Exchange | UserTurn] = []
        link = self.last
        while link is not None:
            entries.append(link.entry)
            link = link.before
        messages: list[Message] = []
        for entry in reversed(entries):
            messages += entry.messages() if isinstance(entry, Exchange) else [entry]
        return tuple(messages)


CONTEXT = "context"
"""The name in the source of the messages that state policy and mode."""


class TranscriptFold:
    """Adds each model-visible event to the conversation."""

    def start(self) -> Transcript:
        return Transcript()

    def step(self, state: Transcript, event: Event) -> Transcript:
        data = event.data
        match event.type:
            case "user/message":
                source = data["source"]
                link = Link(UserTurn(data["text"], source["kind"]), state.last)
                stated = source["kind"] == "plugin" and source.get("name") == CONTEXT
                return Transcript(link, data["text"] if stated else state.context)
            case "assistant/message":
                exchange = Exchange(data["turn"], data["step"], _said(data))
                return replace(state, last=Link(exchange, state.last))
            case "tool/result" if data["position"] < FIRST_OF_PLUGINS:  # what plugins call is no word of the model
                return replace(state, last=_with_result(state.last, event))
        return state


TRANSCRIPT = TranscriptFold()


def call_id(turn: int, step: int, position: int) -> str:
    """The id under which a vendor hears of a call: the call key, in letters that every vendor takes."""
    return f"call_{turn}_{step}_{position}"


def _said(data: Mapping[str, object]) -> AssistantTurn:
    turn, step = int(str(data["turn"])), int(str(data["step"]))
    calls = data["calls"]
    assert isinstance(calls, list)
    text = str(data["text"])
    if data.get("interrupted"):
        text = text + INTERRUPTED if text else ""
    return AssistantTurn(
        text,
        tuple(
            ModelCall(call_id(turn, step, call["position"]), call["name"], unescape(call["arguments"]))
            for call in calls
        ),
        None if data.get("reasoning") is None else str(data["reasoning"]),
    )


def _with_result(link: Link | None, event: Event) -> Link | None:
    """The list with a result in its place. Results follow their message closely, so the walk back is short."""
    data = event.data
    later: list[Exchange | UserTurn] = []
    while link is not None:
        entry = link.entry
        if isinstance(entry, Exchange) and (entry.turn, entry.step) == (data["turn"], data["step"]):
            position = data["position"]
            result = ToolReturn(call_id(entry.turn, entry.step, position), data["name"], data["text"], data["isError"])
            link = Link(replace(entry, results={**entry.results, position: result}), link.before)
            break
        later.append(entry)
        link = link.before
    for entry in reversed(later):
        link = Link(entry, link)
    return link
