"""`placet browsers`: the browsers that are signed in to the running server."""

from datetime import datetime
from typing import Annotated

from cyclopts import Parameter

from placet.app.program import program
from placet.cli import process
from placet.cli.client import Client, segment
from placet.cli.output import fail, say, say_json, show
from placet.cli.visible import visible_line

_SHORTEST = 6


def list_(*, json: Annotated[bool, Parameter(help="Print one JSON object for each browser.")] = False) -> int:
    """List the browsers whose keys can read and answer, the one that was signed in last first."""
    pages = Client(process.places()).get("/api/pages")["pages"]
    for page in pages:
        if json:
            say_json(page)
        else:
            when = datetime.fromtimestamp(page["linkedAt"] / 1000).astimezone()
            show(f"{page['keyId']}  {when:%Y-%m-%d %H:%M}  {visible_line(page['label'] or 'a browser without a name')}")
    if not pages and not json:
        say("No browser is signed in.")
    return 0


def sign_out(key: Annotated[str, Parameter(help="Its key, or at least six characters of its beginning.")], /) -> int:
    """Sign a browser out for good: its key counts no more, and what it has open stops."""
    client = Client(process.places())
    found = [page for page in client.get("/api/pages")["pages"] if page["keyId"].startswith(key)]
    if len(key) < _SHORTEST or len(found) != 1:
        fail("This names no single browser", hint=f"See their keys with: {program()} browsers list", code=2)
    client.post(f"/api/pages/{segment(found[0]['keyId'])}/revoke", {})
    say(f"Signed out: {visible_line(found[0]['label'] or 'a browser without a name')}, key {found[0]['keyId'][:8]}.")
    return 0
