"""A request for consent as text for a terminal: both halves whole, and where the answer can be given."""

from collections.abc import Mapping
from typing import Any

from placet.cli.card import session_name
from placet.cli.columns import counted, field, foreign, numbered, original, waited, wrapped
from placet.cli.visible import visible, visible_line

IN_THE_PAGE = "Consent is given in the page only, where the code can be read and compared"
_HALVES = (
    ("host", "Host half, Python, runs beside the server in the session's sandbox"),
    ("client", "Browser half, JavaScript, runs in your page"),
)


def consent_card(request: Mapping[str, Any], *, now: int, width: int) -> str:
    """The whole request as lines of at most `width` columns; `now` is the time in epoch milliseconds."""
    place = f"{request['position']} of {request['total']} open" if request["position"] else "not open"
    lines = [
        "=" * min(width, 78),
        f"CONSENT {visible_line(request['run'])}   {place}   asked {waited(now - request['requestedAt'])} ago",
        "Let the code of this plugin run, and draw in your page?",
        "",
        *field("Plugin", f"{request['plugin']}, version {request['package']}", width),
        *field("Session", f"{session_name(request['sessionName'])} ({request['session']})", width),
        *field("Agent", f"{original(request['model'])} (the name of a model)", width),
        *field("Start", _start(request), width),
        *field("Services", _names(request["wants"]["services"]), width),
        *field("Seats", _names(request["wants"]["seats"]), width),
        "",
        "The agent says, not checked by placet:",
        *_words(f"{request['name']}: {request['purpose']}", width),
    ]
    for half, title in _HALVES:
        lines += ["", *_half(title, request[half], width)]
    lines += ["", *field("Digest", str(request["digest"]), max(width, 80)), "", visible_line(_state(request))]
    lines.append("=" * min(width, 78))
    return "\n".join(lines)


def consent_summary(request: Mapping[str, Any], *, now: int) -> str:
    """One line about a request, enough to find it and never enough to answer it."""
    since, where = waited(now - request["requestedAt"]), session_name(request["sessionName"])
    what = visible_line(f"{request['plugin']} {request['package']}")
    name = visible_line(request["name"])
    shown = name if len(name) <= 60 else name[:57] + "..."
    return f"{request['run']}  {since:>9}  consent  {where}  {what}  {shown}"


def consent_decided(decision: Mapping[str, Any]) -> str:
    """How a request was settled, as one sentence: how wide, who, over which channel."""
    who = decision.get("who") or {}
    name = who.get("account") or who.get("name")
    width = {"package": "this version only", "future": "future versions too"}.get(str(decision.get("width")))
    how = f"{decision['outcome']}{f' ({width})' if width else ''}"
    detail = f" ({decision['detail']})" if decision.get("detail") else ""
    by = f", by {name}" if name else ""
    over = f" over {decision['channel']}" if decision.get("channel") else ""
    return f"Decided: {how}{detail}{by}{over}."


def _start(request: Mapping[str, Any]) -> str:
    if request["mode"] == "update":
        return "takes the place of the version that is current now"
    return "runs this version"


def _names(names: list[str]) -> str:
    return f"{', '.join(names)} (named in its code)" if names else "none named in its code"


def _words(text: str, width: int) -> list[str]:
    return [f"  {piece}" for row in visible(text).split("\n") for piece in wrapped(row, width - 2)]


def _half(title: str, code: str | None, width: int) -> list[str]:
    if code is None:
        return [f"{title}: there is none."]
    text = original(code)
    return [*wrapped(f"{title}: {counted(text)}", width), *numbered(text, width), *foreign(text)]


def _state(request: Mapping[str, Any]) -> str:
    decision = request.get("decision")
    return f"{IN_THE_PAGE}." if decision is None else consent_decided(decision)
