"""State from facts: a fold starts somewhere and takes one event after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from .event import Event

S = TypeVar("S")


class Fold(Protocol[S]):
    """A pure function over a log. The state is replaced, never changed: who holds an old one is not surprised."""

    def start(self) -> S:
        """The state of an empty log."""
        ...

    def step(self, state: S, event: Event) -> S:
        """The state after one more event; the same object if the event means nothing to this fold."""
        ...


def folded(fold: Fold[S], events: Iterable[Event]) -> S:
    """The state after all these events."""
    state = fold.start()
    for event in events:
        state = fold.step(state, event)
    return state
