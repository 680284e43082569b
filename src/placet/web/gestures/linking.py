"""From a one-time link to a linked page, and what the terminal says about it."""

from __future__ import annotations

from collections.abc import Callable

from anyio import to_thread

from placet.session.codec import escape
from placet.session.ids import HOUSE
from placet.web.desk import Desk, Said
from placet.web.errors import Forbidden, Unacceptable
from placet.web.gestures.senders import admit
from placet.web.security.caller import Caller
from placet.web.security.keyring import linked
from placet.web.security.links import Tried
from placet.web.security.loopback import holder_of
from placet.web.security.signature import POINT, from_b64url, key_id, public_key
from placet.web.wire_link import LinkRequest, NewLink


def new_link(desk: Desk, spent: Callable[[], None] = lambda: None) -> NewLink:
    """Make a one-time link; its secret stands in the fragment, which browsers do not send."""
    made = desk.links.issue(spent)
    url = f"http://127.0.0.1:{desk.port}/#link={made.secret}"
    return NewLink(url=url, code=made.code, expires_at=made.expires_at)


async def redeem(desk: Desk, caller: Caller, request: LinkRequest) -> str:
    """Register the page's key against the link and return the key's id; the terminal is told either way.

    Raises Forbidden for a link that is spent or unknown. A registration that the log does not take spends nothing.
    """
    point = from_b64url(request.public_key, length=POINT)
    if point is None or public_key(point) is None:
        raise Unacceptable("publicKey is no point of P-256 in base64url", code="bad-key")
    key, label = key_id(point), escape(request.label.strip())
    await admit(desk, caller, "link a browser")
    tried = desk.links.redeem(secret=request.secret, code=request.code, key=key)
    if tried is not Tried.GOOD:
        desk.say(Said(str(tried), _REFUSALS[tried][0]))
        raise Forbidden(_REFUSALS[tried][1], code=str(tried), hint="Run `placet link` in a terminal for another one.")
    await _register(desk, key, request.public_key, label)
    who = await _holder(caller)
    desk.say(Said("link-redeemed", f"Signed in: {label or 'a browser without a name'}{who}, key {key[:8]}."))
    return key


async def _holder(caller: Caller) -> str:
    process = await to_thread.run_sync(holder_of, *caller.addresses) if caller.addresses else None
    return "" if process is None else f" ({escape(process.name)}, process {process.pid})"


async def _register(desk: Desk, key: str, point: str, label: str) -> None:
    account = desk.services.installation.account or "unknown"
    try:
        await desk.services.store.append(HOUSE, [linked(key, point, label, account)])
    except BaseException:
        desk.links.give_back(key=key)
        raise
    await desk.summaries.catch_up()
    if desk.keyring.get(key) is None:
        raise Forbidden("this key was signed out before; make a new one", code="key-revoked")


_REFUSALS = {
    Tried.SPENT: (
        "Refused: somebody tried a link that was used already. If the first sign-in was not you, stop placet.",
        "this link was used already",
    ),
    Tried.UNKNOWN: ("Refused: somebody tried a link that is unknown or too old.", "this link is unknown or too old"),
}
