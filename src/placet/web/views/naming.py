"""What a session is called on every screen: its title, else its first message, else its folder."""

from __future__ import annotations

from pathlib import PurePosixPath

from placet.web.wire import SessionName

LONGEST = 60


def name_of(title: str | None, first: str | None, cwd: str) -> SessionName:
    """Return a session's name, and whose words it is; the agent has no part in it.

    Without a title the person's first message stands for it (`first`, as `shortened` returns it), and before there is
    one, the folder.
    """
    if title:
        return SessionName(text=title, origin="title")
    if first:
        return SessionName(text=first, origin="message")
    return SessionName(text=PurePosixPath(cwd).name or cwd, origin="folder")


def shortened(message: str) -> str:
    """Return a message as a name: one line, cut after a word where it is long."""
    line = " ".join(message[: LONGEST * 20].split())
    if len(line) <= LONGEST:
        return line
    cut = line[: LONGEST - 1]
    word = cut.rpartition(" ")[0]
    return (word if len(word) > LONGEST // 2 else cut).rstrip() + "…"
