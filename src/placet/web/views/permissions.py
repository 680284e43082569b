"""The preset selector of a session: the table in its order, `custom` only while it is the current one (M19)."""

from __future__ import annotations

from placet.web.wire import Option, Permissions

from .knobs import Knobs


def permissions(knobs: Knobs) -> Permissions:
    """Return the options and the current value."""
    return Permissions(options=options(), current_value=knobs.preset)


def options() -> list[Option]:
    """Return the presets that a person can pick."""
    return [Option(value=v, name=v, description=None) for v in ("read-only", "workspace-write", "danger-full-access")]
