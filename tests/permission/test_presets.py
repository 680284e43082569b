"""Presets and knobs (contract E, design 7)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from placet.approval import Policy
from placet.permission import (
    CUSTOM,
    DEFAULT,
    PERMISSIONS,
    PRESETS,
    Change,
    Knobs,
    PermissionFold,
    Permissions,
    UnknownMode,
    UnknownPreset,
    describe,
    missing_facts,
    mode_named,
    pinned,
)
from placet.sandbox.mode import ModeFold, SandboxMode
from placet.session import Draft, SessionId, UnknownSession, folded, new_id
from placet.session.stores.sqlite import SqliteStore
from placet.testing.clock import ManualClock
from tests.approval.world import BY, a_store, one

pytestmark = pytest.mark.anyio

RO, WW, FULL = SandboxMode.READ_ONLY, SandboxMode.WORKSPACE_WRITE, SandboxMode.DANGER_FULL_ACCESS


class House:
    """A store with one session that has its three facts."""

    def __init__(self, store: SqliteStore) -> None:
        self.store, self.knobs = store, Knobs(store)
        self.session = SessionId(new_id("s"))
        self.count = 0

    async def open(self, preset: str = DEFAULT, policy: Policy | None = None) -> House:
        created = {"v": 1, "cwd": "/x", "cwdId": "1:2", "title": None, "gitRoots": [], "by": BY}
        facts = pinned(preset, by=BY, key="first", policy=policy)
        one(await self.store.append(self.session, [Draft("session/created", created, "created"), *facts]))
        return self

    async def facts(self) -> list[tuple[str, str]]:
        """Return what was written after the session began."""
        names = {"permission/preset": "preset", "sandbox/mode": "mode", "approval/policy": "policy"}
        return [(names[e.type], e.data[names[e.type]]) for e in await self.store.read(self.session, after=3)]

    async def select(self, preset: str, **more: object) -> Change:
        self.count += 1
        return await self.knobs.select(self.session, preset, by=BY, key=f"k{self.count}", **more)  # type: ignore[arg-type]

    async def turn(self, **more: object) -> Change:
        self.count += 1
        return await self.knobs.turn(self.session, by=BY, key=f"k{self.count}", **more)  # type: ignore[arg-type]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with a_store(tmp_path, ManualClock()) as store:
        yield await House(store).open()


def test_e1_e2_the_table_and_its_order() -> None:
    assert [(p.value, p.mode, p.policy) for p in PRESETS] == [
        ("read-only", RO, Policy.ASK),
        ("workspace-write", WW, Policy.ASK),
        ("danger-full-access", FULL, Policy.NEVER),
    ]
    assert DEFAULT == "workspace-write"


async def test_e3_the_record_comes_first_and_then_only_the_knobs_that_change(house: House) -> None:
    await house.select("read-only")
    assert await house.facts() == [("preset", "read-only"), ("mode", "read-only")]
    await house.select("danger-full-access")
    assert (await house.facts())[2:] == [
        ("preset", "danger-full-access"),
        ("mode", "danger-full-access"),
        ("policy", "never"),
    ]


async def test_e4_selecting_the_effective_preset_appends_nothing(house: House) -> None:
    change = await house.select("workspace-write")
    assert (change.drafts, await house.facts()) == ((), [])


async def test_e4_selecting_it_again_after_a_drift_records_it_and_repairs_only_the_drifted_knob(house: House) -> None:
    await house.turn(policy=Policy.NEVER)
    assert (await house.knobs.state(house.session)).current == CUSTOM
    await house.select("workspace-write")
    assert (await house.facts())[1:] == [("preset", "workspace-write"), ("policy", "ask")]


@pytest.mark.parametrize(
    ("recorded", "mode", "policy", "current"),
    [
        ("workspace-write", WW, Policy.ASK, "workspace-write"),
        ("read-only", WW, Policy.ASK, "workspace-write"),
        (None, RO, Policy.ASK, "read-only"),
        ("danger-full-access", FULL, Policy.NEVER, "danger-full-access"),
        ("danger-full-access", FULL, Policy.ASK, CUSTOM),
        ("workspace-write", WW, Policy.NEVER, CUSTOM),
        ("gone", RO, Policy.NEVER, CUSTOM),
    ],
)
def test_e5_the_current_preset_is_derived(
    recorded: str | None, mode: SandboxMode, policy: Policy, current: str
) -> None:
    assert Permissions(recorded, mode, policy).current == current


async def test_e6_custom_cannot_be_selected_and_is_an_option_only_while_it_is_current(house: House) -> None:
    with pytest.raises(UnknownPreset, match="read-only, workspace-write, danger-full-access"):
        await house.select(CUSTOM)
    assert await house.facts() == []
    shown = (await house.knobs.state(house.session)).json()
    assert [o["value"] for o in shown["options"]] == [p.value for p in PRESETS]
    await house.turn(policy=Policy.NEVER)
    shown = (await house.knobs.state(house.session)).json()
    assert (shown["options"][-1]["value"], shown["currentValue"]) == (CUSTOM, CUSTOM)


async def test_d3_e8_a_new_session_is_pinned_by_three_facts(house: House) -> None:
    events = await house.store.read(house.session)
    assert [e.type for e in events] == ["session/created", "permission/preset", "sandbox/mode", "approval/policy"]
    later = PermissionFold(FULL, Policy.NEVER)
    assert folded(later, events) == Permissions("workspace-write", WW, Policy.ASK)


async def test_e8_a_policy_of_its_own_makes_a_session_custom(tmp_path: Path) -> None:
    async with a_store(tmp_path, ManualClock()) as store:
        house = await House(store).open("workspace-write", Policy.NEVER)
        assert (await house.knobs.state(house.session)).current == CUSTOM


def test_e9_an_older_log_gets_only_the_facts_that_it_lacks() -> None:
    state = Permissions(None, WW, Policy.ASK)
    assert [d.type for d in missing_facts(set(), state, by=BY, key="k")] == [
        "permission/preset",
        "sandbox/mode",
        "approval/policy",
    ]
    assert [d.type for d in missing_facts({"sandbox/mode", "permission/preset"}, state, by=BY, key="k")] == [
        "approval/policy"
    ]
    assert missing_facts({"sandbox/mode", "approval/policy"}, Permissions(None, WW, Policy.NEVER), by=BY, key="k") == []


@pytest.mark.parametrize("name", ["", "Workspace-Write", "root", None, 3])
async def test_e10_a18_unknown_names_are_refused_and_nothing_is_written(house: House, name: object) -> None:
    with pytest.raises(UnknownPreset):
        await house.select(name)  # type: ignore[arg-type]
    with pytest.raises(UnknownMode):
        mode_named(name)
    assert await house.facts() == []


async def test_an_unknown_session_is_an_error(house: House) -> None:
    with pytest.raises(UnknownSession):
        await house.knobs.select(SessionId("s-nothing"), "read-only", by=BY, key="k")


async def test_a19_what_belongs_to_the_switch_goes_into_the_same_append(house: House) -> None:
    seen: list[Change] = []

    def tell(change: Change) -> list[Draft]:
        seen.append(change)
        assert change.policy is not None
        old, new = change.policy
        put = {
            "id": "m-1",
            "target": "next-step",
            "wake": False,
            "text": f"{old} -> {new}",
            "source": {"kind": "system"},
        }
        return [Draft("agent/inbox", {"put": put}, "put:m-1")]

    commits = house.store.commits
    await house.select("danger-full-access", also=tell)
    assert house.store.commits == commits + 1
    events = await house.store.read(house.session, after=3)
    assert events[-1].data["put"]["text"] == "ask -> never"
    await house.turn(policy=Policy.NEVER, also=tell)
    assert len(seen) == 1


async def test_d7_d20_one_knob_turns_without_the_other(house: House) -> None:
    await house.turn(mode=RO)
    assert await house.facts() == [("mode", "read-only")]
    await house.turn(policy=Policy.NEVER)
    state = await house.knobs.state(house.session)
    assert (state.mode, state.policy) == (RO, Policy.NEVER)


async def test_the_same_key_again_changes_nothing(house: House) -> None:
    await house.knobs.select(house.session, "read-only", by=BY, key="same")
    await house.knobs.select(house.session, "workspace-write", by=BY, key="other")
    change = await house.knobs.select(house.session, "read-only", by=BY, key="same")
    assert change.drafts == ()
    assert (await house.knobs.state(house.session)).current == "workspace-write"


async def test_what_is_switched_carries_who_did_it(house: House) -> None:
    await house.select("danger-full-access")
    assert all(e.data["by"] == BY for e in await house.store.read(house.session, after=3))


def test_a_change_knows_whether_it_narrows() -> None:
    full, ro = Permissions(None, FULL, Policy.NEVER), Permissions(None, RO, Policy.ASK)
    assert Change(full, ro, ()).narrows
    assert not Change(ro, full, ()).narrows
    assert not Change(ro, ro, ()).narrows


async def test_pol_05_of_two_quick_changes_the_last_accepted_one_wins(house: House) -> None:
    """The first write is slow; the second one, of the same process, waits for it."""
    append = house.store.append
    reached, go_on = anyio.Event(), anyio.Event()

    async def slow(*args: object, **more: object) -> object:
        house.store.append = append  # type: ignore[method-assign]
        reached.set()
        await go_on.wait()
        return await append(*args, **more)  # type: ignore[arg-type]

    house.store.append = slow  # type: ignore[assignment,method-assign]
    async with anyio.create_task_group() as group:
        group.start_soon(house.select, "danger-full-access")
        await reached.wait()
        group.start_soon(house.select, "workspace-write")
        go_on.set()
    state = await house.knobs.state(house.session)
    assert (state.current, state.mode, state.policy) == ("workspace-write", WW, Policy.ASK)


async def test_pol_05_a_change_of_another_process_in_between_is_repaired(house: House, tmp_path: Path) -> None:
    """Both read read-only; one writes full access, the other workspace-write: the later record is whole."""
    await house.select("read-only")
    async with a_store(tmp_path, ManualClock()) as other:
        elsewhere = Knobs(other)
        append = house.store.append

        async def overtaken(*args: object, **more: object) -> object:
            house.store.append = append  # type: ignore[method-assign]
            await elsewhere.select(house.session, "danger-full-access", by=BY, key="elsewhere")
            return await append(*args, **more)  # type: ignore[arg-type]

        house.store.append = overtaken  # type: ignore[assignment,method-assign]
        await house.select("workspace-write")
    state = await house.knobs.state(house.session)
    assert (state.current, state.recorded) == ("workspace-write", "workspace-write")
    assert (await house.facts())[-1] == ("policy", "ask")


def test_pol_03_each_entry_says_what_becomes_of_an_action_that_needs_approval() -> None:
    for preset in PRESETS[:2]:
        assert "you are asked" in preset.description
    assert "never asked" in PRESETS[2].description and "sandbox is off" in PRESETS[2].description
    assert "refused" in describe(WW, Policy.NEVER) and "asked before" not in describe(WW, Policy.NEVER)
    assert "nothing is left to ask" in describe(FULL, Policy.ASK)


def test_the_fold_agrees_with_the_folds_of_the_two_rooms(tmp_path: Path) -> None:
    from placet.approval import PolicyFold
    from placet.session import Event

    events = [
        Event(SessionId("s"), n, 0, kind, data, f"k:{n}", n)
        for n, (kind, data) in enumerate(
            [
                ("sandbox/mode", {"mode": "read-only"}),
                ("approval/policy", {"policy": "never"}),
                ("permission/preset", {"preset": "read-only"}),
                ("sandbox/mode", {"mode": "danger-full-access"}),
            ]
        )
    ]
    state = folded(PERMISSIONS, events)
    assert (state.mode, state.policy) == (folded(ModeFold(), events), folded(PolicyFold(), events))
