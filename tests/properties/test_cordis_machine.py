"""Whatever happens to a plugin, in whatever order, the rules of Cordis hold (model `cordis`)."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.properties.cordis_machine import CordisMachine

SOAK = os.environ.get("PLACET_SOAK") == "1"


def test_the_rules_of_a_plugin_hold_whatever_happens(tmp_path: Path) -> None:
    with asyncio.Runner() as runner:

        class Machine(CordisMachine):
            pass

        Machine.runner, Machine.folder = runner, tmp_path
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=600 if SOAK else 25,
                stateful_step_count=25,
                deadline=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            ),
        )
