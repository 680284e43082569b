"""Moving away what a call has made and other programs of the person would run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anyio import to_thread

from placet.agent.gestures import once
from placet.sandbox.errors import SandboxError
from placet.sandbox.policy import Workdir
from placet.session import keys
from placet.session.codec import escape, unescape
from placet.session.event import Draft
from placet.session.ids import SessionId
from placet.session.store import Store
from placet.web.desk import Desk
from placet.web.errors import Conflict, Unacceptable
from placet.web.security.caller import Caller
from placet.web.wire import MoveAway, MovedAway

_AT_ONCE = 500


async def move_away(desk: Desk, caller: Caller, session: SessionId, request: MoveAway) -> MovedAway:
    """Move one thing that a result of this session has named into the state directory, and note it in the log.

    The same key again brings the same answer. Raises Unacceptable for a path that no result names, Conflict where it
    cannot be moved.
    """
    await desk.summaries.line(session)
    store = desk.services.store
    key = keys.client("notice", f"moved-away:{request.key}")
    earlier = await store.lookup(session, key)
    if earlier is not None:
        return MovedAway(to=earlier.data["to"])
    if not await _named(store, session, request.path):
        raise Unacceptable("no call of this session has made that", code="not-appeared")
    created = (await store.read(session, limit=1))[0].data
    to = await _moved(desk, session, created, request.path)
    data = {
        "level": "info",
        "code": "moved-away",
        "text": f"{request.path} was moved away, to {escape(str(to))}",
        "path": request.path,
        "to": escape(str(to)),
        "by": dict(caller.by),
    }
    await once(store, session, [Draft("notice", data, key)])
    return MovedAway(to=data["to"])


async def _moved(desk: Desk, session: SessionId, created: Mapping[str, Any], path: str) -> Path:
    device, _, inode = created["cwdId"].partition(":")
    workspace = Workdir(Path(created["cwd"]), int(device), int(inode))
    git_roots = [Path(root) for root in created["gitRoots"]]
    try:
        return await to_thread.run_sync(
            desk.services.workspaces.move_away, session, workspace, git_roots, Path(unescape(path))
        )
    except ValueError as error:
        raise Unacceptable("the path is not in the form of the log", code="not-appeared") from error
    except SandboxError as error:
        raise Conflict(error.why, code="move-failed", hint=error.hint) from error


async def _named(store: Store, session: SessionId, path: str) -> bool:
    """Whether a result of the session lists the path among what appeared."""
    after = 0
    while events := await store.feed(after, limit=_AT_ONCE, types={"tool/result"}, session=session):
        for event in events:
            if any(one.get("path") == path for one in event.data["meta"].get("appeared", ())):
                return True
        after = events[-1].pos
    return False
