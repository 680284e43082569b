"""A log as a story for reading: one short line for each event, with what matters of it; an export has all of it."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from placet.approval.outcome import Decision
from placet.cli.card import decided, parsed
from placet.cli.visible import visible
from placet.session.codec import unescape
from placet.session.event import Event

_LONGEST = 160
_NUMBERS = ("turn", "step", "position")


class Story:
    """Tells the events of one session in their order; remembers who stopped a turn, for the asks that ended with it."""

    def __init__(self) -> None:
        self._stop: Event | None = None

    def line(self, event: Event) -> str:
        """One event as one line that no text in it can break or steer."""
        if event.type == "turn/start":
            self._stop = None
        if event.type == "turn/abort":
            self._stop = event
        moment = datetime.fromtimestamp(event.time / 1000).astimezone()
        return f"{event.seq:>5}  {moment:%Y-%m-%d %H:%M:%S}  {event.type:<18} {self._told(event)}".rstrip()

    def _told(self, event: Event) -> str:
        if event.type == "approval/decided":
            said = [f"{event.data['id']}: {decided(Decision.of(event, stop=self._stop).json())}"]
            return _short(" ".join([*said, *_quoted("Note: ", event.data["feedback"])]))
        teller = _TELLERS.get(event.type)
        return _short(teller(event.data) if teller else _fields(event.data))


def _package(data: Mapping[str, Any]) -> str:
    halves = [f"{half} {len(data[half])} characters" for half in ("host", "client") if data[half] is not None]
    return f"{data['plugin']} {data['package']}: {', '.join(halves)}, digest {data['digest'][:12]}: {data['name']}"


def _wanted(data: Mapping[str, Any]) -> str:
    waits = "waits for a person" if data["needsConsent"] else "needs no consent"
    return f"{_run(data)}, mode {data['mode']}, {waits}, digest {data['digest'][:12]}{_by(data)}"


def _consented(data: Mapping[str, Any]) -> str:
    width = "future versions too" if data["width"] == "future" else "this version only"
    return f"{_run(data)}: {width}, {_signed(data)}, digest {data['digest'][:12]}"


def _declined(data: Mapping[str, Any]) -> str:
    return " ".join([f"{_run(data)}: {_signed(data)}", *_quoted("Note: ", data["feedback"])])


def _revoked(data: Mapping[str, Any]) -> str:
    what = "the consent to future versions" if data["future"] else f"the consent to {data['package']}"
    return f"{data['plugin']}: {what} taken back, {_signed(data)}"


def _over(data: Mapping[str, Any]) -> str:
    error = data.get("error")
    said = f": {error.get('message')}" if error else ""
    detail = f" ({data['detail']})" if data["detail"] else ""
    return f"{_run(data)}: {data['status']}{detail}{_by(data)}{said}"


def _signed(data: Mapping[str, Any]) -> str:
    who = data["who"]
    return f"by {who.get('account') or who.get('name')} over {data['channel']} ({data['strength']})"


def _run(data: Mapping[str, Any]) -> str:
    return " ".join(str(data[part]) for part in ("run", "plugin", "package") if part in data)


def _inbox(data: Mapping[str, Any]) -> str:
    if put := data.get("put"):
        return f"{put['id']} from {_source(put['source'])}: {put['text']}"
    if "take" in data:
        return f"read by the agent: {', '.join(data['take'])}"
    return f"taken back: {', '.join(data['cancel'])}{_by(data)}"


def _said(data: Mapping[str, Any]) -> str:
    calls = ", ".join(call["name"] for call in data["calls"])
    return f"{_place(data)} {data['model']}: {data['text']}{f' [calls {calls}]' if calls else ''}"


def _ended(data: Mapping[str, Any]) -> str:
    reason = data["reason"]
    why = reason.get("error") or reason.get("reason")
    return f"turn {data['turn']}: {reason['kind']}{f' ({why})' if why else ''}"


def _asked(data: Mapping[str, Any]) -> str:
    subject = data["subject"]
    wish = f"{subject['fromMode']} to {subject['toMode']}" if subject["toMode"] else subject["fromMode"]
    return f"{data['id']}: {data['toolName']}, {wish}, digest {data['digest'][:12]}: {_call(subject['arguments'])}"


def _started(data: Mapping[str, Any]) -> str:
    allowed = f", allowed by {data['ask']}" if data["ask"] else ""
    return f"{_place(data)} under {data['mode']}{allowed}"


def _result(data: Mapping[str, Any]) -> str:
    return f"{_place(data)} {data['name']}: {data['code'] or ('error' if data['isError'] else 'done')}: {data['text']}"


def _call(arguments: str) -> str:
    command = parsed(arguments).get("command")
    return command if isinstance(command, str) else _plain(arguments)


def _by(data: Mapping[str, Any]) -> str:
    by = data.get("by")
    if not by or "name" not in by:
        return f", by {by['kind']}" if by else ""
    return f", by {by['name']}" + (f" over {by['channel']}" if "channel" in by else "")


def _source(source: Mapping[str, Any]) -> str:
    return " ".join(str(source[part]) for part in ("kind", "name") if source.get(part))


def _place(data: Mapping[str, Any]) -> str:
    return ".".join(str(data[part]) for part in _NUMBERS if part in data)


def _quoted(word: str, text: str | None) -> list[str]:
    return [f'{word}"{text}"'] if text else []


def _plain(escaped: str) -> str:
    try:
        return unescape(escaped)
    except ValueError:  # no escaped text: it is shown as it is
        return escaped


def _fields(data: Mapping[str, Any]) -> str:
    """The plain fields of an event that needs no words of its own."""
    plain = [f"{name} {value}" for name, value in data.items() if isinstance(value, str | int) and value != ""]
    return ", ".join(plain) + _by(data)


def _short(text: str) -> str:
    first, *rest = text.split("\n")
    cut = visible(first[:_LONGEST])
    more = ([f"+{len(first) - _LONGEST} characters"] if len(first) > _LONGEST else []) + (
        [f"+{len(rest)} {'line' if len(rest) == 1 else 'lines'}"] if rest else []
    )
    return f"{cut} ({', '.join(more)})" if more else cut


_TELLERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "session/created": lambda data: f"in {_plain(data['cwd'])}{_by(data)}",
    "agent/inbox": _inbox,
    "turn/start": lambda data: f"turn {data['turn']}",
    "turn/abort": lambda data: f"turn {data['turn']} stopped{_by(data)}",
    "turn/end": _ended,
    "step/start": lambda data: _place(data),
    "step/end": lambda data: _place(data),
    "user/message": lambda data: f"{data['id']} from {_source(data['source'])}: {data['text']}",
    "assistant/message": _said,
    "model/failed": lambda data: f"{_place(data)} attempt {data['attempt']}: {data['error']}",
    "tool/call": lambda data: f"{_place(data)} {data['name']}: {_call(data['arguments'])}",
    "tool/started": _started,
    "tool/result": _result,
    "job/started": lambda data: f"{data['job']} under {data['mode']}: {_plain(data['command'])}",
    "approval/asked": _asked,
    "approval/refused": lambda data: f"{data['id']}: {data['outcome']} of {data['who']['name']}: {data['why']}",
    "cordis/defined": _package,
    "cordis/requested": _wanted,
    "cordis/consented": _consented,
    "cordis/declined": _declined,
    "cordis/started": lambda data: f"{_run(data)} under {data['mode']}",
    "cordis/settled": _over,
    "cordis/stopped": _over,
    "cordis/diagnosed": lambda data: f"{_run(data)} {data['half']} half, {data['phase']}: {data['message']}",
    "cordis/revoked": _revoked,
    "cordis/called": lambda data: f"{_run(data)} uses {data['service']}",
    "notice": lambda data: f"{data['level']}: {data['text']}",
}
