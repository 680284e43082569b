"""What lists of plugins cost: few packages and requests beside many, and a short log beside a long one."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

from bench.ratio import print_ratio, print_timing, side_by_side
from placet.cordis import events as log
from placet.cordis.answers import Receipt
from placet.cordis.definition import Code
from placet.cordis.host.port import HostFailed
from placet.cordis.service import Cordis
from placet.cordis.vocabulary import PackageId, Phase, PluginId
from placet.session import Draft, SessionId
from placet.session.stores.sqlite import SqliteStore
from placet.testing.facts import BY, new_session, note

ROUNDS = 300
LINES = 20_000
HALF = "# a half of usual length\n" * 200


class NoHalves:
    """Nothing is started here."""

    async def start(self, *args: object, **more: object) -> object:
        raise HostFailed(Phase.HOST_LOAD, "nothing is started here")

    async def prepare(self, *args: object, **more: object) -> None:
        return

    async def discard(self, *args: object) -> None:
        return


async def main() -> None:
    ways: dict[str, Callable[[], Awaitable[object]]] = {}
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as folder:
        async with AsyncExitStack() as stack:
            for name, packages, requests, lines in (
                ("5 packages, 2 requests", 5, 2, 10),
                ("200 packages, 50 requests", 200, 50, 10),
                ("200 packages, 50 requests, long log", 200, 50, LINES),
            ):
                store = await stack.enter_async_context(await SqliteStore.open(Path(folder) / name / "p.db"))
                cordis = Cordis(store, NoHalves(), None)  # type: ignore[arg-type]
                await stack.enter_async_context(cordis.serving())
                await filled(store, cordis, packages, requests, lines)
                ways[f"list, {name}"] = cordis.plugins
                ways[f"inbox, {name}"] = lambda cordis=cordis: cordis.requests(limit=2)  # type: ignore[misc]
            times = await side_by_side(ways, rounds=ROUNDS)
    for timing in times.values():
        print_timing(timing)
    for what in ("list", "inbox"):
        few, many = times[f"{what}, 5 packages, 2 requests"], times[f"{what}, 200 packages, 50 requests"]
        print_ratio(f"{what}: 200 packages over 5", many, few, aim=2.0)
        long = times[f"{what}, 200 packages, 50 requests, long log"]
        print_ratio(f"{what}: log of {LINES:,} over a short one", long, many, aim=1.2)


async def filled(store: SqliteStore, cordis: Cordis, packages: int, requests: int, lines: int) -> SessionId:
    """A session with so many packages, each of a plugin of its own, and so many open requests."""
    session = await new_session(store)
    for n in range(packages):
        code = Code.of(HALF, HALF)
        data = {
            "plugin": f"clock-{n}", "package": f"pkg-{n}", "name": "Clock", "purpose": "Shows the time.",
            "host": code.host, "client": code.client, "digest": code.digest, "call": f"1.1.{n}",
        }  # fmt: skip
        await store.append(session, [Draft(log.DEFINED, data, log.defined_key(f"1.1.{n}"))])
    for n in range(requests):
        receipt = await cordis.run(session, PluginId(f"clock-{n}"), PackageId(f"pkg-{n}"), "run", by=BY, key=f"k-{n}")
        assert isinstance(receipt, Receipt)
    for first in range(0, lines, 500):
        await store.append(session, [note(f"{n}") for n in range(first, min(lines, first + 500))])
    return session


if __name__ == "__main__":
    asyncio.run(main())
