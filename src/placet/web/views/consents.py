"""Requests for consent: as rows, which open a card, and as whole cards, which can be answered."""

from __future__ import annotations

from typing import Any

from placet.cordis.answers import Decision
from placet.cordis.consent import ConsentRow as Row
from placet.cordis.consent import ConsentView as View
from placet.cordis.vocabulary import RunId
from placet.web.desk import Desk
from placet.web.errors import NotFound
from placet.web.views import damage
from placet.web.views.asks import position_of
from placet.web.wire import Signer
from placet.web.wire_plugin import ConsentDecision, ConsentRow, Consents, ConsentView, EarlierCode, Wants

PAGE = 50


async def open_page(desk: Desk, cursor: str | None) -> Consents:
    """Return open requests of all sessions, oldest first, after the cursor of an earlier page, without their code."""
    await desk.summaries.catch_up()
    page = await desk.services.cordis.requests(after=position_of(cursor), limit=PAGE)
    damaged = await desk.services.store.damaged()
    return Consents(
        consents=[ConsentRow(**_row(desk, row)) for row in page.rows if row.plugin.session not in damaged],
        total=page.total,
        next=None if page.next is None else str(page.next),
        notices=await damage.notices(desk.services.store),
    )


async def one(desk: Desk, run: str) -> ConsentView:
    """Return the whole card of a request, open or decided. Raises NotFound."""
    view = await find(desk, run)
    code, before = view.code, view.before
    return ConsentView(
        **_row(desk, view.row),
        intact=code is not None,
        host=None if code is None else code.host,
        client=None if code is None else code.client,
        wants=Wants(
            services=list(view.wants.services),
            host=list(view.wants.host),
            client=list(view.wants.client),
            seats=list(view.wants.seats),
        ),
        consented_before=None
        if before is None
        else EarlierCode(package=before[0], host=before[1].host, client=before[1].client),
        decision=None if view.decision is None else decision_view(view.decision),
    )


async def find(desk: Desk, run: str) -> View:
    """Return a request, open or decided. Raises NotFound, and StoreDamaged if the log of its session is."""
    found = await desk.services.cordis.request(RunId(run))
    if found is None:
        raise NotFound("there is no such request", code="unknown-request")
    await desk.summaries.line(found.row.plugin.session)
    return found


def decision_view(decision: Decision) -> ConsentDecision:
    """Return how a request was settled; nobody signed one that was cancelled."""
    signed = decision.outcome != "cancelled"
    who = None if decision.who is None else dict(decision.who)
    return ConsentDecision(
        outcome=decision.outcome,
        width=None if decision.width is None else decision.width.value,
        detail=decision.detail,
        who=Signer.model_validate(who) if signed and who is not None else None,
        channel=decision.channel,
        evidence=decision.evidence,
        strength=decision.strength,
        time=decision.time,
        digest=decision.digest,
        feedback=decision.feedback,
        by=None if signed else who,
    )


def _row(desk: Desk, row: Row) -> dict[str, Any]:
    plugin, attempt, package = row.plugin, row.attempt, row.package
    return {
        "run": attempt.run,
        "plugin": plugin.id,
        "package": package.id,
        "mode": attempt.mode.value,
        "session": plugin.session,
        "session_name": desk.summaries.name(plugin.session, ""),
        "name": package.name,
        "purpose": package.purpose,
        "model": desk.summaries.model(plugin.session),
        "has_host_half": package.has_host,
        "has_client_half": package.has_client,
        "digest": attempt.digest,
        "requested_at": attempt.requested_at,
        "state": "decided" if row.position is None else "open",
        "position": row.position,
        "total": row.total,
    }
