"""What a person is told about logs that are damaged: where, what that means, and what to do."""

from __future__ import annotations

from placet.session.errors import StoreDamaged
from placet.session.store import Store
from placet.web.wire import NoticeView

ADVICE = "See all damage with: placet log verify. Then stop placet and restore placet.db from a copy"


async def notices(store: Store) -> list[NoticeView]:
    """Return a line for each session whose log is damaged. Raises StoreDamaged where all may be."""
    damaged = await store.damaged()
    return [
        NoticeView(level="error", code="damaged-log", text=f"{said(error)} {hint(error)}")
        for _, error in sorted(damaged.items())
    ]


def said(error: StoreDamaged) -> str:
    """Return what is damaged; names no path, for not everybody who is told may know it."""
    if error.session is None:
        return "The store of placet is damaged, so that nothing of it can be shown or recorded."
    return f"The log is damaged at {error.where}: {error.why}. Nothing runs in that session; its asks are not shown."


def hint(error: StoreDamaged) -> str:
    """Return what to do about it."""
    return f"{ADVICE}, or move it away to begin anew." if error.session is None else f"{ADVICE}, or delete the session."
