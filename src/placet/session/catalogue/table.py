"""All event types in one table: fields, key, meaning. The reference and the golden files follow it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .kinds import KINDS, WORDS


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an event's data: name, kind, and whether it may be null or absent."""

    name: str
    kind: str
    nullable: bool = False
    optional: bool = False

    def misfit(self, data: Mapping[str, Any]) -> str | None:
        """What is wrong with this field in the data, or None."""
        if self.name not in data:
            return None if self.optional else f"{self.name} is missing"
        value = data[self.name]
        if value is None:
            return None if self.nullable else f"{self.name} is null"
        return None if KINDS[self.kind](value) else f"{self.name} is no {self.kind}"

    def __str__(self) -> str:
        kind = " | ".join(json.dumps(word) for word in WORDS[self.kind]) if self.kind in WORDS else self.kind
        return f"{self.name}{'?' if self.optional else ''}: {kind}{' | null' if self.nullable else ''}"


@dataclass(frozen=True, slots=True)
class EventType:
    """One row of the table. In a key pattern `{name}` stands for that field and `*` for the rest of the key."""

    name: str
    fields: tuple[Field, ...]
    key: str
    meaning: str
    model_visible: bool = False
    ignorable: bool = False
    one_of: bool = False

    def lacks(self, data: Mapping[str, Any]) -> list[str]:
        """What a reader of this type would look for in vain."""
        found = [text for field in self.fields if (text := field.misfit(data)) is not None]
        if self.one_of and len([name for name in ("put", "take", "cancel") if name in data]) != 1:
            found.append("exactly one of put, take and cancel must be there")
        return found

    def misfits(self, data: Mapping[str, Any], key: str) -> list[str]:
        """Everything about the data and the key that does not follow this row."""
        names = {field.name for field in self.fields}
        found = self.lacks(data)
        found += [f"{name} is not in the table" for name in data if name not in names and name != "ignorable"]
        if not any(_matches(pattern, data, key) for pattern in self.key.split(" | ")):
            found.append(f"the key {key!r} does not follow {self.key}")
        return found


def _matches(pattern: str, data: Mapping[str, Any], key: str) -> bool:
    def filled(match: re.Match[str]) -> str:
        value: Any = data
        for name in match[1].split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return "\0" if value is None else str(value)

    text = re.sub(r"\{([a-zA-Z.]+)\}", filled, pattern)
    return key.startswith(text[:-1]) and len(key) >= len(text) if text.endswith("*") else key == text


def _fields(text: str) -> tuple[Field, ...]:
    """Fields from a line such as `turn:integer note?:text|null`."""
    found = []
    for word in text.split():
        name, _, kind = word.partition(":")
        found.append(
            Field(
                name.rstrip("?"),
                kind.removesuffix("|null"),
                nullable=kind.endswith("|null"),
                optional=name.endswith("?"),
            )
        )
    return tuple(found)


def _row(
    name: str,
    fields: str,
    key: str,
    meaning: str,
    *,
    model_visible: bool = False,
    ignorable: bool = False,
    one_of: bool = False,
) -> EventType:
    return EventType(name, _fields(fields), key, meaning, model_visible, ignorable, one_of)


_CALL = "turn:integer step:integer position:integer"
_RUN = "run:text plugin:text package:text"
_ANSWER = "who:who channel:text evidence:text strength:text"

