"""An ask as text for a terminal: the whole subject in a fixed order, nothing cut, the model's words set apart."""

import json
from collections.abc import Mapping
from typing import Any

from placet.cli.columns import blanks, counted, field, foreign, numbered, original, waited, wrapped
from placet.cli.visible import visible, visible_line
from placet.session.codec import loads, unescape

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
        *field("Session", f"{session_name(ask['sessionName'])} ({ask['session']})", width),
        *field("Agent", f"{original(subject['agent'])} (the name of a model)", width),
        *field("Tool", subject["tool"], width),
        *field("Where", f"{original(subject['cwd'])} ({subject['cwdId']})", width),
        *field("Mode", f"now {from_mode}: {_MODES.get(from_mode, '')}", width),
    ]
    if to_mode is not None:
        lines += field("", f"this call only {to_mode}: {_MODES.get(to_mode, '')}", width)
    if ask.get("fullAccess"):
        lines += field("", "This command can change placet itself.", width)
    lines += field("Tried", _tried(subject.get("denied")), width)
    if ask.get("rearmed"):
        lines += field("", "This ask was open when placet stopped; it is the same ask again.", width)
    if ask.get("earlierRun"):
        lines += field("", "An earlier run of this call may still be alive.", width)
    lines += ["", *_arguments(subject["arguments"], width)]
    for file in subject["files"]:
        path, text = original(str(file["path"])), original(str(file["text"]))
        lines += ["", f"File {visible_line(path)}, signed together with it: {counted(text)}", *numbered(text, width)]
    if subject["tool"] == "bash":
        lines += ["", *wrapped(f"Not covered: {_not_covered(covered=bool(subject['files']))}", width)]
    if ask.get("reason"):
        lines += ["", "The agent says, not checked by placet:"]
        words = visible(str(ask["reason"])).split("\n")
        lines += [f"  {piece}" for row in words for piece in wrapped(row, width - 2)]
    lines += ["", *field("Digest", str(ask["digest"]), max(width, 80))]
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
        return ["Arguments, exactly:", *numbered(text, width)]
    lines: list[str] = []
    for name in sorted(value, key=lambda key: key != "command"):
        inner = value[name] if isinstance(value[name], str) else json.dumps(value[name], ensure_ascii=True)
        label = visible_line(name)
        if name == "command" or "\n" in inner:
            lines += [f"{label}: {counted(inner)}", *numbered(inner, width)]
        else:
            lines += [f"  {piece}" for piece in wrapped(f"{label}: {blanks(visible(inner))}", width - 2)]
        lines += foreign(inner)
    return lines


def _tried(denied: Mapping[str, Any] | None) -> str:
    if denied is None:
        return "This command was not tried in the sandbox."
    path = denied.get("path")
    return f"The sandbox refused {original(path)}" if path else "The sandbox refused this command."


def _state(ask: Mapping[str, Any]) -> list[str]:
    decision = ask.get("decision")
    return [] if not decision else ["", visible_line(decided(decision))]


def decided(decision: Mapping[str, Any]) -> str:
    """A decision as one sentence: outcome, who, over which channel; for a stop, who stopped the turn."""
    if decision.get("stoppedBy"):
        return f"Cancelled: stopped by {decision['stoppedBy']}."
    outcome = str(decision.get("outcome", "")).replace("-", " ")
    detail = decision.get("detail")
    return f"Decided: {outcome}{f' ({detail})' if detail else ''}, by {_decider(decision)}."


def _decider(decision: Mapping[str, Any]) -> str:
    """Who it was: only a person comes over a channel that says something."""
    who = decision.get("who") or {}
    name = who.get("account") or who.get("name") or who.get("kind") or "somebody"
    if who.get("kind") == "policy":
        return f"the policy {name}"
    channel = decision.get("channel")
    return f"{name} over {channel}" if channel and who.get("kind") == "person" else str(name)
