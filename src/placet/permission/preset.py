"""Presets: named positions of the two knobs, in one ordered table. `custom` is derived, never stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from placet.approval.events import POLICY
from placet.approval.outcome import Policy
from placet.approval.policy import policy_switched
from placet.permission.errors import UnknownMode, UnknownPreset
from placet.sandbox.mode import SandboxMode
from placet.session import keys
from placet.session.event import Draft, Event

PRESET, MODE = "permission/preset", "sandbox/mode"
CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Preset:
    """One row of the table; the description says what becomes of an action that would need approval."""

    value: str
    name: str
    description: str
    mode: SandboxMode
    policy: Policy

    def json(self) -> dict[str, Any]:
        """Return the row as a selector shows it."""
        return {"value": self.value, "name": self.name, "description": self.description}


PRESETS = (
    Preset(
        "read-only",
        "Read only",
        "Commands read your files, except hidden credentials, and write only in a private temporary folder;"
        " you are asked before one may do more.",
        SandboxMode.READ_ONLY,
        Policy.ASK,
    ),
    Preset(
        "workspace-write",
        "Workspace",
        "Commands can change files in the session's folder only; you are asked before one may do more.",
        SandboxMode.WORKSPACE_WRITE,
        Policy.ASK,
    ),
    Preset(
        "danger-full-access",
        "Full access",
        "The sandbox is off: commands can change everything that you can, and you are never asked.",
        SandboxMode.DANGER_FULL_ACCESS,
        Policy.NEVER,
    ),
)
"""The presets in the order in which they are offered."""

DEFAULT = "workspace-write"
"""The preset of a new session, unless the person configured another one."""

_MODES = {
    SandboxMode.READ_ONLY: (
        "Commands read your files, except hidden credentials, and write only in a private temporary folder"
    ),
    SandboxMode.WORKSPACE_WRITE: "Commands can change files in the session's folder only",
    SandboxMode.DANGER_FULL_ACCESS: "The sandbox is off: commands can change everything that you can",
}
_POLICIES = {
    Policy.ASK: "you are asked before one may do more.",
    Policy.NEVER: "whatever would need your approval is refused without asking.",
}


def describe(mode: SandboxMode, policy: Policy) -> str:
    """Say in one sentence what a position of the knobs means for an action that would need approval."""
    if mode is SandboxMode.DANGER_FULL_ACCESS:
        return f"{_MODES[mode]}, so that nothing is left to ask about."
    return f"{_MODES[mode]}; {_POLICIES[policy]}"


def preset_named(value: object) -> Preset:
    """Return the preset of that name, or raise `UnknownPreset` before anything is written."""
    for preset in PRESETS:
        if preset.value == value:
            return preset
    raise UnknownPreset(value, [preset.value for preset in PRESETS])


def mode_named(value: object) -> SandboxMode:
    """Return the mode of that name, or raise `UnknownMode` before anything is written."""
    try:
        return SandboxMode(str(value))
    except ValueError:
        raise UnknownMode(value, list(SandboxMode)) from None


@dataclass(frozen=True, slots=True)
class Permissions:
    """Where the knobs of a session stand, and which preset was recorded last."""

    recorded: str | None
    mode: SandboxMode
    policy: Policy

    @property
    def current(self) -> str:
        """Return the recorded preset if it still holds, else the first that fits, else `custom` (E5)."""
        fitting = [preset.value for preset in PRESETS if (preset.mode, preset.policy) == (self.mode, self.policy)]
        if self.recorded in fitting:
            return self.recorded
        return fitting[0] if fitting else CUSTOM

    def json(self) -> dict[str, Any]:
        """Return options and current value; `custom` is an option only while it is the current one (E6)."""
        options = [preset.json() for preset in PRESETS]
        if self.current == CUSTOM:
            options.append({"value": CUSTOM, "name": "Custom", "description": describe(self.mode, self.policy)})
        return {"options": options, "currentValue": self.current}


class PermissionFold:
    """The knobs and the recorded preset, from nothing but the log; defaults stand where it is silent."""

    def __init__(self, mode: SandboxMode = SandboxMode.WORKSPACE_WRITE, policy: Policy = Policy.ASK) -> None:
        self._start = Permissions(None, mode, policy)

    def start(self) -> Permissions:
        """Return the defaults."""
        return self._start

    def step(self, state: Permissions, event: Event) -> Permissions:
        """Take over a preset, a mode or a policy."""
        match event.type:
            case "permission/preset":
                return replace(state, recorded=event.data["preset"])
            case "sandbox/mode":
                return replace(state, mode=SandboxMode(event.data["mode"]))
            case "approval/policy":
                return replace(state, policy=Policy(event.data["policy"]))
            case _:
                return state


PERMISSIONS = PermissionFold()
TYPES = frozenset({PRESET, MODE, POLICY})


def preset_selected(preset: Preset, *, by: dict[str, Any], key: str) -> Draft:
    """Draft `permission/preset`."""
    return Draft(PRESET, {"preset": preset.value, "by": by}, keys.client("preset", key))


def mode_switched(mode: SandboxMode, *, by: dict[str, Any], key: str, source: str | None = None) -> Draft:
    """Draft `sandbox/mode`."""
    data: dict[str, Any] = {"mode": mode.value, "by": by}
    if source is not None:
        data["source"] = source
    return Draft(MODE, data, keys.client("mode", key))


def pinned(preset: str, *, by: dict[str, Any], key: str, policy: Policy | None = None) -> list[Draft]:
    """Draft the three facts that a new session begins with, for the append of its `session/created` (E8).

    `policy` overrides the preset's own, so that the session starts as `custom` where they differ.
    """
    chosen = preset_named(preset)
    return [
        preset_selected(chosen, by=by, key=key),
        mode_switched(chosen.mode, by=by, key=key),
        policy_switched(chosen.policy if policy is None else policy, by=by, key=key),
    ]


def missing_facts(events: set[str], state: Permissions, *, by: dict[str, Any], key: str) -> list[Draft]:
    """Draft what an older log does not say, with the values that are in force for it anyway (E9)."""
    drafts = []
    if MODE not in events:
        drafts.append(mode_switched(state.mode, by=by, key=key))
    if POLICY not in events:
        drafts.append(policy_switched(state.policy, by=by, key=key))
    if PRESET not in events and state.current != CUSTOM:
        drafts.insert(0, preset_selected(preset_named(state.current), by=by, key=key))
    return drafts
