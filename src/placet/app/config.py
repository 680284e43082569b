"""Configuration: flag, then PLACET_* variable, then config.toml, then default; parsed once, here.

Nothing is read from a workspace or a `.env`, and keys of model vendors come from the environment only: the file has no
place for them.
"""

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from placet.app.errors import ConfigRefused
from placet.app.places import Places, account_name

ENVIRONMENT: Mapping[str, tuple[str, ...]] = {
    "PLACET_PORT": ("port",),
    "PLACET_MODEL": ("model", "name"),
    "PLACET_BASE_URL": ("model", "base_url"),
    "PLACET_DEFAULT_PRESET": ("default_preset",),
    "PLACET_RESPONDERS": ("asks", "responders"),
    "PLACET_ASK_DEADLINE": ("asks", "deadline_seconds"),
    "PLACET_OPEN_ASKS": ("asks", "open_limit"),
    "PLACET_SANDBOX": ("sandbox", "backend"),
    "PLACET_NETWORK": ("sandbox", "network"),
}
"""Each variable of the environment that is a setting, and the setting's place."""

FLAGS: Mapping[str, str] = {"port": "--port", "model.name": "--model", "default_preset": "--preset"}
"""The flag of each setting that has one."""

LARGEST_FILE = 1 << 20
"""Bytes of config.toml at most."""

RESPONDERS = ("inbox",)
"""Who can stand in the chain."""

