"""Holds itself to its limits and serves until the line closes."""

from __future__ import annotations

import asyncio
import resource
import sys

from .half import Half

MEMORY, FILE, DESCRIPTORS = 1 << 30, 32 << 20, 256


def limit() -> None:
    """Give up what a half does not need. A limit on processes counts threads, too: those there are have started."""
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_NOFILE, DESCRIPTORS),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        low = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (low, low))


def main(descriptor: int) -> None:
    """Serve."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    asyncio.run(_serve(descriptor))


async def _serve(descriptor: int) -> None:
    half = Half(descriptor)
    limit()
    half.line.tell("up", {})
    await asyncio.get_running_loop().create_future()
