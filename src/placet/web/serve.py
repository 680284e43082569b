"""Runs the app on a loopback port and on the Unix socket, until a signal; what happens is told, never printed."""

from __future__ import annotations

import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import anyio
import uvicorn
from anyio.abc import TaskGroup
from uvicorn.protocols.http.h11_impl import H11Protocol

from placet.kernel.scope import Scope
from placet.web import linkfile
from placet.web.app import PlacetApp, create_app
from placet.web.desk import Desk, Said
from placet.web.gestures.linking import new_link
from placet.web.listening.ports import Port, take_port
from placet.web.listening.socket import Ear, PeerProtocol, listen
from placet.web.security.links import LIFE_MS
from placet.web.services import Services
from placet.web.wire_link import NewLink

PATIENCE = 2  # seconds that open requests get at the end; streams end by themselves


@dataclass(frozen=True, slots=True)
class Serving:
    """What a terminal says once the server is there."""

    url: str
    port: Port
    link: NewLink
    link_file: Path
    socket: Path
    no_page: str | None  # how to build the page, if it is not built
    desk: Desk


async def serve(
    services: Services,
    *,
    port: int,
    started: Callable[[Serving], None] = lambda serving: None,
    say: Callable[[Said], None] = lambda said: None,
    stop: anyio.Event | None = None,
    signals: bool = True,
) -> None:
    """Serve until SIGINT, SIGTERM, SIGHUP or `stop`; returns within a few seconds then, and settles nothing.

    A second signal does not wait for anything. Raises PortTaken, AlreadyServing, PlantedKey, PageDamaged before
    anything is served.
    """
    app = create_app(services, say=say)
    desk: Desk = app.state.desk
    with _listening(services.state, port) as (tcp, ear):
        desk.port = tcp.number
        async with desk.open(), _running(_servers(app, tcp, ear)), anyio.create_task_group() as tasks:
            with _signals() if signals else nullcontext() as told:
                started(_serving(desk, tcp, ear, tasks))
                await _until_told(stop, told)
            tasks.cancel_scope.cancel()
            desk.close()


class _Server(uvicorn.Server):
    """A server on a socket of ours, which leaves the signals to `serve`."""

    def __init__(self, app: PlacetApp, protocol: type[H11Protocol], sock: socket.socket) -> None:
        super().__init__(_config(app, protocol))
        self.sock = sock
        self.up = anyio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self.up.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture nothing."""
        yield


def _servers(app: PlacetApp, tcp: Port, ear: Ear) -> list[_Server]:
    class Checked(PeerProtocol):
        state = ear.path.parent

    return [_Server(app, H11Protocol, tcp.sock), _Server(app, Checked, ear.sock)]


@asynccontextmanager
async def _running(servers: list[_Server]) -> AsyncIterator[None]:
    async with anyio.create_task_group() as tasks:
        for server in servers:
            tasks.start_soon(server.serve, [server.sock])
        for server in servers:
            await server.up.wait()
        try:
            yield
        finally:
            for server in servers:
                server.should_exit = True


def _config(app: PlacetApp, protocol: type[H11Protocol]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,  # a log of requests would hold what people read and write
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=PATIENCE,
    )


@contextmanager
def _listening(state: Path, wanted: int) -> Iterator[tuple[Port, Ear]]:
    held = Scope("listening")
    try:
        ear = listen(state)
        held.add("socket file", ear.remove)
        held.add("socket", ear.sock.close)
        tcp = take_port(wanted)
        held.add("port", tcp.sock.close)
        linkfile.remove_leftovers(state)
        yield tcp, ear
    finally:
        held.close()


def _serving(desk: Desk, tcp: Port, ear: Ear, tasks: TaskGroup) -> Serving:
    path = linkfile.place(desk.services.state)
    used = anyio.Event()
    link = new_link(desk, used.set)
    linkfile.write(path, link.url)
    tasks.start_soon(_remove_when_used, path, used)
    url = f"http://127.0.0.1:{tcp.number}/"
    return Serving(url, tcp, link, path, ear.path, desk.page.missing, desk)


async def _remove_when_used(path: Path, used: anyio.Event) -> None:
    try:
        with anyio.move_on_after(LIFE_MS / 1000):
            await used.wait()
    finally:
        linkfile.remove(path)


async def _until_told(stop: anyio.Event | None, signals: AsyncIterator[signal.Signals] | None) -> None:
    async with anyio.create_task_group() as waiting:
        if stop is not None:
            waiting.start_soon(_then_cancel, stop.wait, waiting.cancel_scope)
        if signals is not None:
            waiting.start_soon(_then_cancel, signals.__anext__, waiting.cancel_scope)
        await anyio.sleep_forever()


async def _then_cancel(wait: Callable[[], Awaitable[object]], scope: anyio.CancelScope) -> None:
    await wait()
    scope.cancel()


def _signals() -> AbstractContextManager[AsyncIterator[signal.Signals]]:
    """Catch the signals that end a server, from here on."""
    wanted = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup(1) means to outlive its terminal
        wanted.append(signal.SIGHUP)
    return anyio.open_signal_receiver(*wanted)
