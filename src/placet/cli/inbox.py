"""`placet inbox`: what waits for a person in all sessions, and the answers that a terminal can give."""

import secrets
import shutil
import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NoReturn

from cyclopts import Parameter

from placet.app.errors import NoServer, Refused
from placet.app.program import program
from placet.approval.outcome import Outcome
from placet.cli import output, process
from placet.cli.card import card, decided, summary
from placet.cli.client import Client, Reply, segment
from placet.cli.consent_card import IN_THE_PAGE, consent_card, consent_decided, consent_summary
from placet.cli.output import fail, say, say_json, told

_TYPED = 6
_LISTED = ("id", "session", "sessionName", "agent", "tool", "askedAt", "state", "position", "total", "fullAccess")
_WAITING: tuple[tuple[str, str, tuple[str, ...], Callable[..., str]], ...] = (
    ("asks", "/api/asks", _LISTED, summary),
    ("consents", "/api/consents", (), consent_summary),
)
_AsJson = Annotated[bool, Parameter(help="Print JSON.")]


def list_(*, json: _AsJson = False) -> int:
    """List the open asks, and the open requests for consent to a plugin's code, the oldest of each first.

    A list never shows enough to sign anything: open it with `placet inbox show ID`.
    """
    client = Client(process.places())
    notices: list[Any] = []
    shown = 0
    for kind, path, listed, line in _WAITING:
        cursor = None
        while True:
            page = client.get(path, {"cursor": cursor})
            notices += [notice for notice in page["notices"] if notice not in notices]
            for one in page[kind]:
                shown += 1
                if json:
                    say_json({key: one.get(key) for key in listed or one})
                else:
                    output.show(line(one, now=_now()))
            cursor = page.get("next")
            if not cursor:
                break
    if not (shown or json or notices):
        say("No ask is open.")
    return told(notices)


def show(ask: Annotated[str, Parameter(help="Its id.")], /, *, json: _AsJson = False) -> int:
    """Show one ask, or one request for consent, whole: what would run, and the digest that an answer signs."""
    if _is_consent(ask):
        return _show_consent(Client(process.places()), ask, json=json)
    view = _view(Client(process.places()), ask)
    if json:
        say_json(view)
    else:
        _print_card(view)
    return 0


def allow(
    ask: Annotated[str, Parameter(help="Its id.")],
    /,
    *,
    digest: Annotated[str | None, Parameter(help="The whole digest, needed where there is no terminal.")] = None,
    json: _AsJson = False,
) -> int:
    """Show one ask whole and allow it once.

    On a terminal the first six characters of the digest must be typed by hand. Without one, --digest must hold the
    whole digest, which only `placet inbox show` prints.
    """
    from placet.cli import terminal

    if _is_consent(ask):
        fail(IN_THE_PAGE, why="The request stays open", hint=f"Open the page with: {program()} link", code=2)
    client = Client(process.places())
    view = _open_view(client, ask)
    if digest is None and not terminal.is_terminal():
        fail(
            "Allowing without a terminal needs the whole digest",
            why="A yes is about exact bytes, and nobody was shown them here",
            hint=f"Read the ask with: {program()} inbox show {ask}. Then give --digest FULL",
            code=2,
        )
    if digest is None:
        view = _confirmed(client, ask)
    elif digest != view["digest"]:
        fail(
            "The digest is not that of this ask",
            why="The ask stays open",
            hint=f"Read it again with: {program()} inbox show {ask}",
        )
    return _answer(client, view, Outcome.ALLOWED_ONCE, None, json=json)


def reject(
    ask: Annotated[str, Parameter(help="Its id.")],
    /,
    *,
    because: Annotated[str | None, Parameter(help="A note that reaches the agent.")] = None,
    digest: Annotated[str | None, Parameter(help="Reject only if the ask has this digest.")] = None,
    stop: Annotated[bool, Parameter(negative="", help="Stop the agent's turn as well, in the same moment.")] = False,
    json: _AsJson = False,
) -> int:
    """Reject one ask, or decline one plugin; a note given with --because reaches the agent.

    It does so at its next turn if this one is stopped.
    """
    client = Client(process.places())
    if _is_consent(ask):
        return _decline(client, ask, because, digest, stop=stop, json=json)
    view = _open_view(client, ask)
    if digest is not None and digest != view["digest"]:
        fail(
            "The digest is not that of this ask",
            why="The ask stays open",
            hint=f"Read it again with: {program()} inbox show {ask}",
        )
    return _answer(client, view, Outcome.REJECTED, because, stop=stop, json=json)


def _is_consent(id: str) -> bool:
    return id.startswith("run-")


def _show_consent(client: Client, run: str, *, json: bool) -> int:
    view = client.get(f"/api/consents/{segment(run)}")
    if json:
        say_json(view)
    else:
        output.show(consent_card(view, now=_now(), width=shutil.get_terminal_size().columns))
    return 0


