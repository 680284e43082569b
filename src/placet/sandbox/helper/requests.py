"""What the helper is asked, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from placet.kernel.signal import AbortSignal
from placet.sandbox.policy import Profile, Workdir

SECONDS = 10.0
"""How long one request may take, unless it says otherwise."""


class Verb(StrEnum):
    """What the helper can do."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    LIST = "list"
    SEARCH = "search"
    CAPTURE = "capture"
    LOCATE = "locate"

    @property
    def writes(self) -> bool:
        """Whether it changes files, so that it has to run under exactly the call's own profile."""
        return self in (Verb.WRITE, Verb.EDIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """One request to the confined helper.

    `folder` is the workspace as the call knows it, by device and inode; None: the one that is there now. `straight`
    says that the path may lead through no symlink.
    """

    profile: Profile
    verb: Verb
    arguments: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    seconds: float = SECONDS
    signal: AbortSignal | None = None
    straight: bool = False
    folder: Workdir | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent to the helper: words, and a descriptor of a file that it could not open itself."""

    words: Mapping[str, Any]
    handed: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """It was done: what the helper tells."""

    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """It was not done. `denied` says that the sandbox stood in the way, by evidence, as for commands."""

    code: str
    text: str
    path: str | None = None
    denied: bool = False
