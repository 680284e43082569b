"""What a person is shown and signs: one frozen value of exactly one shape, with one digest.

The shape is fixed, absent is null and never left out, and the digest is SHA-256 over the RFC 8785 form. Text is in the
escaped form of the session room, so that no two different texts can look alike to the digest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from placet.approval.errors import SubjectInvalid, SubjectTooLarge
from placet.session.codec import canonical, dumps, escape, unescape
from placet.session.event import JSON
from placet.session.ids import AskId, SessionId

VERSION = 1
MAX_SUBJECT = 1 << 20
"""The most bytes of canonical JSON that a card may hold; more is never asked about."""
MAX_DIGITS = 1000
"""The most digits of one whole number in arguments."""
FIELDS = frozenset(
    {"v", "ask", "session", "agent", "call", "tool", "toolDigest", "arguments"}
    | {"cwd", "cwdId", "fromMode", "toMode", "denied", "files"}
)


@dataclass(frozen=True, slots=True, order=True)
class CallKey:
    """The server's own name of a tool call; a model's call id is only data."""

    turn: int
    step: int
    position: int

    def __str__(self) -> str:
        return f"{self.turn}.{self.step}.{self.position}"

    def json(self) -> dict[str, JSON]:
        """Return the form that subjects and events use."""
        return {"turn": self.turn, "step": self.step, "position": self.position}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> CallKey:
        """Read back what `json` wrote; other fields beside the three are ignored."""
        return cls(data["turn"], data["step"], data["position"])


@dataclass(frozen=True, slots=True)
class Denied:
    """The recorded denial of the same command: which path, when, in which call."""

    path: str | None
    time: int
    call: CallKey

    def json(self) -> dict[str, JSON]:
        """Return the form that the subject uses."""
        return {"path": self.path, "time": self.time, "call": self.call.json()}


@dataclass(frozen=True, slots=True)
class CoveredFile:
    """A file whose content is signed together with the command that runs it."""

    path: str
    sha256: str
    text: str

    def json(self) -> dict[str, JSON]:
        """Return the form that the subject uses."""
        return {"path": self.path, "sha256": self.sha256, "text": self.text}


@dataclass(frozen=True, slots=True)
class Subject:
    """Everything that a decision is about. `arguments`, `cwd` and `agent` hold escaped text."""

    ask: AskId
    session: SessionId
    agent: str
    call: CallKey
    tool: str
    tool_digest: str
    arguments: str
    cwd: str
    cwd_id: str
    from_mode: str
    to_mode: str | None
    denied: Denied | None = None
    files: tuple[CoveredFile, ...] = ()

    def json(self) -> dict[str, JSON]:
        """Return the subject in exactly the shape that is logged, shown and signed."""
        return {
            "v": VERSION,
            "ask": self.ask,
            "session": self.session,
            "agent": self.agent,
            "call": self.call.json(),
            "tool": self.tool,
            "toolDigest": self.tool_digest,
            "arguments": self.arguments,
            "cwd": self.cwd,
            "cwdId": self.cwd_id,
            "fromMode": self.from_mode,
            "toMode": self.to_mode,
            "denied": None if self.denied is None else self.denied.json(),
            "files": [file.json() for file in self.files],
        }

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the canonical form, in hex."""
        return digest_of(self.json())

    @property
    def mode(self) -> str:
        """Return the mode that the body runs in once this subject is granted."""
        return self.from_mode if self.to_mode is None else self.to_mode

    def values(self) -> dict[str, JSON]:
        """Parse the arguments: the one value that schema check and body use."""
        return parse_arguments(self.arguments)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Subject:
        """Read a logged subject back, or raise `SubjectInvalid` where its shape is not exactly ours."""
        if set(data) != FIELDS or data["v"] != VERSION:
            raise SubjectInvalid("the logged subject does not have the shape of version 1")
        denied = data["denied"]
        return cls(
            ask=AskId(data["ask"]),
            session=SessionId(data["session"]),
            agent=data["agent"],
            call=CallKey.of(data["call"]),
            tool=data["tool"],
            tool_digest=data["toolDigest"],
            arguments=data["arguments"],
            cwd=data["cwd"],
            cwd_id=data["cwdId"],
            from_mode=data["fromMode"],
            to_mode=data["toMode"],
            denied=None if denied is None else Denied(denied["path"], denied["time"], CallKey.of(denied["call"])),
            files=tuple(CoveredFile(file["path"], file["sha256"], file["text"]) for file in data["files"]),
        )


def build(
    *,
    ask: AskId,
    session: SessionId,
    agent: str,
    call: CallKey,
    tool: str,
    tool_digest: str,
    arguments: str,
    cwd: str,
    cwd_id: str,
    from_mode: str,
    to_mode: str | None,
    denied: Denied | None = None,
    files: tuple[CoveredFile, ...] = (),
) -> Subject:
    """Build the subject of an ask from plain text; only `arguments` is the escaped text that `tool/call` holds.

    Raises `SubjectTooLarge` where a person could not be shown all of it.
    """
    if denied is not None and denied.path is not None:
        denied = Denied(escape(denied.path), denied.time, denied.call)
    subject = Subject(
        ask=ask,
        session=session,
        agent=escape(agent),
        call=call,
        tool=escape(tool),
        tool_digest=tool_digest,
        arguments=arguments,
        cwd=escape(cwd),
        cwd_id=cwd_id,
        from_mode=from_mode,
        to_mode=to_mode,
        denied=denied,
        files=files,
    )
    size = len(arguments) if len(arguments) > MAX_SUBJECT else len(dumps(subject.json()).encode())  # as canonical
    if size > MAX_SUBJECT:
        raise SubjectTooLarge(size, MAX_SUBJECT)
    return subject


def digest_of(subject: JSON) -> str:
    """Return the digest of a subject's JSON, recomputed from what the log holds."""
    return sha256(canonical(subject)).hexdigest()


def parse_arguments(text: str) -> dict[str, JSON]:
    """Parse escaped argument text into the one value that is checked, signed and run.

    Numbers stay exact, equal keys in one object are an error, and so is everything that is not JSON. Raises
    `SubjectInvalid` with one clear line.
    """
    try:
        value = json.loads(
            unescape(text),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_integer,
        )
    except SubjectInvalid:
        raise
    except RecursionError:
        raise SubjectInvalid("the arguments are nested too deep") from None
    except ValueError as error:
        raise SubjectInvalid(f"the arguments are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise SubjectInvalid("the arguments must be one JSON object")
    return value


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    for name, value in pairs:
        if name in found:
            raise SubjectInvalid(f"the key {name!r} stands twice in one object; send each key once")
        found[name] = value
    return found


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise SubjectInvalid(f"the arguments hold a number of {len(text)} digits; at most {MAX_DIGITS} are taken")
    return int(text)


def _no_constant(name: str) -> JSON:
    raise SubjectInvalid(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise SubjectInvalid(f"the number {text[:40]} is too large")
    return number
