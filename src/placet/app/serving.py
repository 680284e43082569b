"""What the page and its API are given: the parts of a running placet, and the facts that screens show."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from anyio import to_thread

from placet import __version__
from placet.agent.model.catalogue import offers
from placet.app.composition import PERSON, Placet
from placet.app.program import program
from placet.app.storage import dropped_from
from placet.permission.knobs import Knobs
from placet.sandbox.workspace.check import WorkspaceFacts, check
from placet.web.services import Installation, ModelEntry, Services

Notice = tuple[Literal["info", "warn", "error"], str, str]


async def services_of(placet: Placet) -> Services:
    """The services of the web room over a running placet; tries the sandbox, so that screens can say what holds."""
    report = await to_thread.run_sync(placet.sandbox.selection.report)
    return Services(
        store=placet.store,
        inbox=placet.inbox,
        crew=placet.crew,
        workspaces=placet.sandbox,
        knobs=Knobs(placet.store),
        jobs=placet.jobs,
        cordis=placet.cordis,
        installation=await to_thread.run_sync(_installation, placet, report),
        state=placet.config.places.state,
        clock=placet.clock,
    )


def _installation(placet: Placet, report: Mapping[str, Any]) -> Installation:
    config = placet.config
    models = [ModelEntry(offer.name, offer.label, offer.real) for offer in offers(config.environ)]
    default = placet.kit.models(placet.default_model)
    if default.name not in [entry.name for entry in models]:
        models.insert(0, ModelEntry(default.name, default.name, default.real))
    return Installation(
        version=__version__,
        model=placet.default_model,
        models=models,
        default_preset=config.settings.default_preset,
        home=Path(config.environ.get("HOME", "/")),
        suggested_cwd=_suggested(placet),
        person=PERSON,
        account=config.account,
        sandbox=report,
        notices=notices(
            report,
            model=default.name,
            real=default.real,
            dropped=dropped_from(placet.store),
            mends=placet.sandbox.selection.advice(),
        ),
        weak_socket_answers=config.settings.asks.weak_socket_answers,
    )


def notices(
    report: Mapping[str, Any], *, model: str, real: bool, dropped: str | None = None, mends: str | None = None
) -> list[Notice]:
    """What every screen says about this installation, because a person would otherwise believe more than is so.

    `mends` is what would give it a better sandbox.
    """
    found: list[Notice] = []
    if not real:
        said = "follows rules" if model == "rehearsal" else "speaks from a file"
        text = f"{model} answers: it is not a real model, it {said} so that you can try placet offline."
        found.append(("info", "rehearsal", text))
    chosen = next((backend for backend in report["backends"] if backend["name"] == report["chosen"]), None)
    if chosen is None:
        helps = f"{program(anywhere=True)} doctor"
        text = f"No sandbox works on this machine: commands are refused. See what helps with: {helps}"
        found.append(("error", "no-sandbox", text))
    elif chosen["enforcement"] != "full":
        found.append(("warn", "partial-sandbox", _partly(chosen, mends)))
    if dropped is not None:
        text = f"When placet started, {dropped}. Nothing that was said to be recorded is lost."
        found.append(("warn", "dropped-tail", text))
    return found


def _partly(chosen: Mapping[str, Any], mends: str | None) -> str:
    """That the sandbox leaves gaps, and the least that a person can do about it."""
    said = f"The sandbox here ({chosen['name']}) does not hold everything."
    return said if mends is None else f"{said} To mend that: {mends}, then start placet again."


def _suggested(placet: Placet) -> Path:
    """Where a first session may work: the folder one stands in, if it may be a workspace, else one of its own.

    The latter need not be there: it is made when somebody starts a session in it.
    """
    places = placet.config.places
    with suppress(OSError):
        here = check(Path(os.getcwd()), places.state, places.config_file)
        if isinstance(here, WorkspaceFacts) and not here.read_only:
            return here.workdir.path
    return Path(placet.config.environ.get("HOME", "/")) / "placet-work"
