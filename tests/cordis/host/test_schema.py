"""The schemas of plugins' tools: a check of arguments that are the agent's, too, takes a bounded time."""

from __future__ import annotations

from typing import Any

import pytest

from placet.cordis.host.services.schema import MOST_WORK, complaint, misfit

WIDE: dict[str, Any] = {"anyOf": [{"type": "null"}] * 900 + [{"type": "integer"}]}
ENUM: dict[str, Any] = {"enum": [*range(4_000), "a"]}
KINDS: dict[str, Any] = {"type": ["null"] * 3_000 + ["string"]}
NAMES: dict[str, Any] = {"type": "object", "properties": {"a": {}}, "required": ["a"] * 3_000}


def of_list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": "array", "items": items}}}


@pytest.mark.parametrize(
    ("items", "value"),
    [(WIDE, 0), (ENUM, "a"), (KINDS, "a"), (NAMES, {"a": 1})],
    ids=["any-of", "enum", "types", "required"],
)
def test_arguments_that_take_too_long_to_check_are_refused_with_what_to_do(items: dict[str, Any], value: Any) -> None:
    schema = of_list(items)
    assert complaint(schema) is None
    assert misfit({"a": [value] * 10}, schema) is None
    assert "fewer at once" in (misfit({"a": [value] * 100_000}, schema) or "")


def test_a_long_list_of_plain_values_is_checked_to_its_end() -> None:
    schema = of_list({"type": "integer"})
    values: list[Any] = [0] * (MOST_WORK - 10)
    assert misfit({"a": values}, schema) is None
    assert misfit({"a": [*values, "x"]}, schema) == f"arguments.a[{len(values)}] must be of type integer"
