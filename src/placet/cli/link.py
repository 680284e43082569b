"""`placet link`: another one-time link to the page."""

from typing import Annotated

from cyclopts import Parameter

from placet.cli import process
from placet.cli.client import Client
from placet.cli.output import say, say_json


def link(*, json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> int:
    """Print another one-time link to the page of the running server; it lives two minutes."""
    made = Client(process.places()).post("/api/links", {})
    if json:
        say_json(made)
    else:
        say(f"{made['url']}")
        say(f"Or open {made['url'].split('#')[0]} and type the code {made['code']}. Both work once, for two minutes.")
    return 0
