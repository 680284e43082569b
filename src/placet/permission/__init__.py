"""Where the two knobs meet: presets, and the widening of the sandbox for one call."""

from placet.permission.errors import PermissionRefused, UnknownMode, UnknownPreset
from placet.permission.escalation import (
    MAX_REJECTIONS,
    REJECTIONS,
    TARGETS,
    WIDER_MODES,
    Rejections,
    Verdict,
    judge,
    wider,
)
from placet.permission.knobs import Change, Knobs, plan_knobs, plan_preset
from placet.permission.likeness import likeness
from placet.permission.preset import (
    CUSTOM,
    DEFAULT,
    PERMISSIONS,
    PRESETS,
    PermissionFold,
    Permissions,
    Preset,
    describe,
    missing_facts,
    mode_named,
    mode_switched,
    pinned,
    preset_named,
)

__all__ = [
    "CUSTOM",
    "DEFAULT",
    "MAX_REJECTIONS",
    "PERMISSIONS",
    "PRESETS",
    "REJECTIONS",
    "TARGETS",
    "WIDER_MODES",
    "Change",
    "Knobs",
    "PermissionFold",
    "PermissionRefused",
    "Permissions",
    "Preset",
    "Rejections",
    "UnknownMode",
    "UnknownPreset",
    "Verdict",
    "describe",
    "judge",
    "likeness",
    "missing_facts",
    "mode_named",
    "mode_switched",
    "pinned",
    "plan_knobs",
    "plan_preset",
    "preset_named",
    "wider",
]
