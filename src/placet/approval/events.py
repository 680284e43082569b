"""The three events of an ask and their keys; the only place that builds them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from placet.approval.outcome import Decision, Outcome, Policy, Who
from placet.approval.subject import Subject
from placet.session.event import JSON, Draft
from placet.session.ids import AskId

ASKED, DECIDED, REFUSED, POLICY = "approval/asked", "approval/decided", "approval/refused", "approval/policy"
MINUTE = 60_000


def asked_key(ask: AskId) -> str:
    """Return the key of the ask's `approval/asked`."""
    return f"asked:{ask}"


def decided_key(ask: AskId) -> str:
    """Return the key of the ask's one `approval/decided`."""
    return f"decided:{ask}"


def refused_key(ask: AskId, key: str, now: int) -> str:
    """Return a key that lets one refused answer per ask, sender's key and minute into the log."""
    return f"refused:{ask}:{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}:{now // MINUTE}"


def asked(
    subject: Subject,
    *,
    call_id: str | None,
    reason: str | None,
    policy: Policy,
    chain: Sequence[str],
    earlier_run: bool = False,
) -> Draft:
    """Draft `approval/asked`; what the request does not have is left out, not null (A4)."""
    data: dict[str, JSON] = {"id": subject.ask, "toolName": subject.tool}
    if call_id is not None:
        data["callId"] = call_id
    if reason is not None:
        data["reason"] = reason
    if earlier_run:
        data["earlierRun"] = True
    data |= {
        "call": subject.call.json(),
        "subject": subject.json(),
        "digest": subject.digest,
        "policy": policy.value,
        "chain": list(chain),
    }
    return Draft(ASKED, data, asked_key(subject.ask))


def decided(ask: AskId, decision: Decision) -> Draft:
    """Draft `approval/decided`; `decision.time` is ignored, the store stamps the event."""
    data: dict[str, JSON] = {
        "id": ask,
        "outcome": decision.outcome.value,
        "detail": decision.detail,
        "who": decision.who.json(),
        "channel": decision.channel,
        "evidence": decision.evidence,
        "strength": decision.strength,
        "digest": decision.digest,
        "feedback": decision.feedback,
        "key": decision.key,
        "asked": decision.waited,
    }
    return Draft(DECIDED, data, decided_key(ask))


def refused(ask: AskId, *, who: Who, channel: str, why: str, outcome: str | Outcome, key: str, now: int) -> Draft:
    """Draft `approval/refused`: an answer that did not count, from a sender who proved who they are."""
    data: dict[str, JSON] = {"id": ask, "who": who.json(), "channel": channel, "why": why, "outcome": str(outcome)}
    return Draft(REFUSED, data, refused_key(ask, key, now))
