"""Requests for consent: what people see, and their one answer to each.

An answer *is* the conditional append of `cordis/consented` or `cordis/declined`. Consent, decline, a stop, a removal
and a deadline compete for it: whoever loses is told what won.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from placet.approval.answer import MAX_FEEDBACK, MAX_KEY
from placet.cordis import events as log
from placet.cordis import messages
from placet.cordis.answers import Answered, BadResponse, Decision, NotPending
from placet.cordis.attempt import Attempt
from placet.cordis.checking.wants import Wants, wants
from placet.cordis.definition import Code, Package
from placet.cordis.events import Answering
from placet.cordis.registry import Plugin
from placet.cordis.running.ledger import Ledger
from placet.cordis.running.writing import Writer
from placet.cordis.vocabulary import PackageId, RunId, Width
from placet.session.event import Draft, Event
from placet.session.ids import SessionId
from placet.session.store import Appended, Refused, Store


@dataclass(frozen=True, slots=True)
class ConsentRow:
    """A request without its code. `position` counts the open ones, oldest first; None for one that is decided."""

    plugin: Plugin
    attempt: Attempt
    package: Package
    position: int | None
    total: int


@dataclass(frozen=True, slots=True)
class ConsentPage:
    """Open requests, oldest first; `next` is the cursor of the next page, None at the end."""

    rows: tuple[ConsentRow, ...]
    total: int
    next: int | None


@dataclass(frozen=True, slots=True)
class ConsentView:
    """A whole card. `code` is None where the stored bytes are not what was defined: nothing can be answered then."""

    row: ConsentRow
    code: Code | None
    wants: Wants
    before: tuple[PackageId, Code] | None
    """The package that a person saw last and said yes to, for the difference."""
    decision: Decision | None


class Consents:
    """The requests of all sessions; `holder` drives what is consented to here."""

    def __init__(self, store: Store, ledger: Ledger, writer: Writer, *, holder: str) -> None:
        self._store, self._ledger, self._writer, self._holder = store, ledger, writer, holder

    # ---- what people see ----

    async def page(self, after: int | None = None, limit: int = 50) -> ConsentPage:
        """Return open requests of all sessions after a cursor of an earlier page."""
        opened = _open((await self._ledger.catch_up()).plugins.values())
        later = [place for place, (_, attempt) in enumerate(opened) if after is None or _number(attempt.run) > after]
        shown = tuple(_row(opened, place) for place in later[:limit])
        return ConsentPage(shown, len(opened), _number(shown[-1].attempt.run) if len(later) > limit else None)

    async def view(self, run: RunId) -> ConsentView | None:
        """Return one request with its code, open or decided; None for one that is unknown, or whose plugin is gone."""
        plugins = await self._ledger.catch_up()
        plugin = plugins.by_run(run)
        attempt = None if plugin is None else plugin.attempt(run)
        if plugin is None or attempt is None:
            event = await self._store.find(log.requested_key(run))
            plugin = None if event is None else plugins.plugins.get(event.data["plugin"])
            found = None if event is None or plugin is None else plugin.package(event.data["package"])
            attempt = None if event is None or found is None else Attempt.of(event, found)
        package = None if plugin is None or attempt is None else plugin.package(attempt.package)
        if plugin is None or attempt is None or package is None or not attempt.needs_consent:
            return None
        opened = _open(plugins.plugins.values()) if attempt.awaits else []
        row = next((_row(opened, place) for place, (_, one) in enumerate(opened) if one.run == run), None)
        decision = None if row is not None else await self._decision(plugin.session, run)
        code = await self._ledger.code(plugin, package)
        if code is not None and code.digest != attempt.digest:
            code = None
        return ConsentView(
            row or ConsentRow(plugin, attempt, package, None, 0),
            code,
            wants(code or Code(None, None)),
            await self._before(plugin, package),
            decision,
        )

    async def _before(self, plugin: Plugin, package: Package) -> tuple[PackageId, Code] | None:
        earlier = plugin.package(plugin.consented_last)
        if earlier is None or earlier.id == package.id:
            return None
        code = await self._ledger.code(plugin, earlier)
        return None if code is None else (earlier.id, code)

    # ---- what people say ----

    async def consent(
        self, run: RunId, *, digest: str, width: str, answering: Answering
    ) -> Answered | NotPending | BadResponse:
        """Say yes to exactly these bytes. Raises `StoreError` where it could not be recorded."""
        if width not in tuple(Width):
            return BadResponse("the width is either package or future")
        return await self._answer(run, digest, answering, width=Width(width))

    async def decline(
        self, run: RunId, *, digest: str, feedback: str | None, answering: Answering
    ) -> Answered | NotPending | BadResponse:
        """Say no; nothing starts. Raises `StoreError` where it could not be recorded."""
        if feedback and len(feedback) > MAX_FEEDBACK:
            return BadResponse(f"the note has more than {MAX_FEEDBACK} characters")
        return await self._answer(run, digest, answering, feedback=feedback or None)

    async def _answer(
        self,
        run: RunId,
        digest: str,
        answering: Answering,
        *,
        width: Width | None = None,
        feedback: str | None = None,
    ) -> Answered | NotPending | BadResponse:
        plugins = await self._ledger.catch_up()
        plugin = plugins.by_run(run)
        attempt = None if plugin is None else plugin.attempt(run)
        if plugin is None or attempt is None:
            asked = await self._store.find(log.requested_key(run))
            if asked is None:
                return BadResponse("there is no request with this id")
            return await self._late(asked.session, run, answering, width)
        complaint = await self._complaint(plugin, attempt, digest, answering.key, yes=width is not None)
        if complaint is not None:
            return BadResponse(complaint)
        drafts, absent = self._drafts(plugin, attempt, answering, width, feedback)
        outcome = await self._writer.once(
            plugin.session,
            drafts,
            present=[log.requested_key(run)],
            absent=[*absent, log.undefined_key(plugin.id)],
        )
        if isinstance(outcome, Appended):
            await self._ledger.catch_up()
            return Answered.of(outcome.events[0])
        return await self._late(plugin.session, run, answering, width)

    def _drafts(
        self, plugin: Plugin, attempt: Attempt, answering: Answering, width: Width | None, feedback: str | None
    ) -> tuple[Sequence[Draft], list[str]]:
        """The events of an answer, and the keys of the answers that must not be there."""
        ids, digest = attempt.ids, attempt.digest
        if width is not None:
            yes = log.consented(ids, width=width, digest=digest, answering=answering, holder=self._holder)
            return [yes], [log.settled_key(attempt.run)]
        no = log.declined(ids, digest=digest, answering=answering, feedback=feedback)
        text = messages.rejected(plugin, attempt, feedback)
        told = self._writer.told(plugin.id, text, wake=attempt.agents)
        return [no, told], [log.consented_key(attempt.run)]

    async def _complaint(self, plugin: Plugin, attempt: Attempt, digest: str, key: str, *, yes: bool) -> str | None:
        """Return why an answer cannot be one of this request, or None; a no needs no sound bytes."""
        if not attempt.needs_consent:
            return "this run needs no consent"
        if not 0 < len(key) <= MAX_KEY:
            return f"the key must have 1 to {MAX_KEY} characters"
        if digest != attempt.digest:
            return "the digest is not that of the request: what was shown is not what would run"
        package = plugin.package(attempt.package)
        code = None if package is None or not yes else await self._ledger.code(plugin, package)
        if yes and (code is None or code.digest != digest):
            return "the stored code is not what was defined: it was changed, and will not run"
        return None

    async def _late(
        self, session: SessionId, run: RunId, answering: Answering, width: Width | None
    ) -> Answered | NotPending:
        """What an answer is told that did not get into the log now: its own receipt again, or what won."""
        for key in (log.consented_key(run), log.settled_key(run)):
            event = await self._store.lookup(session, key)
            if event is None:
                continue
            if _same(event, answering, width):
                return Answered.of(event)
            return NotPending(Decision.of(event))
        return NotPending(None)

    async def _decision(self, session: SessionId, run: RunId) -> Decision | None:
        for key in (log.consented_key(run), log.settled_key(run)):
            event = await self._store.lookup(session, key)
            if event is not None:
                return Decision.of(event)
        return None

    async def revoke(
        self, plugin: Plugin, *, package: PackageId | None, future: bool, answering: Answering
    ) -> Appended | Refused:
        """Take a consent back: nothing that runs ends, and the next start asks. The same key again changes nothing."""
        draft = log.revoked(plugin.id, package=package, future=future, answering=answering)
        outcome = await self._writer.once(plugin.session, [draft], absent=[log.undefined_key(plugin.id)])
        await self._ledger.catch_up()
        return outcome


def _same(event: Event, answering: Answering, width: Width | None) -> bool:
    """Whether the decision in the log is this very answer, sent again."""
    data = event.data
    if data.get("key") != answering.key or data.get("who") != answering.who.json():
        return False
    return event.type == (log.DECLINED if width is None else log.CONSENTED) and data.get("width") == width


def _open(plugins: Iterable[Plugin]) -> list[tuple[Plugin, Attempt]]:
    """The requests that wait for a person, oldest first."""
    found = [(plugin, attempt) for plugin in plugins if (attempt := plugin.pending) is not None]
    return sorted(found, key=lambda pair: _number(pair[1].run))


def _row(opened: Sequence[tuple[Plugin, Attempt]], place: int) -> ConsentRow:
    plugin, attempt = opened[place]
    package = plugin.package(attempt.package)
    assert package is not None  # a request is folded only where its package is known
    return ConsentRow(plugin, attempt, package, place + 1, len(opened))


def _number(run: RunId) -> int:
    return int(run.rpartition("-")[2])
