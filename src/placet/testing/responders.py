"""Responders that follow a script, and the contract that every responder keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import anyio
import pytest

from placet.approval import Answer, Ask, InLog, Outcome, Policy, Reply, Responder, Subject, Who, WhoKind
from placet.approval.subject import CallKey
from placet.kernel.chain import CallNext
from placet.session.event import Event
from placet.session.ids import AskId, SessionId

PERSON = Who(WhoKind.PERSON, "Ada", "ada")
"""The person of the tests."""


def says(outcome: Outcome, *, who: Who = PERSON, feedback: str | None = None) -> Answer:
    """Return the answer of somebody who was really there."""
    return Answer(outcome, who, channel="test", evidence="a script", strength="none", feedback=feedback)


class Passes:
    """A step of a script: pass the ask on."""


class Holds:
    """A step of a script: say nothing until released, or until cancelled."""

    def __init__(self, then: object = None) -> None:
        self.then = says(Outcome.ALLOWED_ONCE) if then is None else then
        self.released = anyio.Event()
        self.reached = anyio.Event()


Step = Any
"""An `Outcome`, an `Answer`, an exception to raise, `Passes`, `Holds`, a function of the ask, or rubbish to return."""


class ScriptedResponder:
    """Answers the first ask with the first step, and so on; the last step counts for all that follow."""

    def __init__(self, *steps: Step, name: str = "script") -> None:
        self.name = name
        self._steps: Sequence[Step] = steps or (Passes(),)
        self.asks: list[Ask] = []

    async def answer(self, ask: Ask, call_next: CallNext[Reply]) -> Reply:
        """Do what the script says for this ask."""
        step = self._steps[min(len(self.asks), len(self._steps) - 1)]
        self.asks.append(ask)
        if isinstance(step, Holds):
            step.reached.set()
            await step.released.wait()
            step = step.then
        if isinstance(step, Passes):
            return await call_next()
        if isinstance(step, BaseException):
            raise step
        if isinstance(step, Outcome):
            return says(step)
        reply: Reply = step(ask) if callable(step) else step
        return reply


def an_ask(session: SessionId = SessionId("s-test"), ask: AskId = AskId("a-test")) -> Ask:  # noqa: B008 - plain text
    """Return an ask that stands in no log."""
    subject = Subject(ask, session, "model", CallKey(1, 1, 0), "bash", "0" * 64, "{}", "/", "1:2", "read-only", None)
    event = Event(session, 0, 0, "approval/asked", {"id": ask}, f"asked:{ask}", 1)
    return Ask(ask, session, subject, subject.digest, 0, Policy.ASK, event)


@pytest.mark.anyio
class ResponderContract:
    """What every responder promises. Override `responder`, and `served` if it is choosy."""

    @pytest.fixture
    def responder(self) -> Responder:
        """Return the responder under test."""
        raise NotImplementedError

    @pytest.fixture
    def served(self) -> Ask:
        """Return an ask that it holds or answers."""
        return an_ask()

    async def test_a13_it_can_be_cancelled_while_it_holds_an_ask(self, responder: Responder, served: Ask) -> None:
        """A cancelled responder ends at once; one that answers at once is as good."""
        reply: Reply | None = None
        with anyio.move_on_after(0.2) as scope:
            reply = await responder.answer(served, _next(says(Outcome.REJECTED)))
        assert scope.cancelled_caught or isinstance(reply, Answer | InLog)


class ChoosyResponderContract(ResponderContract):
    """What a responder promises that does not serve every ask. Override `not_served` too."""

    @pytest.fixture
    def not_served(self) -> Ask:
        """Return an ask that it passes on."""
        raise NotImplementedError

    async def test_a9_what_it_does_not_serve_is_passed_on(self, responder: Responder, not_served: Ask) -> None:
        """The next answer comes back unchanged."""
        assert await responder.answer(not_served, _next(says(Outcome.REJECTED))) == says(Outcome.REJECTED)


def _next(reply: Reply) -> Callable[[], Any]:
    async def call_next() -> Reply:
        return reply

    return call_next