CATALOGUE: Mapping[str, EventType] = {
    row.name: row
    for row in (
        _row(
            "session/created",
            "v:integer cwd:text cwdId:text title:text|null gitRoots:texts by:by",
            "created",
            "The session exists: its folder, which never changes, and the git roots outside of it.",
        ),
        _row("session/renamed", "title:text by:by", "renamed:*", "The session has another title."),
        _row(
            "session/archived", "archived:boolean by:by", "archived:*", "The session was put away, or taken out again."
        ),
        _row("session/model", "model:text by:by", "model:*", "Later steps ask this model."),
        _row(
            "permission/preset",
            "preset:text by:by",
            "preset:*",
            "A preset was selected; the knobs that it changes follow as events of their own.",
        ),
        _row("sandbox/mode", "mode:mode source?:text by:by", "mode:*", "What later commands can touch."),
        _row("approval/policy", "policy:policy source?:text by:by", "policy:*", "Whether later asks reach a person."),
        _row(
            "agent/inbox",
            "put?:message take?:texts cancel?:texts by?:by",
            "put:{put.id} | take:* | cancel:*",
            "A message came into the agent's mailbox, or messages were claimed or cancelled, always by their ids.",
            one_of=True,
        ),
        _row("turn/start", "turn:integer", "turn:{turn}", "A turn begins; turns are counted from 1."),
        _row(
            "turn/abort",
            "turn:integer reason:text by:by",
            "abort:{turn}",
            "Somebody stopped the turn; nothing of it may ask or start any more.",
        ),
        _row("turn/end", "turn:integer reason:tagged", "end:{turn}", "The turn is over, and why."),
        _row(
            "step/start",
            "turn:integer step:integer",
            "step:{turn}.{step}",
            "One request to the model begins; steps are counted from 1 in each turn.",
        ),
        _row(
            "step/end",
            "turn:integer step:integer",
            "step-end:{turn}.{step}",
            "The message of the step and all its calls are done.",
        ),
        _row(
            "user/message",
            "id:text text:text source:tagged turn:integer",
            "message:{id}",
            "A claimed message as the model reads it.",
            model_visible=True,
        ),
        _row(
            "assistant/message",
            "turn:integer step:integer model:text text:text reasoning?:text calls:list interrupted?:boolean"
            " usage?:object|null",
            "assistant:{turn}.{step}",
            "What the model said, and the calls that it wants.",
            model_visible=True,
        ),
        _row(
            "model/failed",
            "turn:integer step:integer attempt:integer error:text",
            "model-failed:{turn}.{step}.{attempt}",
            "A request to the model failed; it may be tried again.",
        ),
        _row(
            "tool/call",
            f"{_CALL} callId:text name:text arguments:text",
            "call:{turn}.{step}.{position}",
            "The server took up a call of the model; the arguments stand in the escaped form.",
        ),
        _row(
            "tool/started",
            f"{_CALL} ask:text|null digest:text|null mode:mode",
            "started:{turn}.{step}.{position}",
            "The grant, if one was needed, is used up, and the body starts in this mode.",
        ),
        _row(
            "tool/result",
            f"{_CALL} name:text text:text isError:boolean code:text|null value:JSON|null meta:object",
            "result:{turn}.{step}.{position}",
            "What became of the call; the text is what the model reads.",
            model_visible=True,
        ),
        _row(
            "job/started",
            "job:text call:call command:text mode:mode cwd:text holder:text",
            "job:{job}",
            "A command runs in the background in this mode; `holder` is the process that it lives and dies with.",
        ),
        _row(
            "job/ended",
            "job:text exitCode:integer|null signal:text|null reason:job-end by?:by error?:text denied?:object",
            "job-ended:{job}",
            "The one end of a job: how the command ended, and why (it exited, or somebody or something ended it).",
        ),
        _row(
            "approval/asked",
            "id:text toolName:text callId?:text|null reason?:text|null earlierRun?:boolean call:call subject:object"
            " digest:text policy:policy chain:texts",
            "asked:{id}",
            "An ask: the whole subject, its digest, the policy in force and the order of the responders.",
        ),
        _row(
            "approval/decided",
            "id:text outcome:outcome detail:text|null who:who channel:text|null evidence:text|null"
            " strength:text|null digest:text feedback:text|null key:text|null asked:integer",
            "decided:{id}",
            "The one decision of an ask: outcome, by whom, on which evidence; `asked` is the wait in ms.",
        ),
        _row(
            "approval/refused",
            "id:text who:who channel:text why:text outcome:text|null",
            "refused:{id}:*",
            "An answer that did not count, and why; at most one per ask, key and minute.",
        ),
        _row(
            "cordis/defined",
            "plugin:text package:text name:text purpose:text host:text|null client:text|null digest:text call:text",
            "defined:{call}",
            "The agent wrote a package of a plugin; both halves stand in the escaped form. Nothing runs.",
        ),
        _row(
            "cordis/requested",
            f"{_RUN} mode:attempt-mode needsConsent:boolean digest:text call:text|null by:by holder:text"
            " deadline:integer|null key?:text",
            "requested:{run}",
            "An attempt to run a package; with `needsConsent` it waits for a person.",
        ),
        _row(
            "cordis/consented",
            f"{_RUN} width:width digest:text {_ANSWER} key:text holder:text",
            "consented:{run}",
            "A person said yes to these bytes: to this package, or to the plugin's future ones too.",
        ),
        _row(
            "cordis/declined",
            f"{_RUN} digest:text {_ANSWER} key:text feedback:text|null",
            "settled:{run}",
            "A person said no; nothing of the attempt has started or will.",
        ),
        _row(
            "cordis/started",
            f"{_RUN} mode:mode holder:text",
            "run-started:{run}",
            "The process that wrote this starts the host half, in this sandbox mode.",
        ),
        _row(
            "cordis/ready",
            "run:text plugin:text provides:texts waitingFor:texts handlers:texts",
            "run-ready:{run}",
            "The host half is up, or there is none.",
        ),
        _row(
            "cordis/changed",
            "run:text plugin:text provides:texts waitingFor:texts handlers:texts",
            "run-changed:{run}:*",
            "A host half that is up offers something else, or waits for something else.",
        ),
        _row(
            "cordis/settled",
            f"{_RUN} status:status detail:text|null phase:phase|null error:object|null by:by|null page:text|null"
            " waitingFor?:texts",
            "settled:{run}",
            "What became of the attempt; exactly one such event, or `cordis/declined`, per run.",
        ),
        _row(
            "cordis/stopped",
            "run:text plugin:text status:status detail:text by:by|null error:object|null",
            "run-stopped:{run}",
            "A run that had settled as running or waiting is over; nothing of it lives any more.",
        ),
        _row(
            "cordis/diagnosed",
            "run:text plugin:text half:half phase:phase slot:text|null message:text stack:text|null",
            "diagnosed:{run}:*",
            "Something failed in a run after it had succeeded; once per distinct text.",
        ),
        _row(
            "cordis/revoked",
            f"plugin:text package:text|null future:boolean {_ANSWER} key:text",
            "revoked:*",
            "A person took a consent back; what runs goes on, the next start asks.",
        ),
        _row(
            "cordis/undefined",
            "plugin:text wasRunning:boolean by:by",
            "undefined:{plugin}",
            "The plugin is gone, with its packages and consents.",
        ),
        _row(
            "cordis/called",
            "run:text plugin:text n:integer service:text arguments:JSON",
            "cordis-called:{run}.{n}",
            "A half is about to use a service that changes something, outside of an open turn.",
        ),
        _row(
            "notice",
            "level:text code:text text:text ask?:text|null run?:text path?:text to?:text by?:by",
            "notice:*",
            "A line for the person, not for the model.",
        ),
        _row(
            "session/removed",
            "session:text by:by",
            "removed:{session}",
            "A session was deleted with its whole log; only in the log of the house.",
        ),
        _row(
            "page/linked",
            "keyId:text publicKey:text label:text account:text",
            "page:{keyId}",
            "A browser's page was linked; only in the log of the house.",
        ),
        _row(
            "page/revoked",
            "keyId:text by:by",
            "page-revoked:{keyId}",
            "A page's key counts no more; only in the log of the house.",
        ),
    )
}
"""Every event type of this version, by name."""

MODEL_VISIBLE = frozenset(row.name for row in CATALOGUE.values() if row.model_visible)


def known(kind: str, data: Mapping[str, Any]) -> bool:
    """Whether an event may be loaded: its type is in the table, or it carries `"ignorable": true`."""
    return kind in CATALOGUE or data.get("ignorable") is True


def lacks(kind: str, data: Mapping[str, Any]) -> list[str]:
    """What a reader of the event would look for in vain; nothing of a type that is not in the table is looked for."""
    row = CATALOGUE.get(kind)
    return [] if row is None else row.lacks(data)


def misfits(kind: str, data: Mapping[str, Any], key: str) -> list[str]:
    """What about an event does not follow the table; empty for one that does, and for an ignorable one."""
    row = CATALOGUE.get(kind)
    if row is None:
        return [] if known(kind, data) else [f"{kind} is not in the table"]
    return row.misfits(data, key)
