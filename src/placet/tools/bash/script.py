"""The script that a command runs: captured when a person is asked, and kept as it was signed while it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from placet.approval.errors import SubjectTooLarge
from placet.approval.subject import MAX_SUBJECT, CoveredFile
from placet.sandbox.backend import Covered
from placet.sandbox.errors import HelperFailed, HelperStopped, SandboxError
from placet.sandbox.helper import Failure, Inquiry, Verb
from placet.sandbox.mode import SandboxMode
from placet.sandbox.service import Sandbox
from placet.session import keys
from placet.session.codec import escape, unescape
from placet.session.ids import SessionId
from placet.session.lease import alive
from placet.session.store import Store
from placet.tools.codes import Unused
from placet.tools.escalation import profile_of
from placet.tools.jobs import jobs_of_workspace
from placet.tools.tool import CallContext

_TOO_LARGE = 2 << 20


async def captured(sandbox: Sandbox, command: str, call: CallContext) -> tuple[CoveredFile, ...]:
    """Return the file of the workspace that the command's first word runs, if it does run one, with all that is in it.

    The confined helper looks, in read-only mode whatever the call's is. Raises `SubjectTooLarge` for one that nobody
    could be shown, and `SandboxError`.
    """
    profile = profile_of(sandbox, replace(call, mode=SandboxMode.READ_ONLY, escalated=False))
    place = {"command": command, "folder": str(call.workdir.path), "workspace": str(profile.workspace.path)}
    came = await sandbox.inquire(Inquiry(profile=profile, verb=Verb.CAPTURE, arguments=place, signal=call.signal))
    if isinstance(came, Failure):
        if came.code == "TOO_LARGE":
            raise SubjectTooLarge(_TOO_LARGE, MAX_SUBJECT)
        raise HelperFailed(f"The script of this command could not be read: {came.text}")
    file = came.data["file"]
    if file is None:
        return ()
    return (CoveredFile(escape(file["path"]), file["sha256"], escape(file["text"])),)


def covered(files: tuple[CoveredFile, ...]) -> tuple[Covered, ...]:
    """Return the signed files as the sandbox puts them over their paths. Raises `ValueError` for a changed record."""
    made = []
    for file in files:
        content = unescape(file.text).encode("utf-8", "surrogateescape")
        if sha256(content).hexdigest() != file.sha256:
            raise ValueError(f"the record of {file.path} does not fit its digest")
        made.append(Covered(Path(unescape(file.path)), content))
    return tuple(made)


@asynccontextmanager
async def kept(
    sandbox: Sandbox, command: str, files: tuple[CoveredFile, ...], call: CallContext
) -> AsyncIterator[Unused | None]:
    """Have the workspace alone, so that what was signed stays; yields why it is not what was signed, or None."""
    workspace = profile_of(sandbox, call).workspace.path
    if await others_live(call, workspace):
        yield Unused.JOBS_RUNNING
        return
    with sandbox.alone(workspace) as free:
        if not free:
            yield Unused.JOBS_RUNNING
            return
        yield await _difference(sandbox, command, files, call)


async def _difference(
    sandbox: Sandbox, command: str, files: tuple[CoveredFile, ...], call: CallContext
) -> Unused | None:
    try:
        same = await captured(sandbox, command, call) == files
    except HelperStopped:
        return None  # the stop is in the log, which refuses the start
    except (SandboxError, SubjectTooLarge):
        same = False
    return None if same else Unused.FILE_CHANGED


async def others_live(call: CallContext, workspace: Path) -> bool:
    """Whether jobs or calls of this store run in the workspace, of whichever session and process: THE place to ask."""
    store: Store = call.log.store
    if await jobs_of_workspace(store, workspace):
        return True
    for event in await store.unpaired("started:", "result:"):
        own = event.session == call.session and event.key == keys.started(*_place(call))
        if not own and await _works_in(store, event.session, workspace) and await _driven(store, event.session):
            return True
    return False


def _place(call: CallContext) -> tuple[int, int, int]:
    return call.key.turn, call.key.step, call.key.position


async def _works_in(store: Store, session: SessionId, workspace: Path) -> bool:
    created = await store.lookup(session, keys.created())
    if created is None:
        return False
    folder = Path(created.data["cwd"])
    return folder.is_relative_to(workspace) or workspace.is_relative_to(folder)


async def _driven(store: Store, session: SessionId) -> bool:
    """Whether a live worker holds the session: what a dead one had started is gone with it."""
    lease = await store.current_lease(session)
    return lease is not None and alive(lease.holder)
