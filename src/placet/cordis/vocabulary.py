"""The closed vocabularies of Cordis (contract, section 0), and the ids that people read."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NewType

PluginId = NewType("PluginId", str)
PackageId = NewType("PackageId", str)
RunId = NewType("RunId", str)

PREFIX = re.compile("[a-z]{3,6}")
PLUGIN, PACKAGE, RUN = "plugin", "package", "run"
"""The store's counters; their numbers never come back."""


class Half(StrEnum):
    """Where a part of a package runs: beside the server, or in the page."""

    HOST = "host"
    CLIENT = "client"


class Mode(StrEnum):
    """How a package takes the place of what is there."""

    RUN = "run"
    UPDATE = "update"


class AttemptStatus(StrEnum):
    """How one attempt to run a package stands."""

    AWAITING_APPROVAL = "awaiting-approval"
    STARTING_HOST = "starting-host"
    CLIENT_PENDING = "client-pending"
    RUNNING = "running"
    WAITING = "waiting"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELLED = "cancelled"
    STOPPED = "stopped"

    @property
    def in_flight(self) -> bool:
        """Whether the attempt has no outcome yet."""
        return self in (self.AWAITING_APPROVAL, self.STARTING_HOST, self.CLIENT_PENDING)

    @property
    def succeeded(self) -> bool:
        """Whether the package runs; one that waits for a service counts (I20)."""
        return self in (self.RUNNING, self.WAITING)


class HalfStatus(StrEnum):
    """How one half of an attempt stands."""

    ABSENT = "absent"
    PENDING = "pending"
    STOPPED = "stopped"
    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"


class Phase(StrEnum):
    """Where something went wrong."""

    APPROVAL = "approval"
    HOST_LOAD = "host-load"
    HOST_APPLY = "host-apply"
    CLIENT_LOAD = "client-load"
    CLIENT_APPLY = "client-apply"
    CLIENT_RENDER = "client-render"
    GUARD = "guard"
    """A half went over its bounds and was cut off."""
    HANDLER = "handler"
    """A function that a half had registered raised."""


class Width(StrEnum):
    """How far a consent reaches: a single tick, or a double one."""

    PACKAGE = "package"
    FUTURE = "future"


class ReceiptStatus(StrEnum):
    """What an accepted run is when the call returns."""

    AWAITING_APPROVAL = "awaiting-approval"
    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"


class RunRefusal(StrEnum):
    """Why a run was not accepted, or a host-only one did not start."""

    PLUGIN_MISSING = "plugin-missing"
    PACKAGE_MISSING = "package-missing"
    INVALID_MODE = "invalid-mode"
    TRANSITION_IN_FLIGHT = "transition-in-flight"
    HOST_HALF_FAILED = "host-half-failed"
    CLIENT_HALF_FAILED = "client-half-failed"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    NOT_RUNNING = "not-running"


class InvokeFailure(StrEnum):
    """Why a call from a client half to its host half has no value."""

    PLUGIN_NOT_RUNNING = "plugin-not-running"
    STALE_RUN = "stale-run"
    METHOD_NOT_FOUND = "method-not-found"
    HANDLER_ERROR = "handler-error"


class SummaryState(StrEnum):
    """How a plugin stands, in one word; real statuses where something was refused or withdrawn (N14)."""

    DEFINED = "defined"
    AWAITING_APPROVAL = "awaiting-approval"
    CLIENT_PENDING = "client-pending"
    STOPPED = "stopped"
    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"
    REJECTED = "rejected"
    CANCELLED = "cancelled"


class Detail(StrEnum):
    """What ended an attempt or a run, where its status does not say it."""

    STOPPED = "stopped"
    REPLACED = "replaced"
    RESTART = "restart"
    """The process that it lived in is gone."""
    CRASHED = "crashed"
    """Its host half died."""
    GUARD = "guard"
    """A half went over its bounds."""
    NARROWED = "narrowed"
    """The session's mode became narrower than the run's."""
    UNDEFINED = "undefined"
    ARCHIVED = "archived"
    DELETED = "deleted"
    EXPIRED = "expired"
    """Nobody answered before the deadline."""
    TURN_STOPPED = "turn-stopped"
    """A person stopped the turn whose call was starting it."""
    TAMPERED = "tampered"
    """The stored code is not what its digest says."""
    SHUTDOWN = "shutdown"
    """The process that it lived in ended in order."""