def _decline(client: Client, run: str, feedback: str | None, digest: str | None, *, stop: bool, json: bool) -> int:
    if stop:
        fail("A request for consent has no turn to stop", hint="Leave --stop out", code=2)
    view = client.get(f"/api/consents/{segment(run)}")
    if view["state"] != "open":
        fail("This request is not open any more", why=_settled(view.get("decision")), hint="Nothing was changed")
    if digest is not None and digest != view["digest"]:
        _other_digest(run)
    body: dict[str, object] = {"run": run, "digest": view["digest"], "key": f"cli-{secrets.token_hex(12)}"}
    if feedback is not None:
        body["feedback"] = feedback
    reply = _sent(client, f"/api/plugins/{segment(view['plugin'])}/decline", body)
    if json and isinstance(reply.body, dict):
        say_json(reply.body)
        return 0 if reply.ok else 1
    if not reply.ok and "reason" not in reply.body:
        raise reply.refusal()
    if reply.status == 200:
        say(f"Declined: {view['plugin']} {view['package']}; nothing of it starts.")
        return 0
    fail("Your answer did not count", why=reply.body.get("why") or _settled(reply.body.get("decision")))


def _settled(decision: Mapping[str, Any] | None) -> str:
    return "It is being settled" if decision is None else consent_decided(decision)


def _other_digest(id: str) -> NoReturn:
    fail(
        "The digest is not that of this request",
        why="It stays open",
        hint=f"Read it again with: {program()} inbox show {id}",
    )


def _view(client: Client, ask: str) -> Any:
    return client.get(f"/api/asks/{segment(ask)}")


def _open_view(client: Client, ask: str) -> Any:
    view = _view(client, ask)
    if view["state"] != "open" or view["position"] is None:
        fail("This ask is not open any more", why=_winner(view.get("decision")), hint="Nothing was changed")
    return view


def _winner(decision: Mapping[str, Any] | None) -> str:
    return "Its turn was stopped or is over" if decision is None else decided(decision)


def _confirmed(client: Client, ask: str) -> Any:
    from placet.cli import terminal

    fresh: dict[str, Any] = {}

    def draw() -> str:
        fresh.update(_open_view(client, ask))
        return card(fresh, now=_now(), width=shutil.get_terminal_size().columns)

    try:
        with terminal.exclusive():
            prompt = f"To allow this call once, type the first {_TYPED} characters of the digest and Enter: "
            typed = terminal.ask_typed(draw, prompt, _TYPED)
    except terminal.NotTyped:
        fail("That was pasted, not typed", why="Nothing was decided and the ask stays open", hint="Type it by hand")
    except terminal.GaveUp:
        fail("Nothing was decided", why="The ask stays open")
    if typed.lower() != fresh["digest"][:_TYPED]:
        fail("These are not the first characters of the digest", why="Nothing was decided and the ask stays open")
    return fresh


def _answer(
    client: Client, view: Mapping[str, Any], outcome: Outcome, feedback: str | None, *, stop: bool = False, json: bool
) -> int:
    key = f"cli-{secrets.token_hex(12)}"
    body: dict[str, object] = {"outcome": outcome.value, "digest": view["digest"], "key": key}
    if feedback is not None:
        body["feedback"] = feedback
    if stop:
        body["stop"] = True
    reply = _sent(client, f"/api/asks/{segment(view['id'])}/decision", body)
    if json and isinstance(reply.body, dict):
        say_json(reply.body)
        return 0 if reply.ok else 1
    match reply.status:
        case 200:
            receipt = reply.body["receipt"]
            word = str(receipt["outcome"]).replace("-", " ").capitalize()
            who = receipt["who"].get("account") or receipt["who"].get("name")
            say(f"{word}: {receipt['ask']}, recorded for {who} over {receipt['channel']} ({receipt['strength']}).")
            if receipt["stopped"]:
                say("The agent's turn is stopped.")
            return 0
        case 409 if "decision" in reply.body:
            fail("Your answer did not count", why=_winner(reply.body["decision"]))
        case 422 if "why" in reply.body:
            fail("The answer was refused and the ask stays open", why=str(reply.body["why"]))
        case _:
            raise reply.refusal()


def _sent(client: Client, path: str, body: Mapping[str, object]) -> Reply:
    """Send an answer, and once more with the same key if the reply was lost: the key makes it the same answer."""
    try:
        return client.request("POST", path, body)
    except NoServer:
        raise
    except Refused:
        return client.request("POST", path, body)


def _print_card(view: Mapping[str, Any]) -> None:
    output.show(card(view, now=_now(), width=shutil.get_terminal_size().columns))


def _now() -> int:
    return time.time_ns() // 1_000_000
