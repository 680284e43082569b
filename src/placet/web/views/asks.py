"""Asks as a card shows them: the inbox's view, with the name of the session beside it."""

from __future__ import annotations

from placet.approval.view import AskView as View
from placet.session.ids import AskId, SessionId
from placet.web.desk import Desk
from placet.web.errors import NotFound, Unacceptable
from placet.web.views import damage
from placet.web.wire import AskView
from placet.web.wire_session import Asks

PAGE = 50


def ask_view(desk: Desk, view: View) -> AskView:
    """Return the card's facts."""
    told = view.json()
    told["position"] = told["position"] or None
    return AskView.model_validate({**told, "sessionName": desk.summaries.name(view.session, view.subject["cwd"])})


async def open_page(desk: Desk, cursor: str | None) -> Asks:
    """Return open asks of all sessions, oldest first, after the cursor of an earlier page."""
    await desk.summaries.catch_up()
    page = await desk.services.inbox.open(after=position_of(cursor), limit=PAGE)
    asks = [ask_view(desk, view) for view in page.asks]
    after = None if page.next is None else str(page.next)
    return Asks(asks=asks, total=page.total, next=after, notices=await damage.notices(desk.services.store))


async def of_session(desk: Desk, session: SessionId) -> list[AskView]:
    """Return all open asks of one session, oldest first, with their places among all."""
    page = await desk.services.inbox.open(limit=10_000)
    return [ask_view(desk, view) for view in page.asks if view.session == session]


async def one(desk: Desk, ask: AskId) -> AskView:
    """Return one ask, open or decided; raises NotFound."""
    view = await desk.services.inbox.get(ask)
    if view is None:
        raise NotFound("there is no such ask", code="unknown-ask")
    await desk.summaries.line(view.session)
    return ask_view(desk, view)


def position_of(cursor: str | None) -> int | None:
    """Return the place that the cursor of a page stands for. Raises Unacceptable."""
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= 18):
        raise Unacceptable("this is no cursor of a page", code="bad-cursor")
    return int(cursor)
