"""A real server in this process, on a port and a socket of its own, over a real store; asks and plugins to answer."""

from __future__ import annotations

import itertools
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import httpx

from placet.agent.speech import Speech
from placet.approval import events as approvals
from placet.approval.inbox import Inbox
from placet.approval.outcome import Policy
from placet.approval.subject import CallKey, Subject, build
from placet.cordis import events as plugins
from placet.cordis.answers import Receipt
from placet.cordis.definition import Code
from placet.cordis.host import Halves
from placet.cordis.service import Cordis
from placet.cordis.vocabulary import PackageId, PluginId
from placet.kernel.bus import Bus
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.permission.knobs import Knobs
from placet.permission.preset import pinned
from placet.sandbox import Sandbox, Selection, backends
from placet.sandbox.policy import Workdir
from placet.sandbox.workspace.check import WorkspaceFacts, WorkspaceRefused, check
from placet.sandbox.workspace.quarantine import move_away
from placet.session.event import Draft, Event
from placet.session.ids import AskId, SessionId, new_ask_id, new_session_id
from placet.session.store import Appended
from placet.session.stores.sqlite import SqliteStore
from placet.testing.page_key import PLAIN, LinkedPage
from placet.tools.jobs import Jobs
from placet.web.desk import Said
from placet.web.serve import Serving, serve
from placet.web.services import Installation, ModelEntry, Services

BY = {"kind": "person", "name": "owner", "channel": "page"}
AGENT = {"kind": "agent", "name": "rehearsal"}
COUNT = itertools.count(1)


class Voices:
    """A crew that only speaks."""

    def __init__(self) -> None:
        self.speech = Speech()

    @property
    def deltas(self) -> Bus[Any]:
        return self.speech.deltas

    def partial(self, session: SessionId) -> Any:
        return self.speech.partial(session)


class Folders:
    """Folders as the sandbox judges them, without running anything in them."""

    def __init__(self, state: Path) -> None:
        self.state = state

    async def check_workspace(self, path: Path) -> WorkspaceFacts | WorkspaceRefused:
        return check(path, self.state, self.state / "config.toml")

    async def probe_write(self, session: SessionId, workspace: Workdir) -> str | None:
        return None

    def move_away(self, session: SessionId, workspace: Workdir, git_roots: Sequence[Path], path: Path) -> Path:
        return move_away(workspace, git_roots, workspace.path / path, self.state / "quarantine" / session)

    async def release(self, session: SessionId) -> None:
        pass

    def forget_session(self, session: SessionId) -> None:
        pass


class Nothing:
    """No offices and no checks: the plugins of these tests have no host half, and are defined by the log itself."""

    events: tuple[str, ...] = ()


@dataclass
class Places:
    """Where the sandbox keeps its files."""

    state: Path
    config_file: Path


