"""The page of all routes: verb, right and channel, from the declarations that the server enforces."""

from __future__ import annotations

from typing import Any

from placet.web.app import routed
from placet.web.rights import Row, table
from tools.reference import markdown
from tools.reference.markdown import code, heading

INTRODUCTION = """
The page and the commands speak to the same server. The *page* comes over loopback and signs every request with its
key; the commands come over the *socket*, where the kernel names the peer. A route needs one right, and whatever widens
counts as answering; where a right stands in brackets, it suffices for the part of the verb that only stops, rejects or
narrows. *Open* routes say nothing and change nothing that is not public. The whole description with all shapes is the
OpenAPI document, `/openapi.json`.
"""


def page() -> str:
    """Return docs/reference/routes.md."""
    app = routed()
    paths = app.openapi()["paths"]
    rows = [_row(row, paths) for row in table(app)]
    columns = ("verb", "route", "right", "channels", "what it does")
    return heading("Routes and rights", INTRODUCTION) + "\n" + markdown.table(columns, rows)


def _row(row: Row, paths: dict[str, Any]) -> tuple[str, ...]:
    right = str(row.needs.right)
    if row.needs.narrowing is not None:
        right += f" ({row.needs.narrowing})"
    described = paths.get(row.path, {}).get(row.verb.lower(), {})
    what = (described.get("description") or described.get("summary") or "").split("\n\n")[0]
    return code(row.verb), code(row.path), right, ", ".join(sorted(row.needs.channels)), what
