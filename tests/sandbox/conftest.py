"""Rigs for the tests of the sandbox: one backend each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from placet.sandbox import Bubblewrap, Landlock
from placet.testing.backends import Rig, rig
from tests.conftest import missing


@pytest.fixture
def bubblewrap(needs_bubblewrap: str) -> Iterator[Rig]:
    """A rig confined by bubblewrap."""
    with rig(lambda state: [Bubblewrap(state, needs_bubblewrap)]) as made:
        yield made


@pytest.fixture
def landlock() -> Iterator[Rig]:
    """A rig confined by Landlock; skips where the kernel has none that is new enough."""
    with rig(lambda state: [Landlock(state)]) as made:
        report = made.sandbox.selection.report()["backends"][0]
        if not report["usable"]:
            missing("landlock", report["why"])
        yield made


@pytest.fixture(params=["bubblewrap", "landlock"])
def confined(request: pytest.FixtureRequest) -> Rig:
    """A rig of each backend in turn."""
    found: Rig = request.getfixturevalue(request.param)
    return found
