"""The one place that knows every room: puts the parts together, in order, and takes them apart in reverse."""

import functools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import anyio
from anyio import to_thread

from placet.agent.context import INSTRUCTIONS, standard_context
from placet.agent.crew import Crew
from placet.agent.errors import BadScript, UnknownModel
from placet.agent.kit import Kit
from placet.agent.model.catalogue import default_model, model_named
from placet.agent.model.port import Model
from placet.app.config import Config
from placet.app.confinement import sandbox_of
from placet.app.errors import Refused
from placet.app.processes import registered
from placet.app.storage import open_store
from placet.approval.dispatcher import Dispatcher
from placet.approval.inbox import Inbox
from placet.approval.policy import PolicyFold
from placet.approval.responder import Responders
from placet.cordis.checking.service import Checking
from placet.cordis.host import Halves, host_halves
from placet.cordis.service import Cordis
from placet.cordis.tools import SECTION, References, cordis_tools
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.sandbox.mode import ModeFold
from placet.sandbox.service import Sandbox
from placet.session.store import Store
from placet.tools.appearances import Appearances
from placet.tools.bash import BashTool
from placet.tools.files import file_tools
from placet.tools.jobs import Jobs, job_tools
from placet.tools.pipeline import Pipeline
from placet.tools.registry import Registry
from placet.tools.stages.hooks import Stages
from placet.tools.turns import Turns

PERSON = "owner"
"""The name of the person until people are added; the terminal adds the account."""

Kind = Literal["web", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placet:
    """One running placet: every part, put together."""

    config: Config
    clock: Clock
    holder: str
    store: Store
    inbox: Inbox
    responders: Responders
    sandbox: Sandbox
    jobs: Jobs
    halves: Halves
    cordis: Cordis
    tools: Registry
    kit: Kit
    crew: Crew
    channel: str

    @property
    def default_model(self) -> str:
        """The model of sessions that name none."""
        return self.kit.default_model

    @property
    def by(self) -> Mapping[str, Any]:
        """The `by` of what the person does through this process itself."""
        return {"kind": "person", "name": PERSON, "channel": self.channel}


@asynccontextmanager
async def open_placet(config: Config, *, kind: Kind, clock: Clock = SYSTEM_CLOCK) -> AsyncIterator[Placet]:
    """Put placet together: `web` waits for people, `run` has nobody to ask, so that its asks end `unavailable`.

    Raises `Refused` with one line for a state directory, store or model that cannot be used. Leaving ends the jobs
    of this process, and settles no ask.
    """
    places = config.places
    places.prepare()
    models = _models(config)
    name = config.settings.model.name or default_model(config.environ)
    try:
        models(name)
    except (UnknownModel, BadScript) as error:
        raise Refused(str(error), code=2) from error
    store = await open_store(places, clock=clock)
    try:
        with registered(places.processes, kind) as holder:
            placet = _assembled(config, kind, clock, holder, store, models, name)
            await to_thread.run_sync(_first_look, placet.sandbox)
            try:
                async with placet.jobs.serving(), placet.halves.serving(), placet.cordis.serving():
                    yield placet
            finally:
                with anyio.CancelScope(shield=True):
                    await placet.sandbox.aclose()
    finally:
        with anyio.CancelScope(shield=True):
            await store.aclose()


def _assembled(
    config: Config, kind: Kind, clock: Clock, holder: str, store: Store, models: "_Models", default: str
) -> Placet:
    asks = config.settings.asks
    policy, mode = PolicyFold(), ModeFold()
    sandbox = sandbox_of(config, clock)
    inbox = Inbox(store, clock, deadline=asks.deadline_seconds)
    responders = Responders(asks.responders)
    if kind == "web":
        responders.register(inbox.responder())
    dispatcher = Dispatcher(store, responders, clock, policy=policy, max_open=asks.open_limit)
    jobs = Jobs(sandbox, store, clock, modes=mode)
    tools = _tools(sandbox, jobs if config.settings.sandbox.background_jobs else None)
    pipeline, turns = Pipeline(tools, dispatcher, clock, modes=mode, stages=_stages(sandbox)), Turns()
    halves = host_halves(sandbox, store, pipeline, turns, clock, modes=mode, policies=policy)
    cordis = Cordis(
        store, halves, Checking(sandbox), clock, modes=mode, policies=policy, deadline=asks.deadline_seconds
    )
    for tool in cordis_tools(cordis, tools):
        tools.register(tool)
    kit = Kit(
        store=store,
        dispatcher=dispatcher,
        pipeline=pipeline,
        tools=tools,
        turns=turns,
        instructions=f"{INSTRUCTIONS}\n\n{SECTION}",
        references=References(cordis.plugins),
        context=standard_context(policy, mode),
        models=models,
        default_model=default,
        clock=clock,
    )
    return Placet(
        config=config, clock=clock, holder=holder, store=store, inbox=inbox, responders=responders,
        sandbox=sandbox, jobs=jobs, halves=halves, cordis=cordis, tools=tools, kit=kit, crew=Crew(kit), channel=kind,
    )  # fmt: skip


def _tools(sandbox: Sandbox, jobs: Jobs | None) -> Registry:
    """What the agent can call; without jobs nothing runs in the background."""

    def confines() -> bool:
        return sandbox.selection.choose() is not None

    bash = BashTool(sandbox, confines=confines, jobs=jobs)
    own = job_tools(jobs) if jobs is not None else ()
    return Registry([bash, *file_tools(sandbox, confines=confines), *own])


def _stages(sandbox: Sandbox) -> Stages:
    """The stages around every call."""
    stages = Stages()
    stages.on_around(Appearances(sandbox.watches))
    return stages


def _first_look(sandbox: Sandbox) -> None:
    """Clean up behind a killed server, and try the sandbox once, so that nothing waits for its trial later."""
    sandbox.sweep()
    sandbox.selection.choose()


class _Models:
    """Models by name, each made once; the address comes from the configuration, keys from the environment alone."""

    def __init__(self, config: Config) -> None:
        make = functools.partial(model_named, environment=config.environ, address=config.settings.model.base_url)
        self._named = functools.lru_cache(maxsize=64)(make)

    def __call__(self, name: str) -> Model:
        return self._named(name)


def _models(config: Config) -> _Models:
    return _Models(config)
