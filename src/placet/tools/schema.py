"""From a pydantic model to what a language model reads: its schema without ornaments, its complaints in one line."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

_ORNAMENTS = frozenset({"title", "default", "discriminator"})


@cache
def schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the model's JSON Schema without ornaments, nested models in their place."""
    made = model.model_json_schema()
    plain: dict[str, Any] = _plain(made, made.get("$defs", {}))
    return {
        "type": "object",
        "properties": plain.get("properties", {}),
        "required": plain.get("required", []),
        "additionalProperties": False,
    }


def _plain(part: Any, models: dict[str, Any]) -> Any:
    """Return a part of a schema with each reference replaced by what it names."""
    if isinstance(part, list):
        return [_plain(each, models) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        named = models[part["$ref"].rpartition("/")[2]]
        return _plain({**named, **{key: each for key, each in part.items() if key != "$ref"}}, models)
    return {
        key: {name: _plain(field, models) for name, field in each.items()}
        if key == "properties"
        else _plain(each, models)
        for key, each in part.items()
        if key not in _ORNAMENTS
    }


def complaints(failure: ValidationError) -> str:
    """Return the first complaints about arguments, in one line."""
    return "; ".join(_complaint(error) for error in failure.errors()[:3])


def _complaint(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"]) or "arguments"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}"
