"""The protocols hold in every reachable state, and each of their rules is needed."""

from __future__ import annotations

import os

import pytest

from tests.model.ask import Ask
from tests.model.calls import Calls
from tests.model.cordis import Cordis
from tests.model.explore import Model, explore
from tests.model.fleet import Fleet

SOAK = os.environ.get("PLACET_SOAK") == "1"
KINDS: tuple[type[Model], ...] = (Ask, Calls, Fleet, Cordis)
LARGE = {("ask", "storm"), ("fleet", "both")} | {
    ("cordis", name) for name in ("races", "stop", "undefine", "crash", "crash2")
}
SCENARIOS = [
    pytest.param(kind, name, marks=[pytest.mark.soak] if (kind.title, name) in LARGE else [], id=f"{kind.title}-{name}")
    for kind in KINDS
    for name in kind.scenarios
]
RULES = [pytest.param(kind, rule, id=f"{kind.title}-{rule}") for kind in KINDS for rule in kind.fixes]


@pytest.mark.parametrize(("kind", "scenario"), SCENARIOS)
def test_every_reachable_state_keeps_the_promises(kind: type[Model], scenario: str) -> None:
    budget = kind.scenarios[scenario]
    report = explore(kind(kind.fixes, **budget), seconds=600)
    assert report.complete
    if budget.get("limit"):
        assert report.violations, "a limit that no rule prevents should be shown"
    else:
        assert report.violations == {}


@pytest.mark.parametrize("kind", KINDS[:3] if not SOAK else KINDS, ids=lambda kind: str(kind.title))
def test_the_model_does_what_it_is_about(kind: type[Model]) -> None:
    """A model that does nothing proves nothing: each of its witnesses is reached in some scenario."""
    missing = set(kind.witnesses)
    for budget in kind.scenarios.values():
        if missing:
            model = kind(kind.fixes, **budget)
            model.witnesses = {name: kind.witnesses[name] for name in missing}
            missing -= explore(model, limit=3_000_000 if SOAK else 60_000, seconds=600).seen
    assert missing == set()


@pytest.mark.parametrize(("kind", "rule"), RULES)
def test_each_rule_is_needed(kind: type[Model], rule: str) -> None:
    """Without it, and with all others, some promise breaks."""
    first = kind.shown_by.get(rule)
    for name, budget in sorted(kind.scenarios.items(), key=lambda item: item[0] != first):
        if budget.get("limit"):
            continue
        if explore(kind(set(kind.fixes) - {rule}, **budget), first=True, seconds=300).violations:
            return
        assert first is None or name != first, f"{name} does not show why {rule} is needed"
    pytest.fail(f"no scenario shows why {rule} is needed")
