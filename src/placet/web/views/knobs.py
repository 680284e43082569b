"""The permission of a session as a screen shows it: preset, mode and policy, followed together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from placet.session.event import Event


@dataclass(frozen=True, slots=True)
class Knobs:
    """What is in force after an event."""

    preset: str
    mode: str
    policy: str


class _Knobs:
    types = frozenset({"permission/preset", "sandbox/mode", "approval/policy"})

    def start(self, preset: str, policy: str) -> Knobs:
        return Knobs(preset, preset, policy)

    def step(self, state: Knobs, event: Event) -> Knobs:
        match event.type:
            case "permission/preset":
                return replace(state, preset=event.data["preset"])
            case "sandbox/mode":
                return replace(state, mode=event.data["mode"])
            case "approval/policy":
                return replace(state, policy=event.data["policy"])
            case _:
                return state


KNOBS = _Knobs()
