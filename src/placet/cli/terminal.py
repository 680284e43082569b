"""Reading a person's hand on a terminal: exclusive, freshly drawn, typed and not pasted."""

import fcntl
import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ARMING_SECONDS = 0.4
_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_CLEAR = "\x1b[H\x1b[2J"


class NotTyped(Exception):
    """What came in was not typed by hand (pasted, or a control sequence); nothing was taken from it."""


class GaveUp(Exception):
    """The person ended the question without an answer; nothing was decided."""


def is_terminal() -> bool:
    """Whether a person can be shown a card here and can type: stdin and stdout are one and the same terminal."""
    try:
        return os.isatty(0) and os.isatty(1) and os.fstat(0).st_rdev == os.fstat(1).st_rdev
    except OSError:
        return False


@contextmanager
def exclusive() -> Iterator[None]:
    """No other process may open this terminal meanwhile, so that nothing else can draw a card on it (tty_ioctl(4))."""
    fcntl.ioctl(0, termios.TIOCEXCL)
    try:
        yield
    finally:
        fcntl.ioctl(0, termios.TIOCNXCL)


def ask_typed(draw: Callable[[], str], prompt: str, length: int) -> str:
    """Draw right before reading, wait until the keys are armed, and return the `length` characters that were typed.

    Keys that were pressed or pasted before the drawing are thrown away. Raises `NotTyped` for a paste, with or without
    bracketed paste, and `GaveUp` for an empty line, Ctrl-C or Ctrl-D.
    """
    saved = termios.tcgetattr(0)
    try:
        tty.setcbreak(0, termios.TCSAFLUSH)
        no_signals = termios.tcgetattr(0)
        no_signals[3] &= ~termios.ISIG
        termios.tcsetattr(0, termios.TCSAFLUSH, no_signals)
        _write(_PASTE_ON + _CLEAR + draw() + "\n")
        time.sleep(_ARMING_SECONDS)
        termios.tcflush(0, termios.TCIFLUSH)
        _write(prompt)
        return _read(length)
    finally:
        _write(_PASTE_OFF + "\n")
        termios.tcsetattr(0, termios.TCSAFLUSH, saved)


def _read(length: int) -> str:
    typed = ""
    while True:
        select.select([0], [], [])
        chunk = os.read(0, 256)
        if not chunk or chunk in (b"\x03", b"\x04"):
            raise GaveUp
        if len(chunk) > 2 or b"\x1b" in chunk:  # a hand gives one key at a time, two when the line is slow
            raise NotTyped
        for byte in chunk:
            key = chr(byte)
            if key in "\r\n":
                if not typed:
                    raise GaveUp
                return typed
            if key in "\x7f\x08":
                if typed:
                    typed = typed[:-1]
                    _write("\b \b")
            elif key.isascii() and key.isalnum() and len(typed) < length:
                typed += key
                _write(key)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
