"""A new session: full access has to be meant, the sender has to be a person's, the folder has to be fit."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from anyio import to_thread

from placet.agent.creation import Created, Wish, create_session
from placet.approval.errors import UnknownPolicy
from placet.approval.policy import parse_policy
from placet.permission.errors import UnknownPreset
from placet.permission.preset import preset_named
from placet.sandbox.workspace.check import WorkspaceRefused
from placet.web.desk import Desk, Said
from placet.web.errors import Unacceptable
from placet.web.gestures.senders import admit
from placet.web.gestures.session import known_model
from placet.web.security.caller import Caller
from placet.web.wire import NewSession, Summary


async def create(desk: Desk, caller: Caller, request: NewSession) -> Summary:
    """Create the session and queue its first message; the same key again brings the same session.

    Raises Unacceptable for an unknown preset, policy or model, and for a folder that cannot be a workspace.
    """
    wish = _wish(desk, request)
    await admit(desk, caller, "create a session")
    services = desk.services
    async with desk.creating:  # two requests with one key may come at the same time
        made = await to_thread.run_sync(_make, desk, wish.cwd)
        answer = await create_session(services.store, services.workspaces, wish, by=caller.by, clock=services.clock)
    match answer:
        case WorkspaceRefused(why):
            if made is not None:
                await to_thread.run_sync(_unmake, made)
            raise Unacceptable(why, code="workspace-refused")
        case Created(session, warning):
            if warning is not None:
                desk.say(Said("no-sandbox", warning))
            return await desk.summaries.of(session)


def is_new(folder: Path) -> bool:
    """Whether a folder is not there yet."""
    return not os.path.lexists(folder)


def _make(desk: Desk, cwd: str) -> Path | None:
    """Make the folder that placet itself suggests, if it is that one and not there; no other is ever made."""
    suggested = desk.services.installation.suggested_cwd
    if Path(cwd) != suggested or not is_new(suggested):
        return None
    try:
        suggested.mkdir(mode=0o700)
    except OSError:
        return None  # the check that follows says what is wrong
    return suggested


def _unmake(folder: Path) -> None:
    with suppress(OSError):  # somebody uses it already
        folder.rmdir()


def _wish(desk: Desk, request: NewSession) -> Wish:
    if request.model is not None:
        known_model(desk, request.model)
    if "\0" in request.cwd:
        raise Unacceptable("a path holds no NUL character", code="workspace-refused")
    try:
        preset = preset_named(request.preset or desk.services.installation.default_preset).value
        policy = None if request.policy is None else parse_policy(request.policy)
    except UnknownPreset as unknown:
        raise Unacceptable(str(unknown), code="unknown-preset") from unknown
    except UnknownPolicy as unknown:
        raise Unacceptable(str(unknown), code="unknown-policy") from unknown
    wish = Wish(cwd=request.cwd, preset=preset, key=request.key, policy=policy, title=request.title or None)
    return replace(wish, model=request.model, message=request.message)
