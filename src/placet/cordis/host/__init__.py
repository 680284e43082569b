"""The host half of a plugin: a confined process of its own, a line to it, and the services behind that line."""

from placet.approval.policy import PolicyFold
from placet.cordis.host.halves import Halves
from placet.cordis.host.limits import Limits
from placet.cordis.host.port import Cause, Diagnosis, Ended, HostFailed, HostHalf, HostHalves, InvokeFailed, RunFacts
from placet.cordis.host.services import Desk
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.sandbox import Sandbox
from placet.sandbox.mode import ModeFold
from placet.session.store import Store
from placet.tools.pipeline import Pipeline
from placet.tools.turns import Turns

__all__ = [
    "Cause",
    "Desk",
    "Diagnosis",
    "Ended",
    "Halves",
    "HostFailed",
    "HostHalf",
    "HostHalves",
    "InvokeFailed",
    "Limits",
    "RunFacts",
    "host_halves",
]


def host_halves(
    sandbox: Sandbox,
    store: Store,
    pipeline: Pipeline,
    turns: Turns,
    clock: Clock = SYSTEM_CLOCK,
    *,
    modes: ModeFold = ModeFold(),  # noqa: B008 - a frozen value
    policies: PolicyFold = PolicyFold(),  # noqa: B008 - a frozen value
    limits: Limits | None = None,
) -> Halves:
    """Put the halves of one process together; `turns` are those of its workers."""
    desk = Desk(pipeline, turns, store, clock, modes=modes, policies=policies)
    return Halves(sandbox, store, desk, limits=limits)
