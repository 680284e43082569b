"""Step 2: an ask. A script stands in for the person: it reads the inbox and answers what it was shown, by digest."""

from __future__ import annotations

import tempfile
from pathlib import Path

import anyio

from placet.approval import CallKey, Decision, Dispatcher, Inbox, Responders, Subject, Who, WhoKind, build, grants
from placet.kernel import SYSTEM_CLOCK, AbortSignal
from placet.session import AskId, Draft, Held, SessionLog, Store, new_session_id
from placet.session.keys import created, turn
from placet.session.lease import alive, holder
from placet.session.stores.sqlite import SqliteStore

BY = {"kind": "person", "name": "owner", "channel": "example"}
CREATED = {"v": 1, "cwd": "/srv/project", "cwdId": "1:2", "title": None, "gitRoots": [], "by": BY}


async def ask(store: Store, inbox: Inbox) -> Decision:
    """Open a session and a turn, ask whether a command may run, and return what the log says about it."""
    session = new_session_id()
    await store.append(session, [Draft("session/created", CREATED, created())])
    lease = await store.acquire(session, holder(), alive)
    assert not isinstance(lease, Held)
    await store.append(session, [Draft("turn/start", {"turn": 1}, turn(1))], lease=lease)

    responders = Responders(order=("inbox",))
    responders.register(inbox.responder())
    dispatcher = Dispatcher(store, responders, SYSTEM_CLOCK)

    def subject(ask_id: AskId) -> Subject:
        return build(
            ask=ask_id,
            session=session,
            agent="example",
            call=CallKey(turn=1, step=1, position=0),
            tool="bash",
            tool_digest="0" * 64,
            arguments='{"command": "make release", "description": "Publish"}',
            cwd="/srv/project",
            cwd_id="1:2",
            from_mode="workspace-write",
            to_mode="danger-full-access",
        )

    log = await SessionLog.open(store, session)
    signal = AbortSignal()
    decision = await dispatcher.request(log, lease, 1, subject, call_id=None, reason="to publish", signal=signal)
    assert isinstance(decision, Decision)
    return decision


async def answer(store: Store, inbox: Inbox) -> None:
    """Wait for an ask, look at it, and reject it with a note."""
    async with store.doorbell() as bell:
        while not (page := await inbox.open()).asks:
            await bell.wait(1.0)
    shown = page.asks[0]
    print("asked:", shown.subject["arguments"])
    receipt = await inbox.answer(
        shown.id,
        outcome="rejected",
        digest=shown.digest,
        key="example-1",
        feedback="Not on a Friday.",
        who=Who(WhoKind.PERSON, "owner"),
        channel="example",
        evidence="a script",
        strength="none",
    )
    print("answered:", type(receipt).__name__)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with await SqliteStore.open(Path(folder) / "placet.db") as store, anyio.create_task_group() as tasks:
            inbox = Inbox(store, SYSTEM_CLOCK)
            tasks.start_soon(answer, store, inbox)
            decision = await ask(store, inbox)
            print("outcome:", decision.outcome, "| may it run?", grants(decision.outcome), "| note:", decision.feedback)


if __name__ == "__main__":
    anyio.run(main)