@dataclass
class House:
    """A running server and the parts behind it."""

    services: Services
    serving: Serving
    store: SqliteStore
    voices: Voices
    said: list[Said] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.serving.url

    @property
    def secret(self) -> str:
        return self.serving.link.url.partition("#link=")[2]

    @asynccontextmanager
    async def page(self, secret: str | None = None) -> AsyncIterator[LinkedPage]:
        """A page that was linked with this server."""
        if secret is None:
            secret = self.serving.desk.links.issue().secret
        async with LinkedPage.link(self.url, secret) as page:
            yield page

    @asynccontextmanager
    async def stranger(self, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
        """A client that nobody linked; by default it looks like the page's own origin."""
        given = {"Sec-Fetch-Site": "same-origin"} | {name.replace("_", "-"): value for name, value in headers.items()}
        settings: dict[str, Any] = {"headers": given, "timeout": 30, "trust_env": False, "verify": PLAIN}
        async with httpx.AsyncClient(base_url=self.url, **settings) as client:
            yield client

    @asynccontextmanager
    async def terminal(self) -> AsyncIterator[httpx.AsyncClient]:
        """A client on the Unix socket, from this process."""
        transport = httpx.AsyncHTTPTransport(uds=str(self.serving.socket), verify=PLAIN)
        settings: dict[str, Any] = {"transport": transport, "timeout": 30, "trust_env": False}
        async with httpx.AsyncClient(base_url="http://localhost", **settings) as client:
            yield client

    async def session(
        self, *, preset: str = "workspace-write", policy: Policy | None = None, cwd: str = "/"
    ) -> SessionId:
        """A session with an open turn."""
        session = new_session_id()
        created = {"v": 1, "cwd": cwd, "cwdId": "1:2", "title": "A session", "gitRoots": [], "by": BY}
        drafts = [
            Draft("session/created", created, "created"),
            *pinned(preset, by=dict(BY), key=f"k{next(COUNT)}", policy=policy),
            Draft("turn/start", {"turn": 1}, "turn:1"),
        ]
        await self.append(session, *drafts)
        return session

    async def ask(
        self, session: SessionId, *, command: str = "echo hi", policy: Policy = Policy.ASK, **more: Any
    ) -> Event:
        """An open ask in the session's turn."""
        (event,) = await self.append(session, asked(session, command=command, policy=policy, **more))
        return event

    async def package(
        self,
        session: SessionId,
        plugin: str,
        *,
        host: str | None = None,
        client: str | None = "return () => {}",
        **more: str,
    ) -> str:
        """A package of a plugin, as if the agent had defined it; returns its id."""
        number = next(COUNT)
        code = Code.of(host, client)
        data = {"plugin": plugin, "package": f"pkg-{number}", "name": f"Plugin {plugin}", "purpose": "shows a number"}
        data |= {"host": code.host, "client": code.client, "digest": code.digest, "call": f"1.1.{number}"} | more
        await self.append(session, Draft(plugins.DEFINED, data, plugins.defined_key(f"1.1.{number}")))
        return f"pkg-{number}"

    async def request(self, session: SessionId, plugin: str, package: str, mode: str = "run") -> str:
        """A request for consent, as the agent makes one; returns the id of its run."""
        answer = await self.services.cordis.run(session, PluginId(plugin), PackageId(package), mode, by=AGENT)
        assert isinstance(answer, Receipt), answer
        return answer.run

    async def append(self, session: SessionId, *drafts: Draft) -> tuple[Event, ...]:
        answer = await self.store.append(session, list(drafts))
        assert isinstance(answer, Appended), answer
        return answer.events


def subject_of(session: SessionId, *, command: str = "echo hi", to_mode: str | None = "danger-full-access") -> Subject:
    """A subject that a card could show."""
    return build(
        ask=AskId(new_ask_id()),
        session=session,
        agent="rehearsal",
        call=CallKey(1, 1, next(COUNT)),
        tool="bash",
        tool_digest="0" * 64,
        arguments='{"command": "' + command + '", "justification": "it needs the home folder"}',
        cwd="/somewhere",
        cwd_id="1:2",
        from_mode="workspace-write",
        to_mode=to_mode,
    )


def asked(session: SessionId, *, command: str = "echo hi", policy: Policy = Policy.ASK, **more: Any) -> Draft:
    """Draft an ask."""
    subject = subject_of(session, command=command, **more)
    return approvals.asked(subject, call_id="c1", reason=None, policy=policy, chain=["inbox"])


def answer_to(event: Event, outcome: str = "allowed-once", *, key: str = "key-1", **more: Any) -> dict[str, Any]:
    """The body that answers an ask."""
    return {"outcome": outcome, "digest": event.data["digest"], "key": key, **more}


def path_of(event: Event) -> str:
    """The route that takes the answer."""
    return f"/api/asks/{event.data['id']}/decision"


def services_over(
    store: SqliteStore, state: Path, voices: Voices, *, clock: Clock = SYSTEM_CLOCK, **installation: Any
) -> Services:
    """Services as the composition would fill them."""
    facts: dict[str, Any] = {
        "version": "0.1.0",
        "model": "rehearsal",
        "models": (ModelEntry("rehearsal", "Rehearsal", False), ModelEntry("openai:gpt", "A model", True)),
        "default_preset": "workspace-write",
        "home": state.parent,
        "suggested_cwd": state.parent,
        "account": "tester",
        "sandbox": {"chosen": "bubblewrap", "backends": []},
    }
    sandbox = Sandbox(Places(state, state / "config.toml"), Selection(backends(state)))
    return Services(
        store=store,
        inbox=Inbox(store, clock),
        crew=voices,
        workspaces=Folders(state),
        knobs=Knobs(store),
        jobs=Jobs(sandbox, store),
        cordis=Cordis(store, Halves(sandbox, store, Nothing()), Nothing(), clock),  # type: ignore[arg-type]
        installation=Installation(**(facts | installation)),
        state=state,
        clock=clock,
        objection=lambda client, server, state: None,  # this process holds both ends; test_loopback has the real one
        static=state / "no-page",
    )


def state_in(folder: Path) -> Path:
    """A state directory."""
    state = folder / "state"
    state.mkdir(mode=0o700, exist_ok=True)
    return state


@asynccontextmanager
async def running(
    folder: Path,
    *,
    port: int = 0,
    clock: Clock = SYSTEM_CLOCK,
    changes: dict[str, Any] | None = None,
    **installation: Any,
) -> AsyncIterator[House]:
    """A server over a store below the folder; leaving stops it."""
    state, voices, said = state_in(folder), Voices(), list[Said]()
    async with await SqliteStore.open(state / "placet.db", clock=clock) as store:
        services = replace(services_over(store, state, voices, clock=clock, **installation), **(changes or {}))
        up, stop, found = anyio.Event(), anyio.Event(), list[Serving]()

        def started(serving: Serving) -> None:
            found.append(serving)
            up.set()

        async def run() -> None:
            await serve(services, port=port, started=started, say=said.append, stop=stop, signals=False)

        async with services.cordis.serving(), anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await up.wait()
            yield House(services, found[0], store, voices, said)
            stop.set()


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
