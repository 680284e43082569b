"""Ids and keys."""

from __future__ import annotations

import re

from placet.session import keys, new_ask_id, new_id, new_message_id, new_session_id
from placet.testing.clock import ManualClock


def test_ids_have_a_prefix_and_26_characters() -> None:
    for made, prefix in ((new_session_id(), "s"), (new_ask_id(), "a"), (new_message_id(), "m")):
        assert re.fullmatch(rf"{prefix}-[0-9a-hjkmnp-tv-z]{{26}}", made)


def test_ids_sort_by_time() -> None:
    clock = ManualClock()
    made = []
    for _ in range(50):
        made.append(new_id("s", clock))
        clock.tick(0.001)
    assert made == sorted(made)


def test_ids_of_one_moment_differ() -> None:
    clock = ManualClock()
    assert len({new_id("s", clock) for _ in range(10_000)}) == 10_000


def test_the_keys_are_those_of_the_table() -> None:
    assert [
        keys.created(),
        keys.turn(1),
        keys.abort(1),
        keys.end(1),
        keys.step(1, 2),
        keys.step_end(1, 2),
        keys.assistant(1, 2),
        keys.model_failed(1, 2, 3),
        keys.call(1, 2, 3),
        keys.started(1, 2, 3),
        keys.result(1, 2, 3),
        keys.put("m-1"),
        keys.message("m-1"),
        keys.take(1, 2),
        keys.client("renamed", "k"),
    ] == [
        "created", "turn:1", "abort:1", "end:1", "step:1.2", "step-end:1.2", "assistant:1.2", "model-failed:1.2.3",
        "call:1.2.3", "started:1.2.3", "result:1.2.3", "put:m-1", "message:m-1", "take:1.2", "renamed:k",
    ]  # fmt: skip


def test_a_clients_key_cannot_break_out_of_its_kind() -> None:
    assert keys.client("renamed", "\x00\ud800") == "renamed:\\u0000\\ud800"
