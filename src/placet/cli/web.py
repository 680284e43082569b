"""`placet web`: the server and the page, with the workers of its sessions in the same process."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from placet.app.errors import Refused
from placet.app.program import program
from placet.cli import process
from placet.cli.client import Client
from placet.cli.output import say, tell, warn

if TYPE_CHECKING:
    from placet.app.config import Config
    from placet.web.desk import Said
    from placet.web.serve import Serving


def web(
    *,
    port: Annotated[int | None, Parameter(help="The port on loopback; 0 takes any free one.")] = None,
    no_open: Annotated[bool, Parameter(help="Do not open the browser.")] = False,
    model: Annotated[str | None, Parameter(help="rehearsal, script:FILE or VENDOR:MODEL.")] = None,
) -> int:
    """Start the server and the page, and print one link that signs a browser in.

    Ends with Ctrl-C or SIGTERM; what is open then stays open, and is there again at the next start. Where a server of
    this account runs already, this prints a link to it and starts nothing.
    """
    import anyio

    config = process.configuration({"port": port, "model.name": model})
    try:
        anyio.run(_serve, config, config.settings.open_browser and not no_open)
    except OtherRuns:
        _point_to_the_other()
    return 0


class OtherRuns(Exception):
    """A server of this account is running already, and nothing was started."""


def _point_to_the_other() -> None:
    """Print a link to the server that runs; what was wanted of a new one does not touch it."""
    made = Client(process.places()).post("/api/links", {})
    say("placet is running already; nothing was started, and its settings stay as they are.")
    say(f"Sign a browser in, within two minutes: {made['url']}")
    say(f"Where the link cannot be followed, open {made['url'].split('#')[0]} and type the code {made['code']}.")


async def _serve(config: "Config", open_browser: bool) -> None:
    import anyio

    from placet.app.composition import open_placet
    from placet.app.serving import services_of
    from placet.cli.logs import to_terminal
    from placet.kernel.groups import unwrapped
    from placet.web.errors import AlreadyServing, PageDamaged, PlantedKey, PortTaken
    from placet.web.serve import serve

    config.places.prepare()
    with to_terminal(config.places.logs):
        try:
            async with open_placet(config, kind="web") as placet:
                services = await services_of(placet)
                with unwrapped():
                    async with anyio.create_task_group() as tasks:

                        def started(serving: "Serving") -> None:
                            tasks.start_soon(placet.crew.run)  # not before: a second start must touch no session
                            _tell(serving, open_browser=open_browser)

                        await serve(services, port=config.settings.port, started=started, say=_say)
                        tasks.cancel_scope.cancel()
        except AlreadyServing as error:
            raise OtherRuns from error
        except (PortTaken, PlantedKey, PageDamaged) as error:
            raise Refused(str(error)) from error


def _tell(serving: "Serving", *, open_browser: bool) -> None:
    if serving.port.taken_by is not None:
        port = serving.port
        warn(f"Port {port.wanted} is held by {port.taken_by}; nothing was sent to it. Using {port.number}.")
    if serving.no_page is not None:
        warn(serving.no_page)
    installation = serving.desk.services.installation
    for _, code, text in installation.notices:
        tell(text)
        if code == "partial-sandbox":
            tell(f"What is not held is listed by: {program()} doctor")
    if (root := process.as_root()) is not None:
        tell(root)
    say(f"placet is running, as process {os.getpid()}.")
    say(f"Sign a browser in, within two minutes: {serving.link.url}")
    say(f"Where the link cannot be followed, open {serving.url} and type the code {serving.link.code}.")
    if open_browser and serving.no_page is None:
        from placet.cli.browser import open_page

        open_page(serving.link_file)


def _say(said: "Said") -> None:
    with suppress(OSError):  # a terminal that has gone must not take the server with it
        say(said.text)
