"""What the helper is told beside its request, and what its failures mean: a denial is evidence, as for commands."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import Any

from placet.sandbox import denial
from placet.sandbox.backend import Backend

from .requests import Failure, Found, Inquiry, Message

_DENIALS = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.EXDEV, errno.EBUSY})
_NO_ENTRY = frozenset({errno.ENOENT, errno.ENOTDIR})
_LONGEST = 4_096


def request(inquiry: Inquiry, state: Path, handed: int | None = None) -> Message:
    """The message of a request. The state directory is closed to the file tools in every mode. Looks at what exists."""
    profile = inquiry.profile
    kept = denial.protected(profile) if profile.mode.confines and inquiry.verb.writes else []
    words = {
        **inquiry.arguments,
        "do": inquiry.verb.value,
        "handed": handed is not None,
        "hidden": [os.path.realpath(state), *map(str, profile.hidden)],
        "open": [str(profile.temp)],
        "kept": [str(path) for path in kept],
        "straight": inquiry.straight,
        "cpu": ceil(inquiry.seconds) + 1,
    }
    return Message(words, handed)


def judged(answer: Mapping[str, Any], inquiry: Inquiry, backend: Backend | None) -> Found | Failure:
    """What came of a request. Blocks for a few system calls."""
    done = answer.get("done")
    if isinstance(done, dict):
        return Found(done)
    code, text, path = str(answer.get("failed")), str(answer.get("text"))[:_LONGEST], answer.get("path")
    path = path[:_LONGEST] if isinstance(path, str) else None
    if backend is None:
        return Failure(_word(code, answer), text, path)
    denied = code == "hidden"
    if code == "system" and answer.get("errno") in _DENIALS and inquiry.verb.writes and path is not None:
        place = Path(os.path.normpath(inquiry.profile.workspace.path / path))
        denied = denial.denied_writing(place, backend, inquiry.profile)
        path = str(place)
    return Failure("FS_SANDBOX_DENIED" if denied else _word(code, answer), text, path, denied)


def _word(code: str, answer: Mapping[str, Any]) -> str:
    """The word for programs."""
    if code != "system":
        return code.upper().replace("-", "_")
    return "NOT_FOUND" if answer.get("errno") in _NO_ENTRY else "NOT_POSSIBLE"
