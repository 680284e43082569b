"""Measures several ways side by side, interleaved, and prints medians and ratios. Nothing here asserts.

times = await side_by_side({"bare commit": bare, "ask": ask}, rounds=200)
print_ratio("ask over two bare commits", times["ask"], times["bare commit"], of=2, aim=2.0)
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

Way = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Timing:
    """The durations of one way, in seconds, sorted."""

    name: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def percentile(self, share: float) -> float:
        """Return the smallest duration that `share` (0 to 1) of all rounds did not exceed."""
        return self.seconds[max(0, math.ceil(share * len(self.seconds)) - 1)]


async def side_by_side(ways: Mapping[str, Way], *, rounds: int, warm: int = 5) -> dict[str, Timing]:
    """Run every way once a round, in an order that turns, so that a slow moment of the machine hits all alike."""
    names = list(ways)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(-warm, rounds):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            gc.collect(0)
            started = time.perf_counter()
            await ways[name]()
            if turn >= 0:
                taken[name].append(time.perf_counter() - started)
    return {name: Timing(name, tuple(sorted(values))) for name, values in taken.items()}


def print_timing(timing: Timing) -> None:
    """Print the median and the 99th percentile of one way."""
    few = len(timing.seconds)
    print(f"  {timing.name:44} {_ms(timing.median)} median  {_ms(timing.percentile(0.99))} p99  ({few} rounds)")


def print_ratio(label: str, over: Timing, under: Timing, *, of: float = 1.0, aim: float | None = None) -> None:
    """Print the median of `over` as a multiple of `of` times the median of `under`, beside the aim if there is one."""
    wanted = "" if aim is None else f"  aim: at most {aim:g}"
    print(f"  {label:44} {over.median / (of * under.median):8.2f} x{wanted}")


def print_count(label: str, value: float, unit: str, *, aim: str = "") -> None:
    """Print one number that is not a ratio, with its unit."""
    wanted = f"  aim: {aim}" if aim else ""
    print(f"  {label:44} {value:10,.1f} {unit}{wanted}")


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:9.3f} ms"
