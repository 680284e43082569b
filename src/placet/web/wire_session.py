"""The JSON shapes of lists, and of one opened session: its newest events, what is being said, its asks and its jobs."""

from __future__ import annotations

from typing import Literal

from placet.web.wire import AskView, CallKey, JobName, NoticeView, PartialText, Permissions, Summary, Wire, WireEvent


class Sessions(Wire):
    """All sessions but those whose log is damaged; each of these has a notice."""

    sessions: list[Summary]
    notices: list[NoticeView]


class Asks(Wire):
    """Open asks of all sessions but those whose log is damaged; each of these has a notice."""

    asks: list[AskView]
    total: int
    next: str | None
    notices: list[NoticeView]


class EventPage(Wire):
    """Events in ascending order; `before` asks for older ones, null when there are none."""

    events: list[WireEvent]
    before: int | None


class JobView(JobName):
    """A job as it stands; exit code, signal and reason once it has ended."""

    cwd: str
    call: CallKey
    started_at: int
    state: Literal["running", "ended"]
    exit_code: int | None = None
    signal: str | None = None
    reason: str | None = None


class JobOutput(Wire):
    """Output of a job from byte `start` to `end`; `dropped` bytes before it are gone, `more` bytes follow.

    `kept` is false where the output is gone with the process that had it.
    """

    job: JobView
    kept: bool
    text: str
    start: int
    end: int
    dropped: int
    more: int


class SessionView(Wire):
    summary: Summary
    permissions: Permissions
    events: list[WireEvent]
    before: int | None
    partial: PartialText | None
    asks: list[AskView]
    jobs: list[JobView]
    cursor: str
