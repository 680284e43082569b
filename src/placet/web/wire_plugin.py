"""The JSON shapes of plugins, of requests for consent, and of what a page says of its halves."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from placet.web.wire import Digest, Key, Note, NoticeView, SessionName, Signer, Wire

PackageName = Annotated[str, StringConstraints(pattern=r"^pkg-[0-9]{1,15}$")]
RunName = Annotated[str, StringConstraints(pattern=r"^run-[0-9]{1,15}$")]
SlotName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z.]{1,64}$")]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Told = Annotated[str, StringConstraints(max_length=20_000)]

Mode = Literal["run", "update"]
Width = Literal["package", "future"]
Status = Literal[
    "awaiting-approval",
    "starting-host",
    "client-pending",
    "running",
    "waiting",
    "rejected",
    "failed",
    "cancelled",
    "stopped",
]
State = Literal[
    "defined",
    "awaiting-approval",
    "starting-host",
    "client-pending",
    "running",
    "waiting",
    "rejected",
    "failed",
    "cancelled",
    "stopped",
]
HalfStatus = Literal["absent", "pending", "stopped", "running", "waiting", "failed"]
Phase = Literal[
    "approval", "host-load", "host-apply", "client-load", "client-apply", "client-render", "guard", "handler"
]


# --- plugins -------------------------------------------------------------------------------------------------------


class PackageRow(Wire):
    """One immutable version, without its code; `consented` says that it starts without a card."""

    package: str
    name: str
    purpose: str
    has_host_half: bool
    has_client_half: bool
    digest: str
    defined_at: int
    consented: bool


class HostState(Wire):
    """The half beside the server."""

    status: HalfStatus
    provides: list[str]
    waiting_for: list[str]
    handlers: list[str]


class ClientState(Wire):
    """The half in the pages, by the first verdict that counted."""

    status: HalfStatus
    waiting_for: list[str]


class Failure(Wire):
    """What went wrong, in the words of whoever noticed it."""

    message: str
    stack: str | None = None
    line: int | None = None


class AttemptView(Wire):
    """One try to run a package; `by` says who wanted it."""

    run: str
    package: str
    mode: Mode
    status: Status
    host: HostState
    client: ClientState
    phase: Phase | None
    error: Failure | None
    detail: str | None
    requested_at: int
    by: dict[str, Any] | None


class ActiveRun(Wire):
    """What the server runs now; `client_half` says that a page can load one."""

    run: str
    package: str
    status: Status
    host: HostState
    client: ClientState
    client_half: bool
    started_at: int


class PendingRequest(Wire):
    """A request that waits for a person."""

    run: str
    package: str
    mode: Mode
    requested_at: int


class ConsentGiven(Wire):
    """A yes that is in force: to one package, or with width `future` to later packages too."""

    package: str | None
    width: Width
    who: Signer
    channel: str
    at: int


class Diagnostic(Wire):
    """A failure of a running half."""

    run: str
    half: Literal["host", "client"]
    phase: str
    slot: str | None
    message: str
    stack: str | None
    at: int


class PluginView(Wire):
    """A plugin with everything that a panel shows, and no code.

    `state` is that of the open request, else of the active run, else of the latest attempt, else `defined`.
    """

    plugin: str
    session: str
    session_name: SessionName
    name: str
    purpose: str
    state: State
    packages: list[PackageRow]
    current: str | None
    next: str | None
    active_run: ActiveRun | None
    latest: AttemptView | None
    pending: PendingRequest | None
    future: bool
    consents: list[ConsentGiven]
    diagnostics: list[Diagnostic]


class Plugins(Wire):
    """The plugins of all sessions but those whose log is damaged; each of these has a notice."""

    plugins: list[PluginView]
    notices: list[NoticeView]


class PackageText(Wire):
    """One package with its code to read, in the escaped form; the digest covers exactly these two texts."""

    plugin: str
    package: str
    name: str
    purpose: str
    host: str | None
    client: str | None
    digest: str
    defined_at: int


# --- consent -------------------------------------------------------------------------------------------------------


class Wants(Wire):
    """What a package's code names: the services of each half, both together, and the seats of its client half."""

    services: list[str]
    host: list[str]
    client: list[str]
    seats: list[str]


