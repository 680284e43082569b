"""Step 4: a whole turn without a page. The rehearsal wants more than the sandbox grants; a rule of ours decides."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import anyio

from placet.agent.creation import Created, Wish, create_session
from placet.agent.gestures import send_message
from placet.agent.worker import Worker
from placet.app.composition import open_placet
from placet.app.config import load
from placet.approval import Answer, Ask, Outcome, Reply, Who, WhoKind
from placet.kernel import CallNext
from placet.session import new_message_id


class HouseRule:
    """Allows what writes `note.txt`, and passes everything else on. Nobody comes after it, so the rest is a no."""

    name = "house-rule"

    async def answer(self, ask: Ask, call_next: CallNext[Reply]) -> Reply:
        command = str(ask.subject.values()["command"])
        if not command.endswith("note.txt"):
            return await call_next()
        who = Who(WhoKind.RULE, self.name)
        return Answer(Outcome.ALLOWED_ONCE, who, channel="example", evidence="the rule", strength="none")


async def main() -> None:
    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        workspace = Path(folder, "workspace")
        workspace.mkdir()
        environment = {**os.environ, "PLACET_HOME": f"{folder}/placet"}
        config = load(environment, {"model.name": "rehearsal"})

        async with open_placet(config, kind="run") as placet:
            placet.responders.configure([HouseRule.name])
            placet.responders.register(HouseRule())
            wish = Wish(cwd=str(workspace), preset="workspace-write", key="example-1")
            made = await create_session(placet.store, placet.sandbox, wish, by=placet.by)
            assert isinstance(made, Created), made.why

            for name in ("note.txt", "other.txt"):
                await send_message(
                    placet.store, made.session, f"$ echo hi > {folder}/{name}", new_message_id(), by=placet.by
                )
                await Worker(placet.kit, made.session).run()

            for event in await placet.store.read(made.session):
                if event.type == "approval/decided":
                    print("decided:", event.data["outcome"], "by", event.data["who"]["name"])
                if event.type == "turn/end":
                    print("turn", event.data["turn"], "ended:", event.data["reason"]["kind"])
        print("note.txt:", Path(folder, "note.txt").exists(), "| other.txt:", Path(folder, "other.txt").exists())


if __name__ == "__main__":
    anyio.run(main)
