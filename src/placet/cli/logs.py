"""Where the server's own troubles go: one line each to the terminal, the whole story to a file."""

import logging
import logging.handlers
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from placet.cli.output import warn


@contextmanager
def to_terminal(folder: Path) -> Iterator[None]:
    """Show warnings and errors as one line each, and keep them with their tracebacks in a file."""
    logger = logging.getLogger()
    whole = _Whole(
        folder / "server.log", maxBytes=1 << 20, backupCount=3, encoding="utf-8", delay=True, errors="backslashreplace"
    )
    whole.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    handlers = [_OneLine(), whole]
    for handler in handlers:
        handler.setLevel(logging.WARNING)
        logger.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            logger.removeHandler(handler)
            with suppress(OSError):  # a full disk: what the file could not take yet is lost
                handler.close()


class _Whole(logging.handlers.RotatingFileHandler):
    """Keeps records in full, where the disk has room for them."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Let go of the record: the terminal has its line, and a traceback there would say less."""


class _OneLine(logging.Handler):
    """Prints a record as one line without a traceback."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        with suppress(OSError):  # the terminal has gone; the file has the record
            warn(record.getMessage() + (f" ({type(error).__name__}: {error})" if error is not None else ""))
