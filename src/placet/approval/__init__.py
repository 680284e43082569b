"""Who is answerable for an action: asks, the chain that answers them, and the one append that settles them."""

from placet.approval.answer import BadResponse, NotPending, Receipt
from placet.approval.dispatcher import Dispatcher, NotAsked
from placet.approval.errors import (
    ApprovalError,
    NoOpenTurn,
    SubjectInvalid,
    SubjectTooLarge,
    UnknownPolicy,
    UnknownResponder,
)
from placet.approval.events import asked_key, decided_key
from placet.approval.inbox import Inbox
from placet.approval.outcome import SYSTEM, Decision, Outcome, Policy, Who, WhoKind, grants
from placet.approval.policy import PolicyFold, parse_policy, policy_switched
from placet.approval.responder import Answer, Ask, InLog, Reply, Responder, Responders, Scoped, unavailable
from placet.approval.subject import CallKey, Denied, Subject, build, digest_of, parse_arguments
from placet.approval.view import AskView, Page

__all__ = [
    "SYSTEM",
    "Answer",
    "ApprovalError",
    "Ask",
    "AskView",
    "BadResponse",
    "CallKey",
    "Decision",
    "Denied",
    "Dispatcher",
    "InLog",
    "Inbox",
    "NoOpenTurn",
    "NotAsked",
    "NotPending",
    "Outcome",
    "Page",
    "Policy",
    "PolicyFold",
    "Receipt",
    "Reply",
    "Responder",
    "Responders",
    "Scoped",
    "Subject",
    "SubjectInvalid",
    "SubjectTooLarge",
    "UnknownPolicy",
    "UnknownResponder",
    "Who",
    "WhoKind",
    "asked_key",
    "build",
    "decided_key",
    "digest_of",
    "grants",
    "parse_arguments",
    "parse_policy",
    "policy_switched",
    "unavailable",
]
