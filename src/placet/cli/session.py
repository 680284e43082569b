"""`placet session`: sessions of the running server."""

import os
import secrets
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from placet.app.errors import Refused
from placet.cli import process
from placet.cli.card import session_name
from placet.cli.client import Client, segment
from placet.cli.output import fail, say, say_json, show, told
from placet.cli.visible import visible_line

_Preset = Literal["read-only", "workspace-write", "danger-full-access"]
_FULL: _Preset = "danger-full-access"


def new(
    *,
    cwd: Annotated[str, Parameter(help="The session's folder; it stays the same for good.")],
    message: Annotated[str, Parameter(help="The first message to the agent.")],
    preset: Annotated[_Preset | None, Parameter(help="How much commands may do.")] = None,
    policy: Annotated[Literal["ask", "never"] | None, Parameter(help="Who decides what would need a yes.")] = None,
    yes: Annotated[bool, Parameter(help="Full access is meant; needed for it where there is no terminal.")] = False,
    title: Annotated[str | None, Parameter(help="A name for lists.")] = None,
    json: Annotated[bool, Parameter(help="Print the session as JSON.")] = False,
) -> int:
    """Start a session in a folder with a message, and print its id."""
    if preset == _FULL and not yes:
        _want_yes()
    given = {"preset": preset, "policy": policy, "title": title}
    body: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    body |= {"cwd": _nameable(absolute(cwd)), "message": message, "key": f"cli-{secrets.token_hex(12)}"}
    session = Client(process.places()).post("/api/sessions", body)
    if json:
        say_json(session)
    else:
        say(session["id"])
    return 0


def _want_yes() -> None:
    """Say what full access means, and go on only after a typed yes."""
    from placet.cli import terminal
    from placet.permission.preset import preset_named

    meaning = preset_named(_FULL).description
    if not terminal.is_terminal():
        fail(meaning, hint="If that is meant, add --yes", code=2)
    try:
        with terminal.exclusive():
            typed = terminal.ask_typed(lambda: meaning, "Type yes and Enter if that is meant: ", len("yes"))
    except (terminal.NotTyped, terminal.GaveUp):
        typed = ""
    if typed.lower() != "yes":
        fail("No session was started")


def list_(*, json: Annotated[bool, Parameter(help="Print one JSON object for each session.")] = False) -> int:
    """List the sessions, with their state and the number of open asks."""
    answer = Client(process.places()).get("/api/sessions")
    sessions = answer["sessions"]
    for session in sessions:
        if json:
            say_json(session)
            continue
        asks = f", {session['openAsks']} open" if session["openAsks"] else ""
        name = session_name(session["name"])
        show(f"{session['id']}  {session['status']}{asks}  {session['preset']}  {visible_line(session['cwd'])}  {name}")
    if not (sessions or json or answer["notices"]):
        say("No session yet.")
    return told(answer["notices"])


def move_away(session: str, path: str) -> int:
    """Move a file or folder away that a command has made and other programs of yours would run.

    Args:
        session: The session's id.
        path: The path as the result of the command names it.
    """
    body = {"path": path, "key": f"cli-{secrets.token_hex(12)}"}
    moved = Client(process.places()).post(f"/api/sessions/{segment(session)}/move-away", body)
    show(f"{visible_line(path)} is now {visible_line(moved['to'])}")
    return 0


def preset(
    session: str,
    preset: _Preset,
    *,
    confirm: Annotated[bool, Parameter(help="Do it although it ends jobs, or gives full access.")] = False,
) -> int:
    """Switch a session's preset. What would end, or full access, is said first and has to be confirmed.

    Args:
        session: The session's id.
        preset: read-only, workspace-write or danger-full-access.
    """
    body = {"preset": preset, "confirm": confirm, "key": f"cli-{secrets.token_hex(12)}"}
    reply = Client(process.places()).request("POST", f"/api/sessions/{segment(session)}/permission", body)
    if reply.ok:
        say(f"The preset is {reply.body['permissions']['currentValue']}.")
        return 0
    error = reply.body.get("error", {}) if isinstance(reply.body, dict) else {}
    for job in error.get("jobs") or ():
        show(f"{job['job']}  {job['mode']}  {visible_line(plain(job['command']))}")
    if error.get("code") == "jobs-running":
        raise Refused("What is listed runs with more than that and would end", hint="If that is meant, add --confirm")
    if error.get("code") == "confirm-needed":
        raise Refused(f"{preset}: {error.get('message')}", hint="If that is meant, add --confirm")
    raise reply.refusal()


def jobs(session: str, *, json: Annotated[bool, Parameter(help="Print one JSON object for each job.")] = False) -> int:
    """List the commands of a session that run in the background.

    Args:
        session: The session's id.
    """
    running = Client(process.places()).get(f"/api/sessions/{segment(session)}")["jobs"]
    for job in running:
        if json:
            say_json(job)
        else:
            show(f"{job['job']}  {job['mode']}  {visible_line(plain(job['command']))}")
    if not running and not json:
        say("Nothing runs in the background.")
    return 0


def end_job(session: str, job: str) -> int:
    """End a command that runs in the background, with everything that it has started.

    Args:
        session: The session's id.
        job: The job's id.
    """
    path = f"/api/sessions/{segment(session)}/jobs/{segment(job)}/kill"
    ended = Client(process.places()).post(path, {"key": f"cli-{secrets.token_hex(12)}"})
    how = ended["signal"] or ("no exit code" if ended["exitCode"] is None else f"exit code {ended['exitCode']}")
    say(f"The job has ended ({ended['reason']}, {how}).")
    return 0


def plain(escaped: str) -> str:
    """The text that an escaped form of the log stands for."""
    from placet.session.codec import unescape

    return unescape(escaped)


def _nameable(folder: str) -> str:
    """The folder, if its name can travel as text."""
    try:
        folder.encode()
    except UnicodeEncodeError:
        fail(
            f"The name of the folder {folder} is not UTF-8 text",
            why="The page could not show it",
            hint="Rename it, or work there without the page, with the verb run",
        )
    return folder


def absolute(folder: str) -> str:
    """The folder as an absolute path; the server does not share our current directory."""
    return os.path.abspath(Path(folder).expanduser())
