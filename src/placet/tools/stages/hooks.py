"""Where others hook into the pipeline; every registration returns its undo.

Pre-execute may allow, deny or ask; a guard can only deny; around wraps the body; post-execute may replace or block.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from placet.kernel.bus import Bus
from placet.kernel.chain import CallNext, Chain
from placet.session.ids import SessionId
from placet.tools.tool import Arguments, CallContext, ToolCall, ToolOutput


@dataclass(frozen=True, slots=True)
class Request:
    """A call as the stages see it: with its checked arguments, which none of them can change."""

    call: ToolCall
    session: SessionId
    args: Arguments


@dataclass(frozen=True, slots=True)
class Allow:
    """Nothing speaks against the call."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The call does not run, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class AskFirst:
    """A person has to agree; `reason` is the listener's, not the model's."""

    reason: str | None = None


PreDecision = Allow | Deny | AskFirst


@dataclass(frozen=True, slots=True)
class Accept:
    """The result stands, with another text or another value (not both), and with messages for the next step."""

    text: str | None = None
    value: Any = None
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """The result becomes an error whose text is the feedback; its value is dropped."""

    feedback: str
    contexts: tuple[str, ...] = ()


PostDecision = Accept | Block


@dataclass(frozen=True, slots=True)
class Finished:
    """What post-execute and observers are shown."""

    request: Request
    output: ToolOutput


@dataclass(frozen=True, slots=True)
class Body:
    """What an around stage wraps: the call, its context, and the tool's own body at the end of the chain."""

    request: Request
    context: CallContext


Pre = Callable[[Request, CallNext[PreDecision]], Awaitable[PreDecision]]
Guard = Callable[[Request], str | None]
Around = Callable[[Body, CallNext[ToolOutput]], Awaitable[ToolOutput]]
Post = Callable[[Finished, CallNext[PostDecision]], Awaitable[PostDecision]]
Undo = Callable[[], None]


class Stages:
    """The hooks of one pipeline, in the order of registration; guards of one session come after those of all."""

    def __init__(self) -> None:
        self._pre: dict[object, Pre] = {}
        self._guards: dict[object, tuple[SessionId | None, Guard]] = {}
        self._around: dict[object, Around] = {}
        self._post: dict[object, Post] = {}
        self.results: Bus[Finished] = Bus("tool results")

    def on_pre(self, listener: Pre) -> Undo:
        """Let a listener allow, deny or ask before anything else looks at a call."""
        return _keep(self._pre, listener)

    def on_guard(self, guard: Guard, *, session: SessionId | None = None) -> Undo:
        """Let a guard deny calls, of one session or of all, also after a person's yes."""
        return _keep(self._guards, (session, guard))

    def on_around(self, wrapper: Around) -> Undo:
        """Wrap the bodies."""
        return _keep(self._around, wrapper)

    def on_post(self, listener: Post) -> Undo:
        """Let a listener replace or block results."""
        return _keep(self._post, listener)

    async def pre(self, request: Request) -> PreDecision:
        """Return the first decision; without one the call is allowed."""

        async def allow(_: Request) -> PreDecision:
            return Allow()

        return await Chain(tuple(self._pre.values()), allow)(request)

    def denied(self, request: Request) -> str | None:
        """Return the first guard's reason, those of all sessions first, or None."""
        scoped = [guard for session, guard in self._guards.values() if session == request.session]
        for guard in [guard for session, guard in self._guards.values() if session is None] + scoped:
            reason = guard(request)
            if reason is not None:
                return reason
        return None

    async def around(self, body: Body, run: Callable[[Body], Awaitable[ToolOutput]]) -> ToolOutput:
        """Run the body inside all wrappers."""
        return await Chain(tuple(self._around.values()), run)(body)

    async def post(self, finished: Finished) -> PostDecision:
        """Return the first decision about a result; without one it is accepted."""

        async def accept(_: Finished) -> PostDecision:
            return Accept()

        return await Chain(tuple(self._post.values()), accept)(finished)


def _keep(where: dict[object, Any], what: Any) -> Undo:
    token = object()
    where[token] = what
    return lambda: where.pop(token, None) and None
