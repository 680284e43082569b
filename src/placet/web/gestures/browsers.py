"""The browsers that are signed in, and signing one out: its key counts no more, and what it has open ends."""

from __future__ import annotations

from placet.session.ids import HOUSE
from placet.web.desk import Desk, Said
from placet.web.errors import NotFound
from placet.web.security.caller import Caller
from placet.web.security.keyring import linked_key, revoked
from placet.web.wire_link import Browsers, LinkedBrowser


async def listed(desk: Desk, caller: Caller) -> Browsers:
    """Return the browsers whose key counts, the one that was signed in last first."""
    await desk.summaries.catch_up()
    return Browsers(
        pages=[
            LinkedBrowser(
                key_id=page.id,
                label=page.label,
                account=page.account,
                linked_at=page.linked_at,
                current=page.id == caller.key_id,
            )
            for page in desk.keyring.all()
        ]
    )


async def sign_out(desk: Desk, caller: Caller, key: str) -> None:
    """End a browser's key for good; doing it again changes nothing. Raises NotFound for one that was never linked."""
    store = desk.services.store
    linked = await store.lookup(HOUSE, linked_key(key))
    if linked is None:
        raise NotFound("no browser was signed in with this key", code="unknown-page")
    await store.append(HOUSE, [revoked(key, caller.by)])
    await desk.summaries.catch_up()
    desk.news.notify(None)  # a stream of that browser ends now
    name = linked.data["label"] or "a browser without a name"
    desk.say(Said("browser-signed-out", f"Signed out: {name}, key {key[:8]}."))
