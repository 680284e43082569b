"""The page of all event types, from the table that the log itself uses."""

from __future__ import annotations

from placet.session.catalogue import CATALOGUE, EventType
from tools.reference.markdown import code, heading, table

INTRODUCTION = """
Everything that happened in a session is one event in its log. An event has a number in its session (`seq`, from 0
without gaps), a time in milliseconds, a type, data, and a key that is unique in its session: an event that must not
happen twice cannot. A field with `?` may be absent; `| null` may be null. In a key, `{name}` stands for that field, `*`
for a key of the sender's own. `by` and `who` are objects with `kind` and `name`, `tagged` one with `kind`; a `call` has
`turn`, `step` and `position`, a `message` has `id`, `text` and `source`. A record that holds something else is not
handed out: its session is told to be damaged, and the others go on. *Seen by the model* marks the only types that
reach it.
"""


def page() -> str:
    """Return docs/reference/events.md."""
    rows = [_row(row) for row in CATALOGUE.values()]
    return heading("Events", INTRODUCTION) + "\n" + table(("type", "meaning", "data", "key", "seen by the model"), rows)


def _row(row: EventType) -> tuple[str, ...]:
    fields = ", ".join(code(field) for field in row.fields)
    keys = " or ".join(code(pattern) for pattern in row.key.split(" | "))
    return code(row.name), row.meaning, fields, keys, "yes" if row.model_visible else ""
