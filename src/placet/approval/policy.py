"""The first knob, who decides: the session's last `approval/policy`, else the configured default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from placet.approval.errors import UnknownPolicy
from placet.approval.events import POLICY
from placet.approval.outcome import Policy
from placet.session import keys
from placet.session.event import Draft, Event


@dataclass(frozen=True, slots=True)
class PolicyFold:
    """The policy in force after an event; rebuilt by replay, it has no other store (A17)."""

    default: Policy = Policy.ASK

    def start(self) -> Policy:
        """Return the configured default."""
        return self.default

    def step(self, state: Policy, event: Event) -> Policy:
        """Take over what the event says, if it speaks of the policy."""
        return Policy(event.data["policy"]) if event.type == POLICY else state


def parse_policy(value: object) -> Policy:
    """Return the policy of that name, or raise `UnknownPolicy` before anything is written (A18)."""
    try:
        return Policy(str(value))
    except ValueError:
        raise UnknownPolicy(value) from None


def policy_switched(policy: Policy, *, by: dict[str, Any], key: str, source: str | None = None) -> Draft:
    """Draft `approval/policy`; `key` is the client's own, so that sending it again changes nothing."""
    data: dict[str, Any] = {"policy": policy.value, "by": by}
    if source is not None:
        data["source"] = source
    return Draft(POLICY, data, keys.client("policy", key))
