"""Every JSON shape that travels between a screen and placet; the page's types are generated from it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
Line = Annotated[str, StringConstraints(max_length=200)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=200_000)]
Note = Annotated[str, StringConstraints(max_length=20_000)]
PathText = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=120)]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Wire(BaseModel):
    """One JSON object: camelCase outside, snake_case inside, no unknown field."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True, extra="forbid", frozen=True
    )


class JobName(Wire):
    """A background job, as far as one needs it to know which one is meant; the command in the escaped form."""

    job: str
    command: str
    mode: str


class Problem(Wire):
    """`jobs` stands beside the code `jobs-running` only: what would end."""

    code: str
    message: str
    hint: str | None = None
    jobs: list[JobName] | None = None


class ErrorBody(Wire):
    """The body of every answer that is a no."""

    error: Problem


# --- who is there --------------------------------------------------------------------------------------------------


class Health(Wire):
    ok: Literal[True] = True
    product: Literal["placet"] = "placet"
    version: str
    instance: str
    proof: str | None


class Empty(Wire):
    """An object without fields."""


# --- configuration -------------------------------------------------------------------------------------------------


class Person(Wire):
    name: str
    account: str | None


class ModelChoice(Wire):
    name: str
    label: str
    real: bool


class Option(Wire):
    value: str
    name: str
    description: str | None = None


class NoticeView(Wire):
    level: Literal["info", "warn", "error"]
    code: str
    text: str


class Config(Wire):
    version: str
    instance: str
    person: Person
    rehearsal: bool
    model: str
    models: list[ModelChoice]
    presets: list[Option]
    default_preset: str
    sandbox: dict[str, Any]
    home: str
    suggested_cwd: str
    suggested_is_new: Annotated[bool, Field(description="It is made when a session is started in it.")]
    notices: list[NoticeView]


# --- sessions ------------------------------------------------------------------------------------------------------


class SessionName(Wire):
    """What a session is called: its title, else words of its first message, else the name of its folder."""

    text: str
    origin: Literal["title", "message", "folder"]


class Summary(Wire):
    """One line of the list; `open_asks` counts all that waits for a person, the open consents among it."""

    id: str
    title: str | None
    name: SessionName
    cwd: str
    created_at: int
    last_time: int
    status: Literal["idle", "running", "waiting", "interrupted"]
    open_asks: int
    open_consents: int
    preset: str
    mode: str
    policy: str
    model: str | None
    archived: bool
    turn: int | None


class NewSession(Wire):
    cwd: PathText
    preset: Name | None = None
    policy: Name | None = None
    message: Text | None = None
    title: Line | None = None
    model: Name | None = None
    key: Key


class WireEvent(Wire):
    """One event of a log, as the log holds it; `cursor` is its place among all events of the installation.

    Only the code of plugins is left out (H13): `cordis/defined` has `hostBytes` and `clientBytes` instead.
    """

    session: str
    seq: int
    time: int
    type: str
    key: str
    data: dict[str, Any]
    cursor: str


class Permissions(Wire):
    options: list[Option]
    current_value: str


class PartialText(Wire):
    turn: int
    step: int
    text: str


class SessionChange(Wire):
    title: Line | None = None
    archived: bool | None = None
    key: Key


class NewMessage(Wire):
    text: Text
    id: Key
    steer: bool = False


class MessageAccepted(Wire):
    id: str
    accepted: Literal[True] = True


class Keyed(Wire):
    key: Key


class Stopped(Wire):
    stopped: Literal[True] = True
    turn: int


class MoveAway(Wire):
    """`path` as the result of a call names it (`meta.appeared`)."""

    path: PathText
    key: Key


class MovedAway(Wire):
    moved: Literal[True] = True
    to: str


class PermissionChange(Wire):
    """Exactly one of preset, mode and policy."""

    preset: Name | None = None
    mode: Name | None = None
    policy: Name | None = None
    confirm: bool = False
    key: Key


class PermissionView(Wire):
    permissions: Permissions
    mode: str
    policy: str


class ModelChange(Wire):
    model: Name
    key: Key


# --- asks ----------------------------------------------------------------------------------------------------------


class CallKey(Wire):
    turn: int
    step: int
    position: int


class Denied(Wire):
    path: str | None
    time: int
    call: CallKey | str


class SignedFile(Wire):
    path: str
    sha256: str
    text: str


class Subject(Wire):
    """Exactly what the person is shown and signs; its digest covers this object and nothing else."""

    model_config = ConfigDict(extra="allow")

    v: int
    ask: str
    session: str
    agent: str
    call: CallKey
    tool: str
    tool_digest: str
    arguments: str
    cwd: str
    cwd_id: str
    from_mode: str
    to_mode: str | None
    denied: Denied | None
    files: list[SignedFile]


class Signer(Wire):
    kind: Literal["person", "policy", "rule", "system"]
    name: str
    account: str | None = None


class DecisionView(Wire):
    """Who settled an ask, how, over which channel and when."""

    outcome: Literal["allowed-once", "rejected", "cancelled", "unavailable"]
    detail: str | None
    who: Signer
    channel: str
    evidence: str | None
    strength: str | None
    time: int
    digest: str
    feedback: str | None
    stopped_by: str | None = None


class AskView(Wire):
    """One ask with everything that its card says."""

    id: str
    session: str
    session_name: SessionName
    agent: str
    tool: str
    reason: str | None
    subject: Subject
    digest: str
    asked_at: int
    state: Literal["open", "decided"]
    decision: DecisionView | None
    position: int | None
    total: int
    rearmed: bool
    earlier_run: bool
    full_access: bool
    script_covered: bool = False


class Answer(Wire):
    outcome: Literal["allowed-once", "rejected"]
    digest: Digest
    key: Key
    feedback: Note | None = None
    stop: Annotated[bool, Field(description="With a rejection: stop the turn in the same append.")] = False


class ReceiptView(Wire):
    ask: str
    outcome: str
    time: int
    who: Signer
    channel: str
    strength: str | None
    stopped: bool = False


class Accepted(Wire):
    accepted: Literal[True] = True
    receipt: ReceiptView


class NotPendingBody(Wire):
    """The ask was settled before; `decision` says by whom, null while the stop of its turn is on its way to the log."""

    accepted: Literal[False] = False
    reason: Literal["not-pending"] = "not-pending"
    decision: DecisionView | None


class BadResponseBody(Wire):
    """The answer does not fit the ask; the ask stays open."""

    accepted: Literal[False] = False
    reason: Literal["bad-response"] = "bad-response"
    why: str


# --- the stream ----------------------------------------------------------------------------------------------------


class Hello(Wire):
    """`event: hello`, once at the start."""

    cursor: str
    instance: str


class TextDelta(Wire):
    """`event: delta`: more of what the model is saying; with `whole` the text so far, which replaces what was shown."""

    session: str
    turn: int
    step: int
    text: str
    whole: Annotated[bool, Field(description="The text is the whole text so far, not an addition.")]
