"""From a pydantic model to what a language model reads: its schema without ornaments, its complaints in one line."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError


@cache
def schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the model's JSON Schema without what a language model does not need."""
    made = model.model_json_schema()
    fields = {
        name: {key: part for key, part in field.items() if key not in ("title", "default")}
        for name, field in made["properties"].items()
    }
    return {
        "type": "object",
        "properties": fields,
        "required": made.get("required", []),
        "additionalProperties": False,
    }


def complaints(failure: ValidationError) -> str:
    """Return the first complaints about arguments, in one line."""
    return "; ".join(_complaint(error) for error in failure.errors()[:3])


def _complaint(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"]) or "arguments"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}"
