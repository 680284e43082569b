"""Which mode is wider than which, and what counts as the same action (design 7)."""

from __future__ import annotations

import pytest

from placet.permission import TARGETS, WIDER_MODES, Verdict, judge, likeness
from placet.permission.preset import PRESETS
from placet.sandbox.mode import SandboxMode

RO, WW, FULL = SandboxMode.READ_ONLY, SandboxMode.WORKSPACE_WRITE, SandboxMode.DANGER_FULL_ACCESS


def test_the_widening_table() -> None:
    assert {RO: {WW, FULL}, WW: {FULL}, FULL: set()} == WIDER_MODES
    assert TARGETS == (WW, FULL)


@pytest.mark.parametrize(
    ("current", "requested", "verdict"),
    [
        (RO, RO, Verdict.RUNS),
        (RO, WW, Verdict.ASKS),
        (RO, FULL, Verdict.ASKS),
        (WW, RO, Verdict.NARROWER),
        (WW, WW, Verdict.RUNS),
        (WW, FULL, Verdict.ASKS),
        (FULL, RO, Verdict.NARROWER),
        (FULL, WW, Verdict.NARROWER),
        (FULL, FULL, Verdict.RUNS),
    ],
)
def test_esc_05_the_nine_combinations(current: SandboxMode, requested: SandboxMode, verdict: Verdict) -> None:
    assert judge(current, requested) is verdict


def test_every_preset_has_a_mode_of_the_table() -> None:
    assert {preset.mode for preset in PRESETS} == set(WIDER_MODES)


def same(one: str, other: str, **more: str) -> bool:
    return likeness("bash", one, **more) == likeness("bash", other, **more)


def test_what_is_said_about_a_command_does_not_make_it_another_one() -> None:
    assert same('{"command":"ls"}', '{"command": "ls", "description": "List", "timeoutMs": 5, "workdir": "."}')
    assert same('{"command":"ls"}', '{"command":"ls","justification":"x","sandbox_permissions":"workspace-write"}')


def test_another_command_tool_folder_or_mode_is_another_action() -> None:
    assert not same('{"command":"ls"}', '{"command":"ls "}')
    assert likeness("bash", "{}") != likeness("sh", "{}")
    assert likeness("bash", "{}", "/a") != likeness("bash", "{}", "/b")
    assert likeness("bash", "{}", "/a", "workspace-write") != likeness("bash", "{}", "/a", "danger-full-access")


def test_arguments_that_cannot_be_parsed_are_compared_as_text() -> None:
    assert same("{", "{")
    assert not same("{", "{{")
    assert not same('{"n":1152921504606846977}', '{"n":1152921504606846976}')