Network = Literal["open", "none"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Asks(_Table):
    """`[asks]`: who is asked, how long, and how many asks one session may have open."""

    responders: tuple[str, ...] = Field(("inbox",), min_length=1)
    """Order of the chain; the first that answers decides."""
    deadline_seconds: Annotated[float, Field(gt=0)] | None = None
    """After so long an ask ends `unavailable`, detail `expired`; none by default."""
    open_limit: Annotated[int, Field(ge=1, le=10_000)] = 100
    """More open asks than this in one session end the call with an error."""
    weak_socket_answers: bool = True
    """Whether answers over the socket count after a command has run with full access."""

    @field_validator("responders")
    @classmethod
    def _known_responders(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in RESPONDERS:
                raise ValueError(f"{name!r} is not a responder. There are: {', '.join(RESPONDERS)}")
        if len(set(names)) != len(names):
            raise ValueError("a responder stands in the order once")
        return names


class SandboxSettings(_Table):
    """`[sandbox]`: what holds the commands."""

    backend: Literal["auto", "bubblewrap", "landlock", "seatbelt", "none"] = "auto"
    """Which way to confine commands; `auto` takes the first that works, `none` runs no confined command at all."""
    network: Network = "open"
    """Which network confined commands reach."""
    hide: tuple[str, ...] = ()
    """More paths that confined commands shall not see, beside the built-in list (bubblewrap only)."""
    show: tuple[str, ...] = ()
    """Paths of the built-in hide list that confined commands may see after all."""
    unix_sockets: bool = False
    """Whether confined commands may open Unix sockets; they lead out of the sandbox."""
    old_landlock: bool = False
    """Whether Landlock ABI 3 to 5 may be used, where a command can stop placet."""
    processes: Annotated[int, Field(ge=16, le=1_000_000)] = 2_000
    """Processes that one confined command may have at once, with all that it starts; one with more is ended."""
    memory_mib: Annotated[int, Field(ge=64)] | None = None
    """MiB of memory that one confined command may have, with all that it starts; by default 3/4 of the machine's."""
    control_groups: bool = True
    """Whether the kernel keeps these bounds by control groups, where placet was given one (`placet doctor` says)."""
    watch_denials: bool = False
    """Whether, under Landlock, what commands try to write is watched, so that a denial is found where a command says
    nothing of it. Each such call then takes some 50 microseconds longer, and an attempt that was not what made the
    command fail can be taken for its reason."""
    background_jobs: bool = True
    """Whether an agent may let commands run in the background, over several turns and without a time limit."""

    @field_validator("hide", "show")
    @classmethod
    def _absolute(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        for path in paths:
            if not Path(path).is_absolute() and not path.startswith("~/"):
                raise ValueError(f"{path!r} must begin with / or ~/")
        return paths


class WorkspaceSettings(_Table):
    """`[workspaces."/path"]`: what differs in one workspace; kept here, never in the workspace itself."""

    network: Network | None = None
    """Instead of `sandbox.network`."""
    unix_sockets: bool | None = None
    """Instead of `sandbox.unix_sockets`."""


class ModelSettings(_Table):
    """`[model]`: which model answers in new sessions."""

    name: str | None = None
    """Default: the first vendor whose key is in the environment, else `rehearsal`."""
    base_url: str | None = None
    """The address of an OpenAI-compatible endpoint, for `openai:...` and `openai-compatible:...`."""

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the address must begin with http:// or https://")
        if parts.username or parts.password or parts.query:
            raise ValueError("the address must hold no name, key or query")
        return url


class Settings(_Table):
    """Everything that config.toml may hold."""

    port: Annotated[int, Field(ge=0, le=65_535)] = 7395
    """Where the page is served on loopback; 0 takes any free port."""
    default_preset: str = "workspace-write"
    """The preset of new sessions."""
    open_browser: bool = True
    """Whether `placet web` opens the browser, where there is one."""
    model: ModelSettings = Field(default_factory=ModelSettings)
    """Which model answers."""
    asks: Asks = Field(default_factory=Asks)
    """Who is asked, and for how long."""
    sandbox: SandboxSettings = Field(default_factory=SandboxSettings)
    """What holds the commands."""
    workspaces: Mapping[str, WorkspaceSettings] = Field(default_factory=dict)
    """What differs in one workspace."""

    @field_validator("default_preset")
    @classmethod
    def _known_preset(cls, name: str) -> str:
        from placet.permission.preset import PRESETS

        names = [preset.value for preset in PRESETS]
        if name not in names:
            raise ValueError(f"{name!r} is not a preset. Choose one of: {', '.join(names)}")
        return name


@dataclass(frozen=True, slots=True)
class Config:
    """The settings in force, the places, and what was taken from the environment at start."""

    places: Places
    settings: Settings
    environ: Mapping[str, str] = field(repr=False)
    umask: int = 0o022
    """The umask of whoever started placet; commands of the agent get it, placet itself runs with 077."""

    @property
    def account(self) -> str:
        """The account that placet runs as; the terminal's answers carry it."""
        return account_name(os.geteuid())


def load(environ: Mapping[str, str], flags: Mapping[str, object] | None = None, *, umask: int = 0o022) -> Config:
    """The configuration in force; `flags` maps a setting's dotted name to the value of a given flag (None: not given).

    Raises `ConfigRefused` with one line that names the file, variable or flag and the key.
    """
    places = Places.find(environ)
    merged: dict[str, Any] = {}
    origins: dict[tuple[str, ...], str] = {}
    for path, value in _leaves(_read_file(places.config_file)):
        _put(merged, origins, path, value, str(places.config_file))
    for name, path in ENVIRONMENT.items():
        if environ.get(name, "") != "":
            value = environ[name].split(",") if path[-1] == "responders" else environ[name]
            _put(merged, origins, path, value, name)
    for dotted, value in (flags or {}).items():
        if value is not None:
            _put(merged, origins, tuple(dotted.split(".")), value, FLAGS.get(dotted, f"--{dotted}"))
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise _refusal(error, origins, places.config_file) from error
    return Config(places, settings, environ, umask)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_content(path).decode())
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise ConfigRefused(f"{path} is not valid TOML", why=str(error), hint="Mend that line", code=2) from error
    except UnicodeDecodeError as error:
        raise ConfigRefused(f"{path} is not UTF-8 text", hint="Save it as UTF-8", code=2) from error
    except OSError as error:
        raise ConfigRefused(f"{path} cannot be read", why=error.strerror or str(error), code=2) from error


def _content(path: Path) -> bytes:
    """The bytes of the file; waits for nobody, and takes nothing but a regular file of bounded size."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise ConfigRefused(f"{path} is not a regular file", hint="Move it away, or make it one", code=2)
        if facts.st_uid not in (os.geteuid(), 0):
            owner = account_name(facts.st_uid)
            raise ConfigRefused(f"{path} belongs to {owner}", hint="Make it yours, or move it away", code=2)
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(LARGEST_FILE + 1)
    finally:
        os.close(descriptor)
    if len(content) > LARGEST_FILE:
        raise ConfigRefused(
            f"{path} is larger than a configuration can be", why=f"At most {LARGEST_FILE:,} bytes are read", code=2
        )
    return content


def _leaves(table: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in table.items():
        path = (*prefix, key)
        found += _leaves(value, path) if isinstance(value, dict) and value else [(path, value)]
    return found


def _put(
    merged: dict[str, Any], origins: dict[tuple[str, ...], str], path: tuple[str, ...], value: object, origin: str
) -> None:
    table = merged
    for key in path[:-1]:
        below = table.setdefault(key, {})
        if not isinstance(below, dict):
            return
        table = below
    table[path[-1]] = value
    origins[path] = origin


def _refusal(error: ValidationError, origins: Mapping[tuple[str, ...], str], file: Path) -> ConfigRefused:
    first = error.errors(include_url=False)[0]
    place = tuple(str(part) for part in first["loc"])
    origin, key = str(file), ".".join(place)
    for path, source in origins.items():
        if path == place[: len(path)] or place == path[: len(place)]:
            origin, key = source, ".".join(path)
            break
    where = origin if origin.startswith(("--", "PLACET_")) else f"{origin}: {key}"
    if first["type"] == "extra_forbidden":
        secret = any(word in key.lower() for word in ("key", "token", "secret", "password"))
        if secret:
            why, hint = "Keys are read from the environment only", "Remove this line and set the vendor's variable"
        else:
            why, hint = "There is no such setting", "Remove or correct this line"
        return ConfigRefused(where, why=why, hint=hint, code=2)
    message = first["msg"].removeprefix("Value error, ")
    shown = "" if first["type"] == "value_error" else f", not {_short(first.get('input'))}"
    return ConfigRefused(f"{where}: {message[0].lower()}{message[1:]}{shown}", hint="Correct it", code=2)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