class EarlierCode(Wire):
    """The code of the version that a person consented to last, to show the difference; in the escaped form."""

    package: str
    host: str | None
    client: str | None


class ConsentDecision(Wire):
    """How a request for consent was settled.

    `who` and `channel` are null where nobody answered it; `by` then says who withdrew it, if anybody did.
    """

    outcome: Literal["consented", "declined", "cancelled"]
    width: Width | None = None
    detail: str | None = None
    who: Signer | None = None
    channel: str | None = None
    evidence: str | None = None
    strength: str | None = None
    time: int
    digest: str | None = None
    feedback: str | None = None
    by: dict[str, Any] | None = None


class ConsentRow(Wire):
    """One request for consent without its code: a row that opens the card, never one that answers."""

    run: str
    plugin: str
    package: str
    mode: Mode
    session: str
    session_name: SessionName
    name: str
    purpose: str
    model: str
    has_host_half: bool
    has_client_half: bool
    digest: str
    requested_at: int
    state: Literal["open", "decided"]
    position: int | None
    total: int


class ConsentView(ConsentRow):
    """The whole card: both halves in the escaped form. The answer sends back the digest of what was shown.

    Where `intact` is false the stored code is not what was defined; there is none to show, and no yes counts.
    """

    intact: bool
    host: str | None
    client: str | None
    wants: Wants
    consented_before: EarlierCode | None
    decision: ConsentDecision | None


class Consents(Wire):
    """Open requests of all sessions but damaged ones, oldest first; `total` counts them all."""

    consents: list[ConsentRow]
    total: int
    next: str | None
    notices: list[NoticeView]


class Consent(Wire):
    """A yes to the code with this digest: for this package only, or for the plugin's future packages too."""

    run: RunName
    digest: Digest
    width: Width
    key: Key


class Decline(Wire):
    run: RunName
    digest: Digest
    key: Key
    feedback: Note | None = None


class ConsentReceipt(Wire):
    run: str
    outcome: Literal["consented", "declined"]
    width: Width | None
    time: int
    who: Signer
    channel: str
    strength: str | None


class ConsentAccepted(Wire):
    accepted: Literal[True] = True
    receipt: ConsentReceipt


class ConsentNotPending(Wire):
    """The request was settled before; `decision` says how."""

    accepted: Literal[False] = False
    reason: Literal["not-pending"] = "not-pending"
    decision: ConsentDecision | None


# --- gestures ------------------------------------------------------------------------------------------------------


class RunPlugin(Wire):
    package: PackageName
    mode: Mode
    key: Key


class RunReceipt(Wire):
    """What was begun; with status `awaiting-approval` a card is open now."""

    ok: Literal[True] = True
    status: Status | Literal["starting"]
    plugin: str
    package: str
    run: str
    mode: Mode


class PluginEnded(Wire):
    """The plugin was stopped or removed; `was_running` is false where nothing of it ran or waited."""

    plugin: str
    was_running: bool


class Revoke(Wire):
    """Takes back the consent to one package, or with `future` the one to future packages; exactly one of them."""

    package: PackageName | None = None
    future: bool = False
    key: Key


# --- what a page says of the halves that it has loaded -------------------------------------------------------------


class Verdict(Wire):
    """Whether the client half of a run has loaded here; with `ok` false, what went wrong in which phase."""

    run: RunName
    ok: bool
    phase: Literal["client-load", "client-apply"] | None = None
    message: Told | None = None
    stack: Told | None = None
    waiting_for: Annotated[tuple[Word, ...], Field(max_length=100)] = ()


class Taken(Wire):
    """Whether the report counts; where it does not, the page throws the half away."""

    accepted: bool


class HalfFailure(Wire):
    """A client half that failed after it had loaded; phase `guard` for one that was cut off."""

    run: RunName
    phase: Literal["client-load", "client-apply", "client-render", "guard"]
    slot: SlotName | None = None
    message: Annotated[Told, StringConstraints(min_length=1)]
    stack: Told | None = None


class Invoke(Wire):
    """A call of a client half to its host half; `args` is any JSON."""

    run: RunName
    method: Word
    args: Any = None


class Invoked(Wire):
    value: Any


class ClientSource(Wire):
    """The client half of the active run, exactly as it was consented to."""

    run: str
    package: str
    source: str
