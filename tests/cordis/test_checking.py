"""Code is looked at before it is recorded: confined, within bounds, and with a text that helps to mend it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from placet.cordis.checking.service import Checking
from placet.cordis.definition import Definition
from placet.kernel.signal import AbortSignal
from placet.sandbox.policy import Workdir
from placet.session import Appended, Draft, SessionId, new_id
from placet.testing.facts import BY
from tests.cordis.world import CordisWorld, cordis_world
from tests.tools.test_bash import sandbox_at

pytestmark = pytest.mark.anyio


@dataclass
class Looker:
    world: CordisWorld
    checking: Checking

    async def __call__(self, host: str | None = None, client: str | None = None) -> str:
        definition = Definition("n", "p", host, client, prefix="clock")
        return await self.checking.complaint(self.world.call(), definition) or "nothing"


@asynccontextmanager
async def looker(tmp_path: Path) -> AsyncIterator[Looker]:
    sandbox = sandbox_at(tmp_path)
    folder = tmp_path / "project"
    folder.mkdir(exist_ok=True)
    async with cordis_world(tmp_path) as world:
        here = Workdir.of(folder)
        session = SessionId(new_id("s"))
        created = {"v": 1, "cwd": str(here.path), "cwdId": here.id, "title": None, "gitRoots": [], "by": BY}
        assert isinstance(await world.store.append(session, [Draft("session/created", created, "created")]), Appended)
        world.session, world.cwd = session, here.path
        yield Looker(world, Checking(sandbox))
        await sandbox.aclose()


@pytest.fixture
async def look(tmp_path: Path) -> AsyncIterator[Looker]:
    async with looker(tmp_path) as found:
        yield found


async def test_h3_code_that_can_be_read_is_not_complained_of(look: Looker) -> None:
    client = (
        "const r = /[/]}/g;\nfor await (const x of y) { await x?.z ?? 1 }\nreturn { inject: ['slots'], apply(ctx) {} }"
    )
    assert (
        await look("inject = ['files']\n\nasync def apply(ctx):\n    await ctx.files.read('a')\n", client) == "nothing"
    )


async def test_h9_a_python_error_shows_its_line_a_caret_and_the_likely_mistake(look: Looker) -> None:
    said = await look("async def apply(ctx):\n    x = (1,\n    y = 2\n")
    assert said.splitlines()[0].startswith("syntax error in the host half, line 2: '(' was never closed")
    assert said.splitlines()[1:3] == ["        x = (1,", "            ^"]
    assert "Likely: a bracket is open" in said


async def test_h9_a_javascript_error_shows_its_own_line_and_the_bracket_that_is_open(look: Looker) -> None:
    said = await look(client="const a = 1;\nconst b = foo(1,\n  2\nreturn {}")
    assert said.startswith("syntax error in the client half, line 2:")
    assert "    const b = foo(1,\n" in said and "^" in said
    assert "the bracket `(` of line 2 is never closed" in said


async def test_h9_the_word_as_gets_the_hint_that_this_is_no_typescript(look: Looker) -> None:
    said = await look(client="const x = value as number;\nreturn {}")
    assert "line 1" in said and "plain JavaScript, not TypeScript" in said


async def test_h9_an_error_next_to_the_word_as_in_a_text_is_told_the_same_way_only_where_it_stands(
    look: Looker,
) -> None:
    said = await look(client="const note = 'as you like';\nconst b = ;\nreturn {}")
    assert "line 2" in said and "TypeScript" not in said


@pytest.mark.parametrize(
    ("client", "hint"),
    [
        ("return React.createElement(<div/>)", "JSX is not JavaScript"),
        ("import x from 'y';\nreturn {}", "`import` has no place"),
        ("export default {}", "`export` has no place"),
        ("}); steal(); (async function () {", "closes nothing"),
        ("def apply(ctx):\n    pass", "looks like Python"),
        ("```js\nreturn {}\n```", "leave out the marks"),
        ("const x: string = 'a';", "no types after a colon"),
        ("return '\ud800'", "half a character"),
    ],
)
async def test_what_is_no_body_of_a_function_is_refused_with_its_likely_mistake(
    look: Looker, client: str, hint: str
) -> None:
    assert hint in await look(client=client)


@pytest.mark.parametrize(
    ("host", "hint"),
    [
        ("const x = 1;", "looks like JavaScript"),
        ("await foo()", "async def apply(ctx)"),
        ("return 1", "a host half is a module"),
        ("x = “a”", "typographic quotes"),
        ("a\0b", "NUL"),
        ("(" * 5000, "nested"),
    ],
)
async def test_what_is_no_module_is_refused_with_its_likely_mistake(look: Looker, host: str, hint: str) -> None:
    assert hint in await look(host)


async def test_a_line_without_end_is_shown_around_its_error_only(look: Looker) -> None:
    said = await look("x = [" + "1, " * 50_000 + "2 3]")
    assert len(said) < 1_000


async def test_code_that_takes_forever_to_read_is_refused_while_the_server_goes_on(look: Looker) -> None:
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await anyio.sleep(0.01)
            beats += 1

    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        said = await look("x = " + "-" * 200_000 + "1", "x = " + "[" * 200_000)
        group.cancel_scope.cancel()
    assert said != "nothing"
    assert beats > 0


async def test_a_stop_ends_the_look(look: Looker) -> None:
    signal = AbortSignal()
    signal.abort("stopped")
    call = look.world.call(signal=signal)
    said = await look.checking.complaint(call, Definition("n", "p", "x = 1", None, prefix="clock"))
    assert said is not None and "stopped" in said


async def test_attack_26_definitions_one_after_the_other_do_not_hold_the_server_up(look: Looker) -> None:
    """Large code is read in a loop; meanwhile another task of the server is answered in well under a second."""
    slowest, done = 0.0, anyio.Event()

    async def beat() -> None:
        nonlocal slowest
        while not done.is_set():
            begun = anyio.current_time()
            await look.world.store.head()
            await anyio.sleep(0.005)
            slowest = max(slowest, anyio.current_time() - begun)

    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        for _ in range(4):
            assert await look("x = [" + "1, " * 80_000 + "]", "const x = [" + "1, " * 80_000 + "];") == "nothing"
        done.set()
    assert slowest < 1.0
