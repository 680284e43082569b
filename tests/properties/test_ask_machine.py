"""Whatever happens, in whatever order, the rules of an ask hold (model `ask`)."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from placet.session.stores.sqlite import SqliteStore
from placet.testing.clock import ManualClock
from tests.properties.ask_machine import AskMachine

SOAK = os.environ.get("PLACET_SOAK") == "1"


def test_the_rules_of_an_ask_hold_whatever_happens(tmp_path: Path) -> None:
    clock = ManualClock()
    with asyncio.Runner() as runner:
        store = runner.run(SqliteStore.open(tmp_path / "placet.db", clock=clock))
        folder = tmp_path / "work"
        folder.mkdir()

        class Machine(AskMachine):
            pass

        Machine.runner, Machine.store, Machine.clock, Machine.folder = runner, store, clock, folder.resolve()
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=2000 if SOAK else 30,
                stateful_step_count=25,
                deadline=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            ),
        )
        runner.run(store.aclose())
