"""What a run without a page prints: the log's own events as they come, for reading or as JSON lines."""

from typing import Any

import anyio

from placet.app.program import program
from placet.approval.outcome import Decision, Outcome, grants
from placet.cli.card import decided
from placet.cli.log import as_json as event_json
from placet.cli.output import say, say_json, show, warn
from placet.cli.visible import visible, visible_line
from placet.sandbox.errors import SandboxUnavailable
from placet.session.codec import loads, unescape
from placet.session.event import Event
from placet.session.ids import SessionId
from placet.session.store import Store

COMPLETED, FAILED, NOT_GRANTED, STOPPED = 0, 1, 4, 130
_READ_AGAIN = 3.0


class Report:
    """Follows one session's log, prints it, and knows at the end how the turn went."""

    def __init__(self, store: Store, session: SessionId, *, as_json: bool) -> None:
        self._store, self._session, self._as_json = store, session, as_json
        self._seen = -1
        self._reading = anyio.Lock()
        self._ended: str | None = None
        self._refused = False
        self._no_sandbox = False
        self._stop: Event | None = None

    @property
    def code(self) -> int:
        """The exit code that tells how it went."""
        match self._ended:
            case "completed" if self._no_sandbox:
                return FAILED
            case "completed":
                return NOT_GRANTED if self._refused else COMPLETED
            case "aborted":
                return STOPPED
            case _:
                return FAILED

    async def follow(self) -> None:
        """Print what comes until cancelled."""
        async with self._store.doorbell() as bell:
            while True:
                await self.catch_up()
                await bell.wait(_READ_AGAIN)

    async def catch_up(self) -> None:
        """Print what the log holds and was not printed yet."""
        async with self._reading:
            while events := await self._store.read(self._session, after=self._seen, limit=200):
                for event in events:
                    self._seen = event.seq
                    self._take(event)

    def _take(self, event: Event) -> None:
        if event.type == "turn/abort":
            self._stop = event
        if event.type == "turn/end":
            self._ended = event.data["reason"]["kind"]
        if event.type == "tool/result" and event.data["code"] == SandboxUnavailable.code:
            self._no_sandbox = True
        if event.type == "approval/decided" and not grants(Outcome(event.data["outcome"])):
            self._refused = True
        if self._as_json:
            say_json(event_json(event))
        else:
            self._tell(event)

    def _tell(self, event: Event) -> None:
        data: Any = event.data
        match event.type:
            case "session/created":
                say(f"session {event.session} in {data['cwd']}")
            case "assistant/message" if data["text"]:
                say(data["text"])
            case "tool/call":
                show(f"[{visible_line(data['name'])}] {visible(_command(data['arguments']))}")
            case "tool/result":
                say(data["text"])
                for line in appeared(data["meta"], event.session):
                    warn(line)
            case "approval/asked":
                say(f"ask {data['id']}: the agent asks for {data['subject']['toMode'] or 'an approval'}")
            case "approval/decided":
                say(decided(Decision.of(event, stop=self._stop).json()).replace("\n", " "))
            case "turn/end" if self._ended != "completed":
                why = data["reason"].get("error") or data["reason"].get("reason") or "no reason given"
                warn(f"The turn ended {self._ended}: {why}")
            case "notice":
                warn(data["text"])
            case _:
                pass


def appeared(meta: Any, session: str) -> list[str]:
    """What a call has made and other programs of the person will run, one line each, and how to move it away."""
    things = meta.get("appeared", [])
    lines = [f"  {visible_line(one['path'])}: {one['why']}" for one in things]
    if meta.get("appearedMore"):
        lines.append(f"  and {meta['appearedMore']} more")
    if things:
        lines.insert(0, "Made or changed by this call: files that other programs of yours will run")
        lines.append(f"  To move one away, while placet runs: {program()} session move-away {session} PATH")
    if meta.get("appearedPartly"):
        lines.append("The folder holds more than placet looks through after a call: there may be other such files.")
    return lines


def _command(arguments: str) -> str:
    try:
        value = loads(unescape(arguments))
        return str(value["command"])
    except (ValueError, KeyError, TypeError):
        return arguments
