"""Ids: 26 characters that sort by time, prefixed by what they name, never used again."""

from __future__ import annotations

import secrets
from typing import NewType

from placet.kernel.clock import SYSTEM_CLOCK, Clock

SessionId = NewType("SessionId", str)
AskId = NewType("AskId", str)
MessageId = NewType("MessageId", str)
JobId = NewType("JobId", str)

HOUSE = SessionId("house")
"""The log of the installation itself (linked pages and the like): same store, same rules, no turns."""

_CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str, clock: Clock = SYSTEM_CLOCK) -> str:
    """A new id: the prefix, a hyphen, 10 characters of time (ms) and 16 of chance, in lower-case Crockford base 32."""
    number = (clock.now() & (1 << 48) - 1) << 80 | secrets.randbits(80)
    return f"{prefix}-" + "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def new_session_id(clock: Clock = SYSTEM_CLOCK) -> SessionId:
    """A new session id, `s-` and 26 characters."""
    return SessionId(new_id("s", clock))


def new_ask_id(clock: Clock = SYSTEM_CLOCK) -> AskId:
    """A new ask id, `a-` and 26 characters."""
    return AskId(new_id("a", clock))


def new_message_id(clock: Clock = SYSTEM_CLOCK) -> MessageId:
    """A new message id, `m-` and 26 characters."""
    return MessageId(new_id("m", clock))


def new_job_id(clock: Clock = SYSTEM_CLOCK) -> JobId:
    """A new id of a background job, `j-` and 26 characters."""
    return JobId(new_id("j", clock))
