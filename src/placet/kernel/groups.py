"""Task groups wrap what their tasks raise; whoever awaits them here wants the error itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unwrapped() -> Iterator[None]:
    """Raise the first error of an exception group in the group's place: the ones beside it are its consequence."""
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
