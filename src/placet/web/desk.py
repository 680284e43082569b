"""Everything that one running server keeps for its screens: who is linked, what is open, who waits for news."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

import anyio
from fastapi import Depends, Request

from placet.session.ids import AskId

from .page import Page
from .security.caller import Caller
from .security.callers import Callers
from .security.keyring import Keyring
from .security.links import Links
from .security.serverkey import ServerKey, open_server_key
from .services import Services
from .views.pulse import Pulse
from .views.summaries import Summaries
from .wire import Answer

logger = logging.getLogger(__name__)

READ_AGAIN = 5.0  # seconds after which the log is read even if no bell rang: a bell is only a hint


@dataclass(frozen=True, slots=True)
class Said:
    """A line for the terminal where the server runs."""

    code: str
    text: str


class Desk:
    """One server's memory of its screens; all of it can be thrown away, the log has what counts."""

    def __init__(self, services: Services, *, say: Callable[[Said], None] = lambda said: None) -> None:
        facts = services.installation
        self.services = services
        self.instance = secrets.token_hex(16)
        self.keyring = Keyring()
        self.links = Links(services.clock)
        self.callers = Callers(self.keyring, instance=self.instance, person=facts.person, account=facts.account)
        self.summaries = Summaries(services, self.keyring)
        self.pulse = Pulse()
        self.closing = anyio.Event()
        self.page = Page.load(services.static)
        self.port: int | None = None
        self.say = say
        self._server_key: ServerKey | None = None

    @property
    def server_key(self) -> ServerKey:
        """The key of this server; there once it runs."""
        assert self._server_key is not None, "the desk is not open"
        return self._server_key

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Load what the log says, follow it, and let go of everybody who waits when the block ends."""
        self._server_key = await open_server_key(self.services.state, self.services.store)
        async with anyio.create_task_group() as tasks, self.services.store.doorbell() as bell:
            await self.summaries.load()
            tasks.start_soon(self._follow, bell)
            try:
                yield
            finally:
                self.close()
                tasks.cancel_scope.cancel()

    def check_sender(self, caller: Caller, what: str) -> None:
        """Refuse a loopback sender whose end of the connection is held by the agent's side."""

    async def check_answer(self, caller: Caller, ask: AskId, answer: Answer) -> None:
        """Refuse, log and tell an answer that came from the agent's side."""

    async def strength(self, caller: Caller) -> str:
        """Return what the evidence for this sender is worth now."""
        return caller.strength

    def close(self) -> None:
        """Let the open streams end; settles nothing."""
        self.closing.set()
        self.pulse.beat()

    async def _follow(self, bell: object) -> None:
        while True:
            try:
                await self.summaries.catch_up()
            except Exception as error:  # a store that fails now may answer later; the screens say so meanwhile
                logger.warning("the log could not be read for the screens: %s", error)
            self.pulse.beat()
            await bell.wait(READ_AGAIN)  # type: ignore[attr-defined]


def desk_of(request: Request) -> Desk:
    """Return the desk of the app that the request reached."""
    desk = request.app.state.desk
    assert isinstance(desk, Desk)
    return desk


DeskDep = Annotated[Desk, Depends(desk_of)]
