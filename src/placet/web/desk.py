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

from placet.kernel.bus import Bus
from placet.session.errors import StoreDamaged
from placet.session.store import Bell
from placet.web.gestures.tries import Tries
from placet.web.page import Page
from placet.web.security.callers import Callers
from placet.web.security.keyring import Keyring
from placet.web.security.links import Links
from placet.web.security.serverkey import ServerKey, open_server_key
from placet.web.services import Services
from placet.web.views import damage
from placet.web.views.full_access import FullAccess
from placet.web.views.summaries import Summaries

logger = logging.getLogger(__name__)

LINES = 10  # for the terminal, of one kind and in one minute
WRONG_ANSWERS = 20  # to one ask from one sender in one minute; what comes then does not reach the log
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
        self.callers = Callers(self.keyring, instance=self.instance, installation=facts)
        self.summaries = Summaries(services, self.keyring)
        self.full_access = FullAccess(services.store)
        self.page = Page.load(services.static)
        self.news: Bus[None] = Bus("news of the log")
        self.closing = anyio.Event()
        self.streams = 0
        self.creating = anyio.Lock()
        self.port: int | None = None
        self._say = say
        self._lines = Tries(services.clock, LINES)
        self.wrong_answers = Tries(services.clock, WRONG_ANSWERS)
        self._server_key: ServerKey | None = None
        self._told: set[str] = set()

    @property
    def server_key(self) -> ServerKey:
        """The key of this server; there once it runs."""
        assert self._server_key is not None, "the desk is not open"
        return self._server_key

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Load what the log says, follow it, and let go of everybody who waits when the block ends.

        Raises PlantedKey for a server key that is not placet's own, StoreDamaged where not only single sessions are.
        """
        self._server_key = await open_server_key(self.services.state, self.services.store)
        async with self.services.store.doorbell() as bell, anyio.create_task_group() as tasks:
            await self.summaries.load()
            await self._tell_damage()
            tasks.start_soon(self._follow, bell)
            try:
                yield
            finally:
                self.close()
                tasks.cancel_scope.cancel()

    def say(self, said: Said) -> None:
        """Tell the terminal; of one kind only so many lines a minute, or anybody on loopback could flood it."""
        number = self._lines.count(said.code)
        if number <= LINES:
            self._say(said)
        elif number == LINES + 1:
            self._say(Said(said.code, "More of these are not shown in this minute."))

    def close(self) -> None:
        """Let the open streams end; settles nothing."""
        self.closing.set()
        self.news.notify(None)

    async def _follow(self, bell: Bell) -> None:
        while True:
            try:
                await self.summaries.catch_up()
                await self._tell_damage()
            except StoreDamaged as error:
                self._tell_once(f"{damage.said(error)} {damage.hint(error)}")
            except Exception as error:  # a store that fails now may answer later; requests say so meanwhile
                logger.warning("the log could not be read for the screens: %s", error)
            self.news.notify(None)
            await bell.wait(READ_AGAIN)

    async def _tell_damage(self) -> None:
        for notice in await damage.notices(self.services.store):
            self._tell_once(notice.text)

    def _tell_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.say(Said("damaged-log", text))


def desk_of(request: Request) -> Desk:
    """Return the desk of the app that the request reached."""
    desk = request.app.state.desk
    assert isinstance(desk, Desk)
    return desk


DeskDep = Annotated[Desk, Depends(desk_of)]
