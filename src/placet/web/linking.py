"""From a one-time link to a linked page, and what the terminal says about it."""

from __future__ import annotations

from placet.session.codec import escape
from placet.session.ids import HOUSE
from placet.session.store import Refused

from .desk import Desk, Said
from .errors import Forbidden, Unacceptable
from .security.caller import Caller
from .security.keyring import linked
from .security.links import Link, Tried
from .security.signature import POINT, from_b64url, key_id, public_key
from .wire import LinkRequest, NewLink


def new_link(desk: Desk) -> NewLink:
    """Make a one-time link; its secret stands in the fragment, which browsers do not send."""
    made = desk.links.issue()
    return NewLink(url=address(desk, made), code=made.code, expires_at=made.expires_at)


def address(desk: Desk, link: Link) -> str:
    """Return the address that signs a browser in."""
    return f"http://127.0.0.1:{desk.port}/#link={link.secret}"


async def redeem(desk: Desk, caller: Caller, request: LinkRequest) -> str:
    """Register the page's key against the link and return the key's id; the terminal is told either way.

    Raises Forbidden for a link that is spent or unknown. A registration that the log does not take spends nothing.
    """
    point = from_b64url(request.public_key, length=POINT)
    if point is None or public_key(point) is None:
        raise Unacceptable("publicKey is no point of P-256 in base64url", code="bad-key")
    key, label = key_id(point), escape(request.label.strip())
    desk.check_sender(caller, "link a browser")
    tried = desk.links.redeem(secret=request.secret, code=request.code, key=key)
    if tried is not Tried.GOOD:
        desk.say(Said(str(tried), _REFUSALS[tried][0]))
        raise Forbidden(_REFUSALS[tried][1], code=str(tried), hint="Run `placet link` in a terminal for another one.")
    await _register(desk, key, request.public_key, label)
    desk.say(Said("link-redeemed", f"Signed in: {label or 'a browser without a name'}, key {key[:8]}."))
    return key


async def _register(desk: Desk, key: str, point: str, label: str) -> None:
    account = desk.services.installation.account or "unknown"
    try:
        answer = await desk.services.store.append(
            HOUSE, [linked(key, point, label, account)], absent=[f"page-revoked:{key}"]
        )
    except BaseException:
        desk.links.give_back(key=key)
        raise
    if isinstance(answer, Refused) and answer.why != "duplicate":
        raise Forbidden("this key was signed out before; make a new one", code="key-revoked")
    await desk.summaries.catch_up()


_REFUSALS = {
    Tried.SPENT: (
        "Refused: somebody tried a link that was used already. If the first sign-in was not you, stop placet.",
        "this link was used already",
    ),
    Tried.UNKNOWN: ("Refused: somebody tried a link that is unknown or too old.", "this link is unknown or too old"),
}
