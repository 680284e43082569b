"""The permission of a session as a selector shows it: the table in order, `custom` only while it is current (M19)."""

from __future__ import annotations

from placet.permission.preset import PRESETS, Permissions
from placet.web.wire import Option
from placet.web.wire import Permissions as View


def permissions(state: Permissions) -> View:
    """Return the options and the current value."""
    return View.model_validate(state.json())


def options() -> list[Option]:
    """Return the presets that a person can pick."""
    return [Option.model_validate(preset.json()) for preset in PRESETS]
