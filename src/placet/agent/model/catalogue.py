"""From a model's name to the model. Names are what a person writes: `rehearsal`, `script:FILE`, `VENDOR:MODEL`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from placet.agent.errors import UnknownModel
from placet.agent.model.port import Model
from placet.agent.model.script import ScriptModel
from placet.agent.model.vendor import VENDORS, VendorModel, no_key

REHEARSAL = "rehearsal"
COMPATIBLE = "openai-compatible"


@dataclass(frozen=True, slots=True)
class Offer:
    """One model that a person can choose from the page."""

    name: str
    label: str
    real: bool


def model_named(name: str, *, environment: Mapping[str, str] | None = None, address: str | None = None) -> Model:
    """Return the model of that name.

    `address` is the base URL of an OpenAI-compatible endpoint from the configuration; the environment's own variables
    (`OPENAI_BASE_URL` and so on) come second. A name that is unknown, or a vendor without a key, is an `UnknownModel`.
    """
    environment = os.environ if environment is None else environment
    kind, colon, rest = name.partition(":")
    if name == REHEARSAL:
        from placet.agent.model.rehearsal import Rehearsal

        return Rehearsal()
    if not colon or not rest:
        raise UnknownModel(
            f"There is no model {name!r}. Use rehearsal, script:FILE or VENDOR:MODEL, such as deepseek:deepseek-chat."
        )
    if kind == "script":
        return ScriptModel.load(rest)
    if kind == COMPATIBLE:
        if not (address or environment.get(VENDORS["openai"].address)):
            raise UnknownModel(
                f"{name} needs an address: set OPENAI_BASE_URL, or base_url under [model] in config.toml."
            )
        return VendorModel("openai", rest, name=name, environment=environment, address=address)
    if kind in VENDORS:
        own = address if kind == "openai" else None
        vendor = VENDORS[kind]
        if not (environment.get(vendor.key) or own or environment.get(vendor.address)):
            raise UnknownModel(no_key(name, vendor))
        return VendorModel(kind, rest, environment=environment, address=own)
    return _other(kind, rest, name, environment)


def default_model(environment: Mapping[str, str] | None = None) -> str:
    """The first vendor whose key is in the environment, else the rehearsal."""
    environment = os.environ if environment is None else environment
    for kind, vendor in VENDORS.items():
        if environment.get(vendor.key):
            return f"{kind}:{vendor.model}"
    return REHEARSAL


def offers(environment: Mapping[str, str] | None = None) -> tuple[Offer, ...]:
    """What the page offers for choice: the vendors that have a key, and always the rehearsal."""
    environment = os.environ if environment is None else environment
    real = tuple(
        Offer(f"{kind}:{v.model}", f"{v.label} {v.model}", True)
        for kind, v in VENDORS.items()
        if environment.get(v.key)
    )
    return (*real, Offer(REHEARSAL, "Rehearsal", False))


def _other(kind: str, rest: str, name: str, environment: Mapping[str, str]) -> Model:
    """A vendor that only the library knows. Its key and its optional packages are the library's matter."""
    try:
        from pydantic_ai.providers import infer_provider_class

        infer_provider_class(kind)
    except ImportError as error:
        raise UnknownModel(f"{name} needs a package that is not installed: {error}.") from error
    except ValueError as error:
        raise UnknownModel(
            f"There is no model vendor {kind!r}. Known here: {', '.join(VENDORS)}, and what pydantic-ai names."
        ) from error
    return VendorModel(kind, rest, environment=environment)
