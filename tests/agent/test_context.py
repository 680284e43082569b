"""What the model is told about policy and mode: one statement, again only when it changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from placet.agent import gestures
from placet.agent.context import HEAD, POLICY_TEXTS, Contribution, sandbox_text, switch_text
from placet.agent.model import UserTurn
from placet.approval.outcome import Policy
from placet.permission.knobs import Knobs
from placet.sandbox.mode import SandboxMode
from placet.session.log import SessionLog
from placet.testing.models import Say, ScriptedModel, call
from tests.agent.house import BY, house

pytestmark = pytest.mark.anyio


def statements(model: ScriptedModel, request: int) -> list[str]:
    messages = model.requests[request].messages
    return [m.text for m in messages if isinstance(m, UserTurn) and m.text.startswith(HEAD)]


async def test_g14_the_statement_travels_once_while_nothing_changes(tmp_path: Path) -> None:
    model = ScriptedModel([Say("", (call("trace", line="a"),))])
    async with house(tmp_path, model) as home:
        for _ in range(2):
            await home.send()
            await home.work()
    assert [len(statements(model, request)) for request in range(3)] == [1, 1, 1]
    assert len({request.instructions for request in model.requests}) == 1, "the instructions never change"


async def test_a21_d19_sandbox_comes_before_policy_and_bytes_are_the_same_while_unchanged(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        log = await SessionLog.open(home.store, home.session)
        statement = home.kit.context.statement(log)
        assert statement.index("Sandbox: workspace-write") < statement.index("Approval:")
        assert statement == home.kit.context.statement(log)
        assert f'"{home.cwd}"' in statement


async def test_a19_e10_a_switch_tells_the_model_old_and_new_at_the_next_wake(tmp_path: Path) -> None:
    model = ScriptedModel([])
    async with house(tmp_path, model) as home:
        await home.send()
        await home.work()
        knobs = Knobs(home.store)
        await gestures.select_preset(knobs, home.session, "danger-full-access", by=BY, key="k1")
        await home.work()
        assert len(await home.of("turn/start")) == 1, "a switch wakes nobody"
        await home.send("go on")
        await home.work()
    news = [m.text for m in model.requests[1].messages if isinstance(m, UserTurn)][-3:]
    assert news[0].startswith(HEAD) and "danger-full-access" in news[0] and "prompts are off" in news[0]
    assert news[1] == 'The approval policy changed from "ask" to "never" (changed by the user).'
    assert news[2] == "go on"


async def test_a19_selecting_what_is_in_force_says_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        before = await home.types()
        await gestures.select_preset(Knobs(home.store), home.session, "workspace-write", by=BY, key="k")
        await gestures.turn_knobs(Knobs(home.store), home.session, policy=Policy.ASK, by=BY, key="k2")
        assert await home.types() == before


async def test_d20_a_switch_of_the_mode_alone_is_no_switch_of_the_policy(tmp_path: Path) -> None:
    model = ScriptedModel([])
    async with house(tmp_path, model) as home:
        await gestures.turn_knobs(Knobs(home.store), home.session, mode=SandboxMode.READ_ONLY, by=BY, key="k")
        assert not [e for e in await home.of("agent/inbox") if "put" in e.data]
        await home.send()
        await home.work()
    assert "read-only" in statements(model, 0)[0]


async def test_a_switch_in_the_middle_of_a_turn_is_stated_at_the_next_step(tmp_path: Path) -> None:
    async def switch() -> None:
        await gestures.turn_knobs(Knobs(home.store), home.session, mode=SandboxMode.READ_ONLY, by=BY, key="k")

    model = ScriptedModel([Say("", (call("trace", line="a"),), during=switch)])
    async with house(tmp_path, model) as home:
        await home.send()
        await home.work()
    assert [len(statements(model, request)) for request in range(2)] == [1, 2]
    assert "read-only" in statements(model, 1)[1]


async def test_a_contribution_can_be_added_in_its_order_and_taken_out(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel([])) as home:
        log = await SessionLog.open(home.store, home.session)
        before = home.kit.context.statement(log)
        undo = home.kit.context.add(Contribution("weather", 112, lambda log: "It rains."))
        lines = home.kit.context.statement(log).splitlines()
        assert lines[2] == "- It rains." and len(lines) == 4
        undo()
        assert home.kit.context.statement(log) == before


def test_o1_o2_the_policy_texts_say_who_answers_and_that_prompts_are_off() -> None:
    assert "a person" in POLICY_TEXTS[Policy.ASK] and "nobody is there" in POLICY_TEXTS[Policy.ASK]
    assert "prompts are off" in POLICY_TEXTS[Policy.NEVER] and "sandbox_permissions" in POLICY_TEXTS[Policy.NEVER]


def test_o3_o4_the_texts_say_what_they_must() -> None:
    assert (
        switch_text(Policy.ASK, Policy.NEVER)
        == 'The approval policy changed from "ask" to "never" (changed by the user).'
    )
    assert "Do not refuse" in sandbox_text(SandboxMode.READ_ONLY, "/w") and "try" in sandbox_text(
        SandboxMode.READ_ONLY, "/w"
    )
    assert '"/w \\"x\\""' in sandbox_text(SandboxMode.WORKSPACE_WRITE, '/w "x"')
    assert "Nothing confines" in sandbox_text(SandboxMode.DANGER_FULL_ACCESS, "/w")
