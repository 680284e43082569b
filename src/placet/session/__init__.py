"""The session log: append facts, fold state, never store what the log can tell."""

from .errors import (
    BadDraft,
    LeaseLost,
    NotLossless,
    SessionError,
    StoreDamaged,
    StoreError,
    StoreFormat,
    StoreFull,
    StoreGone,
    StoreLocked,
    UnknownEvent,
    UnknownSession,
)
from .event import JSON, Draft, Event
from .fold import Fold, folded
from .ids import HOUSE, AskId, MessageId, SessionId, new_ask_id, new_id, new_message_id, new_session_id
from .log import SessionLog
from .store import Appended, Bell, Held, Lease, Refused, SessionHead, Store
from .turn import TURNS, CallFacts, Phase, TurnFold, TurnState

__all__ = [
    "HOUSE",
    "JSON",
    "TURNS",
    "Appended",
    "AskId",
    "BadDraft",
    "Bell",
    "CallFacts",
    "Draft",
    "Event",
    "Fold",
    "Held",
    "Lease",
    "LeaseLost",
    "MessageId",
    "NotLossless",
    "Phase",
    "Refused",
    "SessionError",
    "SessionHead",
    "SessionId",
    "SessionLog",
    "Store",
    "StoreDamaged",
    "StoreError",
    "StoreFormat",
    "StoreFull",
    "StoreGone",
    "StoreLocked",
    "TurnFold",
    "TurnState",
    "UnknownEvent",
    "UnknownSession",
    "folded",
    "new_ask_id",
    "new_id",
    "new_message_id",
    "new_session_id",
]
