"""The JSON Schema of a plugin's tool: which words may stand in it, and what a call's arguments must be by it.

Regular expressions are not among the words: one written by an agent would run in the server on its own text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from placet.session.codec import dumps

LARGEST, DEEPEST = 32 << 10, 12
MOST_WORK = 100_000
"""Comparisons in the check of one call: both its arguments and the schema are the agent's."""
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")
_TEXTS = ("title", "description")
WORDS = frozenset({"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
                    "minimum", "maximum", "default", "examples", *_COUNTS, *_TEXTS})  # fmt: skip


def complaint(schema: Any) -> str | None:
    """Return what is wrong with the parameters of a tool, with the path to it, or None (K7)."""
    if not isinstance(schema, dict):
        return f"parameters must be a JSON Schema object, not {type(schema).__name__}"
    if len(dumps(schema)) > LARGEST:
        return f"parameters has more than {LARGEST} bytes"
    if schema.get("type") != "object":
        return "parameters.type must be 'object': a tool takes one object"
    return _wrong(schema, "parameters", 0)


def _wrong(schema: Any, path: str, depth: int) -> str | None:
    if not isinstance(schema, dict):
        return f"{path} must be a schema (an object)"
    if depth > DEEPEST:
        return f"{path} is nested deeper than {DEEPEST} levels"
    for word in schema:
        if word not in WORDS:
            return f"{path}.{word:.40} is not supported; the words are {', '.join(sorted(WORDS))}"
    return _wrong_words(schema, path) or _wrong_parts(schema, path, depth)


def _wrong_words(schema: dict[str, Any], path: str) -> str | None:
    kinds = schema.get("type", [])
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if not isinstance(kind, str) or kind not in _TYPES:
            return f"{path}.type is {kind!r:.40}; the types are {', '.join(_TYPES)}"
    for word in _TEXTS:
        if not isinstance(schema.get(word, ""), str):
            return f"{path}.{word} must be a text"
    for word in ("minimum", "maximum", *_COUNTS):
        if not _TYPES["number"](schema.get(word, 0)):
            return f"{path}.{word} must be a number"
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return f"{path}.required must be a list of names"
    unknown = [name for name in required if name not in schema.get("properties", {})]
    if unknown:
        return f"{path}.required names {unknown[0]!r:.40}, which is not in properties"
    if "enum" in schema and not (isinstance(schema["enum"], list) and schema["enum"]):
        return f"{path}.enum must be a list of at least one value"
    return None


def _wrong_parts(schema: dict[str, Any], path: str, depth: int) -> str | None:
    properties, choices = schema.get("properties", {}), schema.get("anyOf", [])
    if not isinstance(properties, dict):
        return f"{path}.properties must be an object"
    if not isinstance(choices, list):
        return f"{path}.anyOf must be a list"
    parts = [(inner, f"{path}.properties.{name}") for name, inner in properties.items()]
    parts += [(inner, f"{path}.anyOf[{index}]") for index, inner in enumerate(choices)]
    parts += [(schema["items"], f"{path}.items")] if "items" in schema else []
    more = schema.get("additionalProperties", True)
    parts += [] if isinstance(more, bool) else [(more, f"{path}.additionalProperties")]
    return next((wrong for inner, where in parts if (wrong := _wrong(inner, where, depth + 1))), None)


class _TooMuch(Exception):
    """The check has become too long."""


class _Work:
    """Counts the comparisons of one check."""

    def __init__(self) -> None:
        self._left = MOST_WORK

    def take(self, much: int) -> None:
        """Raise `_TooMuch` once there is nothing left."""
        self._left -= much
        if self._left < 0:
            raise _TooMuch


def misfit(value: Any, schema: dict[str, Any]) -> str | None:
    """Return what about a value does not follow a sound schema, with the path to it, or None."""
    try:
        return _misfit(value, schema, "arguments", _Work())
    except _TooMuch:
        return "arguments have too many parts for this tool's schema; call it with fewer at once"


def _misfit(value: Any, schema: dict[str, Any], path: str, work: _Work) -> str | None:
    kinds = schema.get("type")
    listed = kinds if isinstance(kinds, list) else ()
    work.take(1 + len(schema.get("enum", ())) + len(listed) + len(schema.get("required", ())))
    if kinds is not None:
        names = kinds if isinstance(kinds, list) else [kinds]
        if not any(_TYPES[name](value) for name in names):
            return f"{path} must be of type {' or '.join(names)}"
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        return f"{path} must be one of {dumps(schema['enum'])[:200]}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{path} must be {dumps(schema['const'])[:200]}"
    choices = schema.get("anyOf")
    if choices and all(_misfit(value, choice, path, work) for choice in choices):
        return _misfit(value, choices[0], path, work)
    if isinstance(value, dict):
        return _misfit_object(value, schema, path, work)
    if isinstance(value, list):
        return _misfit_list(value, schema, path, work)
    return _misfit_plain(value, schema, path)


def _misfit_object(value: dict[str, Any], schema: dict[str, Any], path: str, work: _Work) -> str | None:
    properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", []):
        if name not in value:
            return f"{path}.{name} is missing"
    for name, inner in value.items():
        if name in properties:
            wrong = _misfit(inner, properties[name], f"{path}.{name:.40}", work)
        elif more is False:
            wrong = f"{path}.{name:.40} is not known; the names are {', '.join(properties) or 'none'}"
        else:
            wrong = _misfit(inner, more, f"{path}.{name:.40}", work) if isinstance(more, dict) else None
        if wrong is not None:
            return wrong
    return None


def _misfit_list(value: list[Any], schema: dict[str, Any], path: str, work: _Work) -> str | None:
    if len(value) < schema.get("minItems", 0):
        return f"{path} needs at least {schema['minItems']} items"
    if len(value) > schema.get("maxItems", len(value)):
        return f"{path} may have {schema['maxItems']} items at most"
    items = schema.get("items")
    if items is None:
        return None
    wrongs = (_misfit(inner, items, f"{path}[{index}]", work) for index, inner in enumerate(value))
    return next((wrong for wrong in wrongs if wrong is not None), None)


def _misfit_plain(value: Any, schema: dict[str, Any], path: str) -> str | None:
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            return f"{path} needs at least {schema['minLength']} characters"
        if len(value) > schema.get("maxLength", len(value)):
            return f"{path} may have {schema['maxLength']} characters at most"
    elif _TYPES["number"](value):
        if value < schema.get("minimum", value):
            return f"{path} must be at least {schema['minimum']}"
        if value > schema.get("maximum", value):
            return f"{path} must be at most {schema['maximum']}"
    return None


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
