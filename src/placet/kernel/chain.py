"""A chain of small equals: each link answers or calls the next, and the end of the chain always has an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")

CallNext = Callable[[], Awaitable[A]]
Link = Callable[[Q, CallNext[A]], Awaitable[A]]


class Chain(Generic[Q, A]):
    """Links in a fixed order with a mandatory final answer."""

    def __init__(self, links: Sequence[Link[Q, A]], final: Callable[[Q], Awaitable[A]]) -> None:
        self._links = tuple(links)
        self._final = final

    async def __call__(self, question: Q) -> A:
        """The answer of the first link that does not pass on; `final` answers if every link did."""
        return await self._from(0, question)

    async def _from(self, index: int, question: Q) -> A:
        if index == len(self._links):
            return await self._final(question)
        return await self._links[index](question, lambda: self._from(index + 1, question))
