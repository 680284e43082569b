"""What can go wrong between a screen and placet, each with whose fault it is and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from placet.web.wire import JobName


class ApiError(Exception):
    """A request that gets no; the sender sees the code, the sentence and the hint, and nothing else.

    Raised where a request is refused. `status` is the HTTP status; the class says whose fault it is.
    """

    status = 400
    code = "bad-request"

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.message = message
        self.hint = hint


class BadRequest(ApiError):
    """The sender's fault: what was sent cannot be read."""


class NotLinked(ApiError):
    """The sender's fault: nobody who is known here signed this request."""

    status = 401
    code = "not-linked"


class BadSignature(ApiError):
    """The sender's fault: the signature does not cover this request, or its counter was used before."""

    status = 401
    code = "bad-signature"


class Forbidden(ApiError):
    """The sender's fault: known or not, this may not be asked from there."""

    status = 403
    code = "forbidden"


class NotFound(ApiError):
    """The sender's fault: there is no such thing."""

    status = 404
    code = "not-found"


class Conflict(ApiError):
    """Nobody's fault: the state is another one than the sender believed."""

    status = 409
    code = "conflict"


class JobsRunning(Conflict):
    """Nobody's fault: jobs or plugins run that this would end, and the sender has not said that this is meant."""

    code = "jobs-running"

    def __init__(self, jobs: Sequence[JobName]) -> None:
        names = "; ".join(f"{job.command!r} ({job.mode})" for job in jobs)
        super().__init__(
            f"this runs with more than that, and would end: {names}", hint="Send confirm: true if that is meant."
        )
        self.jobs = tuple(jobs)


class TooLarge(ApiError):
    """The sender's fault: the body is over the bound."""

    status = 413
    code = "too-large"


class WrongType(ApiError):
    """The sender's fault: the body is not declared as JSON."""

    status = 415
    code = "json-only"


class Unacceptable(ApiError):
    """The sender's fault: readable, but not a value that this place takes."""

    status = 422
    code = "bad-value"


class TooMany(ApiError):
    """The sender's fault: one more of these would be too many."""

    status = 429
    code = "too-many"


class NotRecorded(ApiError):
    """The installation's fault: the log did not take it, so it did not happen. It may be sent again."""

    status = 503
    code = "not-recorded"


class Damaged(ApiError):
    """The installation's fault: the log is damaged there, and sending it again does not help."""

    status = 503
    code = "damaged"


class UnlistedRoute(Exception):
    """The programmer's fault: a route declares no right. Declare one with `rights.needs`."""


class PlantedKey(Exception):
    """Somebody put a server key into the state directory before placet did. Remove the file and look who it was."""


class PageDamaged(Exception):
    """The built page is not the one that was built. Build it again."""


class PortTaken(Exception):
    """Nobody's fault: no port near the wanted one is free. Name another with --port."""


class AlreadyServing(Exception):
    """Nobody's fault: a server of this state directory runs. Use that one, or stop it first."""
