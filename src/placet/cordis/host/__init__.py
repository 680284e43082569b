"""The host half of a plugin: a confined process of its own, a line to it, and the services behind that line."""

from placet.cordis.host.halves import Halves
from placet.cordis.host.limits import Limits
from placet.cordis.host.port import Cause, Diagnosis, Ended, HostFailed, HostHalf, HostHalves, InvokeFailed, RunFacts

__all__ = [
    "Cause",
    "Diagnosis",
    "Ended",
    "Halves",
    "HostFailed",
    "HostHalf",
    "HostHalves",
    "InvokeFailed",
    "Limits",
    "RunFacts",
]
