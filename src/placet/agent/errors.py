"""What can go wrong in the agent's room, and whose fault it is."""

from __future__ import annotations


class AgentError(Exception):
    """Something in the agent's room went wrong; the text is one line for a person."""


class UnknownModel(AgentError):
    """The person named a model that does not exist or that has no key. Name another one, or set the key."""


class BadScript(AgentError):
    """The file behind `script:FILE` cannot be read or is not a list of steps. Correct the file."""


class ModelError(AgentError):
    """The model's side failed. `passing`: it may succeed later; `after`: the vendor's wish, in seconds."""

    def __init__(self, message: str, *, passing: bool = False, after: float | None = None) -> None:
        super().__init__(message)
        self.passing = passing
        self.after = after


class MessageIdTaken(AgentError):
    """A client used the id of an earlier message for another text. Send it again under a new id."""
