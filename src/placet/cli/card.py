"""An ask as text for a terminal: the whole subject in a fixed order, nothing cut, the model's words set apart."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from placet.cli.visible import hidden_count, visible, visible_line
from placet.session.codec import loads, unescape

_LABEL = 9
_GUTTER = 8
_WORD = re.compile("[^ ]* *")
_MANY_BLANKS = re.compile(" {16,}")
_EMPTY_RUN = 4
_MODES = {
    "read-only": "may read, may write nothing but its own temp directory",
    "workspace-write": "may write in the workspace and its own temp directory",
    "danger-full-access": "runs without the sandbox and may do what your account may do",
}


def card(ask: Mapping[str, Any], *, now: int, width: int) -> str:
    """The whole ask as lines of at most `width` columns; `now` is the time in epoch milliseconds."""
    subject: Mapping[str, Any] = ask["subject"]
    from_mode, to_mode = subject["fromMode"], subject["toMode"]
    place = f"{ask['position']} of {ask['total']} open" if ask["position"] else "not open"
    lines = [
        "=" * min(width, 78),
        f"ASK {visible_line(ask['id'])}   {place}   asked {waited(now - ask['askedAt'])} ago",
        title(subject),
        "",
        *_field("Session", f"{session_name(ask['sessionName'])} ({ask['session']})", width),
        *_field("Agent", f"{_original(subject['agent'])} (the name of a model)", width),
        *_field("Tool", subject["tool"], width),
        *_field("Where", f"{_original(subject['cwd'])} ({subject['cwdId']})", width),
        *_field("Mode", f"now {from_mode}: {_MODES.get(from_mode, '')}", width),
    ]
    if to_mode is not None:
        lines += _field("", f"this call only {to_mode}: {_MODES.get(to_mode, '')}", width)
    if ask.get("fullAccess"):
        lines += _field("", "This command can change placet itself.", width)
    lines += _field("Tried", _tried(subject.get("denied")), width)
    if ask.get("rearmed"):
        lines += _field("", "This ask was open when placet stopped; it is the same ask again.", width)
    if ask.get("earlierRun"):
        lines += _field("", "An earlier run of this call may still be alive.", width)
    lines += ["", *_arguments(subject["arguments"], width)]
    for file in subject["files"]:
        path, text = _original(str(file["path"])), _original(str(file["text"]))
        lines += ["", f"File {visible_line(path)}, signed together with it: {_count(text)}", *_code(text, width)]
    if subject["tool"] == "bash":
        lines += ["", *_rows(f"Not covered: {_not_covered(covered=bool(subject['files']))}", width)]
    if ask.get("reason"):
        lines += ["", "The agent says, not checked by placet:"]
        words = visible(str(ask["reason"])).split("\n")
        lines += [f"  {piece}" for row in words for piece in _rows(row, width - 2)]
    lines += ["", *_field("Digest", str(ask["digest"]), max(width, 80))]
    lines += _state(ask)
    lines.append("=" * min(width, 78))
    return "\n".join(lines)


def _not_covered(*, covered: bool) -> str:
    if covered:
        return "what scripts and programs that this file starts contain. If it changes before it runs, nothing runs."
    return "what scripts and programs that this command starts contain."


def title(subject: Mapping[str, Any]) -> str:
    """The question in placet's own words; nothing of the agent's is in it."""
    match subject["toMode"]:
        case "danger-full-access":
            return "Run this call once, without the sandbox?"
        case "workspace-write":
            return "Run this call once, with the right to write in the workspace?"
        case None:
            return "Run this call once?"
        case other:
            return f"Run this call once, under {visible_line(str(other))}?"


def summary(ask: Mapping[str, Any], *, now: int) -> str:
    """One line about an ask, enough to find it and never enough to sign it."""
    command = parsed(ask["subject"]["arguments"]).get("command", ask["subject"]["arguments"])
    first, *rest = visible(str(command)).split("\n")
    shown = first if len(first) <= 60 else first[:57] + "..."
    more = f" (+{len(rest)} lines)" if rest else ""
    where = session_name(ask["sessionName"])
    tool = visible_line(str(ask["tool"]))
    return f"{ask['id']}  {waited(now - ask['askedAt']):>9}  {tool}  {where}  {shown}{more}"


def session_name(name: Mapping[str, str]) -> str:
    """What a session is called, on one line, as the page calls it too."""
    text = visible_line(name["text"])
    return f"Session in {text}" if name["origin"] == "folder" else text


def waited(milliseconds: int) -> str:
    """A waiting time for reading: 12 s, 3 min, 2 h 5 min, 4 d."""
    seconds = max(0, milliseconds // 1000)
    if seconds < 60:
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes} min"
    hours = minutes // 60
    return f"{hours} h {minutes % 60} min" if hours < 48 else f"{hours // 24} d"


def parsed(arguments: str) -> dict[str, Any]:
    """The arguments as an object, or empty where they are none; the card then shows the text itself."""
    try:
        value = loads(unescape(arguments))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _arguments(text: str, width: int) -> list[str]:
    value = parsed(text)
    if not value:
        return ["Arguments, exactly:", *_code(text, width)]
    lines: list[str] = []
    for name in sorted(value, key=lambda key: key != "command"):
        inner = value[name] if isinstance(value[name], str) else json.dumps(value[name], ensure_ascii=True)
        label = visible_line(name)
        if name == "command" or "\n" in inner:
            lines += [f"{label}: {_count(inner)}", *_code(inner, width)]
        else:
            lines += [f"  {piece}" for piece in _rows(f"{label}: {_blanks(visible(inner))}", width - 2)]
        lines += _foreign(inner)
    return lines


def _count(text: str) -> str:
    rows = text.count("\n") + 1
    hidden = hidden_count(text)
    return f"{rows} {'line' if rows == 1 else 'lines'}, {len(text)} characters, {hidden} hidden"


def _code(text: str, width: int) -> list[str]:
    lines: list[str] = []
    empty = 0
    rows = visible(text).split("\n")
    for number, row in enumerate(rows, start=1):
        if row == "" and number < len(rows):
            empty += 1
            continue
        lines += _gap(number - empty, empty)
        empty = 0
        first, *rest = _pieces(_blanks(row), max(20, width - _GUTTER))
        lines.append(f"{number:>5} | {first}")
        lines += [f"      > {piece}" for piece in rest]
    return lines


def _gap(start: int, count: int) -> list[str]:
    if count >= _EMPTY_RUN:
        return [f"{start:>5} | ‹{count} empty lines›"]
    return [f"{start + offset:>5} |" for offset in range(count)]


def _blanks(row: str) -> str:
    return _MANY_BLANKS.sub(lambda match: f"‹{len(match.group())} blanks›", row)


def _pieces(row: str, width: int) -> list[str]:
    width = max(20, width)
    pieces: list[str] = []
    start = used = 0
    for index, character in enumerate(row):
        size = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used + size > width:
            pieces.append(row[start:index])
            start, used = index, 0
        used += size
    return [*pieces, row[start:]]


def _rows(text: str, width: int) -> list[str]:
    """The text in lines that break after a blank, where there is one; all of them together are the text."""
    width = max(20, width)
    rows: list[str] = []
    row = ""
    for word in _WORD.findall(text):
        if row and _columns(row + word.rstrip(" ")) > width:
            rows.append(row)
            row = ""
        *whole, row = _pieces(row + word, width)
        rows += whole
    return [*rows, row]


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _foreign(text: str) -> list[str]:
    found = sorted({character for character in text if ord(character) > 0x7E and character.isalpha()})
    if not found:
        return []
    names = [f"{character} U+{ord(character):04X} {unicodedata.name(character, '?')}" for character in found]
    lines = [f"  Not ASCII, may look like another letter: {name}" for name in names[:20]]
    return lines if len(names) <= 20 else [*lines, f"  and {len(names) - 20} more letters that are not ASCII"]


def _original(text: str) -> str:
    try:
        return unescape(text)
    except ValueError:  # no escaped text: it is shown as it is
        return text


def _tried(denied: Mapping[str, Any] | None) -> str:
    if denied is None:
        return "This command was not tried in the sandbox."
    path = denied.get("path")
    return f"The sandbox refused {_original(path)}" if path else "The sandbox refused this command."


def _field(label: str, text: str, width: int) -> Sequence[str]:
    first, *rest = _rows(_blanks(visible_line(text)), width - _LABEL)
    return [f"{label:<{_LABEL}}{first}", *(" " * _LABEL + piece for piece in rest)]


def _state(ask: Mapping[str, Any]) -> list[str]:
    decision = ask.get("decision")
    return [] if not decision else ["", visible_line(decided(decision))]


def decided(decision: Mapping[str, Any]) -> str:
    """A decision as one sentence: outcome, who, over which channel; for a stop, who stopped the turn."""
    if decision.get("stoppedBy"):
        return f"Cancelled: stopped by {decision['stoppedBy']}."
    who = decision.get("who") or {}
    name = who.get("account") or who.get("name") or who.get("kind") or "somebody"
    outcome = str(decision.get("outcome", "")).replace("-", " ")
    channel = decision.get("channel")
    detail = decision.get("detail")
    return f"Decided: {outcome}{f' ({detail})' if detail else ''}, by {name}{f' over {channel}' if channel else ''}."
