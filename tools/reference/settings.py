"""The page of all settings, from the classes that parse them."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from placet.app.config import ENVIRONMENT, FLAGS, Settings
from tools.reference.markdown import code, heading, table

INTRODUCTION = """
A setting comes from a flag, else from a variable of the environment, else from `config.toml`, else it has its default.
`config.toml` lies in `$XDG_CONFIG_HOME/placet/` (mostly `~/.config/placet/`), or in `$PLACET_HOME` if that is set;
nothing is read from a workspace. Keys of model vendors come from the environment only (`OPENAI_API_KEY`,
`ANTHROPIC_API_KEY`, `DEEPSEEK_API_KEY` and so on): the file has no place for them.
"""


def page() -> str:
    """Return docs/reference/settings.md."""
    variables = {".".join(path): name for name, path in ENVIRONMENT.items()}
    rows = [
        (code(name), meaning, values, code(default), code(variables.get(name, "")), code(FLAGS.get(name, "")))
        for name, meaning, values, default in _settings(Settings, "")
    ]
    columns = ("setting", "meaning", "values", "default", "variable", "flag")
    return heading("Settings", INTRODUCTION) + "\n" + table(columns, rows)


def _settings(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    for name, field in model.model_fields.items():
        below = _model_in(field.annotation)
        if below is None:
            yield prefix + name, field.description or "", _values(field.annotation), _default(field)
        elif get_origin(field.annotation) is Mapping:
            yield from _settings(below, f'{prefix}{name}."PATH".')
        else:
            yield from _settings(below, f"{prefix}{name}.")


def _model_in(kind: Any) -> type[BaseModel] | None:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    found = [model for model in map(_model_in, get_args(kind)) if model is not None]
    return found[0] if found else None


def _values(kind: Any) -> str:
    origin = get_origin(kind)
    if origin is Literal:
        return ", ".join(code(value) for value in get_args(kind))
    if origin in (Union, types.UnionType):
        return ", ".join(_values(part) for part in get_args(kind) if part is not type(None))
    if origin is tuple:
        return "list of texts"
    names = {bool: "`true`, `false`", int: "number", float: "number", str: "text"}
    return names.get(kind, _values(get_args(kind)[0]) if get_args(kind) else str(kind))


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
