"""What every room stands on and no domain word: clock, labelled undo, call-next chain, notices, abort signals."""

from .bus import Bus
from .chain import CallNext, Chain, Link
from .clock import SYSTEM_CLOCK, Clock, SystemClock
from .scope import Scope, Undo
from .signal import AbortSignal

__all__ = ["SYSTEM_CLOCK", "AbortSignal", "Bus", "CallNext", "Chain", "Clock", "Link", "Scope", "SystemClock", "Undo"]
