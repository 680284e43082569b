"""A placet without its page: real store, pipeline, sandbox and halves; the test says what the agent calls."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from placet.agent import gestures
from placet.agent.creation import Created, Wish, create_session
from placet.agent.model.port import Model, ModelCall
from placet.agent.worker import Worker
from placet.app.composition import Placet, open_placet
from placet.app.config import load
from placet.approval.outcome import Who, WhoKind
from placet.cordis.answers import Answered, BadResponse, NotPending
from placet.cordis.vocabulary import RunId
from placet.session.event import Event
from placet.session.ids import SessionId, new_message_id
from placet.session.log import SessionLog
from placet.testing.models import Say, ScriptedModel
from tests.conftest import missing

BY = {"kind": "person", "name": "owner", "channel": "page"}
OWNER = Who(WhoKind.PERSON, "owner")
PAGE: dict[str, Any] = {"who": OWNER, "channel": "page", "evidence": "click", "strength": "page-key"}


@dataclass
class House:
    """What a test works with; `session` is the one that its agent works in."""

    placet: Placet
    session: SessionId
    cwd: Path

    async def send(self, text: str = "go", session: SessionId | None = None) -> None:
        store = self.placet.store
        await gestures.send_message(store, session or self.session, text, new_message_id(), steer=False, by=BY)

    async def work(self, model: Model, session: SessionId | None = None) -> None:
        """Let the agent work until nothing wakes it."""
        kit = replace(self.placet.kit, models=lambda name: model)
        with anyio.fail_after(120):
            assert await Worker(kit, session or self.session).run() is None

    async def call(self, name: str, session: SessionId | None = None, /, **arguments: Any) -> Event:
        """Let the agent call one tool in a turn of its own; returns the result."""
        await self.send("go", session)
        calls = (ModelCall("x", name, json.dumps(arguments)),)
        await self.work(ScriptedModel([Say("", calls), Say("done")]), session)
        found = await self.of("tool/result", session)
        return found[-1]

    async def define(
        self, host: str | None = None, client: str | None = None, again: str | None = None, **more: Any
    ) -> Event:
        """Define a package of a new plugin, or of the one that `again` names; `more` replaces other arguments."""
        which = {"kind": "new", "idPrefix": "tally"} if again is None else {"kind": "existing", "pluginId": again}
        code = {half: text for half, text in (("host", host), ("client", client)) if text is not None}
        given = {"plugin": which, "name": "Tally", "purpose": "Counts.", "code": code, **more}
        return await self.call("cordis_define", **given)

    async def run(self, plugin: str, package: str, mode: str = "run", session: SessionId | None = None) -> Event:
        return await self.call("cordis_run", session, pluginId=plugin, packageId=package, mode=mode)

    async def answer(self, run: str, width: str | None, *, feedback: str | None = None) -> None:
        """Consent as a person does who has read the card, or decline (`width` None)."""
        card = await self.placet.cordis.request(RunId(run))
        assert card is not None
        said: Answered | NotPending | BadResponse
        if width is None:
            said = await self.placet.cordis.decline(
                RunId(run), digest=card.row.attempt.digest, feedback=feedback, key=f"k-{run}", **PAGE
            )
        else:
            said = await self.placet.cordis.consent(
                RunId(run), digest=card.row.attempt.digest, width=width, key=f"k-{run}", **PAGE
            )
        assert isinstance(said, Answered), said

    async def of(self, kind: str, session: SessionId | None = None) -> list[Event]:
        log = await SessionLog.open(self.placet.store, session or self.session)
        return [event for event in log.events if event.type == kind]

    async def wait_for(self, kind: str, **fields: Any) -> Event:
        """Return the first event of a type with these fields, as soon as there is one."""
        with anyio.fail_after(120):
            async with self.placet.store.doorbell() as bell:
                while True:
                    for event in await self.of(kind):
                        if all(event.data[name] == value for name, value in fields.items()):
                            return event
                    await bell.wait(1.0)

    async def heard(self) -> list[str]:
        """What the agent was told by others than the person and its tools, the statement of the rules left out."""
        told = [event.data for event in await self.of("user/message")]
        return [data["text"] for data in told if data["source"]["kind"] != "user" and "rules of" not in data["text"]]

    async def new_session(self, preset: str = "workspace-write") -> SessionId:
        wish = Wish(cwd=str(self.cwd), preset=preset, key=f"k-{new_message_id()}")
        created = await create_session(self.placet.store, self.placet.sandbox, wish, by=BY)
        assert isinstance(created, Created), created
        return created.session


@asynccontextmanager
async def house(tmp_path: Path, *, preset: str = "workspace-write", **settings: Any) -> AsyncIterator[House]:
    """A placet with one session in a folder with three files."""
    cwd = tmp_path / "workspace"
    cwd.mkdir(exist_ok=True)
    for name, text in {"a.md": "# TODO write\n", "b.md": "done\n", "c.txt": "TODO read\n"}.items():
        (cwd / name).write_text(text)
    environ = {"PLACET_HOME": str(tmp_path / "home"), "HOME": str(tmp_path / "account")}
    async with open_placet(load(environ, settings), kind="web") as placet:
        if placet.sandbox.selection.choose() is None:
            missing("bubblewrap", f"no sandbox works here: {placet.sandbox.selection.report()}")
        home = House(placet, SessionId(""), cwd)
        home.session = await home.new_session(preset)
        yield home


def value_of(event: Event) -> dict[str, Any]:
    """The value of a result that is none of an error."""
    assert not event.data["isError"], event.data["text"]
    value: Mapping[str, Any] = event.data["value"]
    return dict(value)
