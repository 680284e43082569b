"""A server in a process of its own: `python -m tests.web.process FOLDER` serves, says where, and ends by a signal."""

from __future__ import annotations

import ctypes
import json
import sys
from dataclasses import replace
from pathlib import Path

import anyio

from placet.session.stores.sqlite import SqliteStore
from placet.web.desk import Said
from placet.web.security.loopback import objection
from placet.web.serve import Serving, serve
from tests.web.rig import Voices, services_over, state_in


async def main(folder: Path, port: int, options: dict[str, object]) -> None:
    """Serve until a signal; lines of JSON on the standard output say what happens."""
    state = state_in(folder)
    async with await SqliteStore.open(state / "placet.db") as store:
        services = replace(services_over(store, state, Voices(), **options), objection=objection)
        await serve(services, port=port, started=started, say=said)
    print(json.dumps({"ended": True}), flush=True)


def started(serving: Serving) -> None:
    facts = {
        "url": serving.url,
        "link": serving.link.url,
        "code": serving.link.code,
        "link_file": str(serving.link_file),
        "socket": str(serving.socket),
        "taken_by": serving.port.taken_by,
    }
    print(json.dumps(facts), flush=True)


def said(said: Said) -> None:
    print(json.dumps({"code": said.code, "text": said.text}), flush=True)


def harden() -> None:
    """Forbid others to look into this process, as every placet process does first: prctl(2), PR_SET_DUMPABLE."""
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)


if __name__ == "__main__":
    harden()
    anyio.run(main, Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]))
