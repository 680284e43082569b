"""What a worker works with: the parts of the rooms below, put together once by the composition."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from placet.agent.context import INSTRUCTIONS, Context
from placet.agent.model.port import Model
from placet.agent.model.retry import Retries
from placet.agent.speech import Speech
from placet.approval.dispatcher import Dispatcher
from placet.kernel.clock import SYSTEM_CLOCK, Clock
from placet.session.ids import SessionId
from placet.session.store import Store
from placet.tools.batch import AT_ONCE
from placet.tools.pipeline import Pipeline
from placet.tools.registry import Registry
from placet.tools.turns import Turns

References = Callable[[SessionId, Sequence[str]], Awaitable[Sequence[str]]]
"""From what a person wrote to what the agent has to know about the things that they name."""


async def no_references(session: SessionId, texts: Sequence[str]) -> Sequence[str]:
    """Nothing that a person writes refers to anything."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """The parts, and the bounds of a turn. `models` raises `UnknownModel` or `BadScript`; `most_steps` ends a turn that
    does not end by itself; `side_by_side` calls of one message are under way at once."""

    store: Store
    dispatcher: Dispatcher
    pipeline: Pipeline
    tools: Registry
    context: Context
    models: Callable[[str], Model]
    default_model: str
    instructions: str = INSTRUCTIONS
    references: References = no_references
    clock: Clock = SYSTEM_CLOCK
    speech: Speech = field(default_factory=Speech)
    turns: Turns = field(default_factory=Turns)
    retries: Retries = field(default_factory=Retries)
    chance: random.Random = field(default_factory=random.Random)
    most_steps: int = 200
    side_by_side: int = AT_ONCE
