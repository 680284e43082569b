"""Remembers what workspaces looked like, so that one look after each call is enough."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from pathlib import Path

from .appeared import Findings, Picture, findings, picture

_REMEMBERED = 64


class Watches:
    """The last pictures of the workspaces of one server."""

    def __init__(self) -> None:
        self._pictures: OrderedDict[tuple[Path, ...], Picture] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, workspace: Path, git_roots: tuple[Path, ...] = (), *, since: int | None = None) -> Watch:
        """Begin to watch a call, or what has gone on since an earlier time (epoch, nanoseconds).

        Looks at the workspace now if it was never looked at. Blocks for that look.
        """
        with self._lock:
            known = self._pictures.get((workspace, *git_roots))
        if known is None:
            known = picture([workspace], git_roots)
            self.remember((workspace, *git_roots), known)
        return Watch(self, workspace, git_roots, known, time.time_ns() if since is None else since)

    def remember(self, roots: tuple[Path, ...], seen: Picture) -> None:
        """Keep a picture for the next call; the least used ones are forgotten."""
        with self._lock:
            self._pictures[roots] = seen
            self._pictures.move_to_end(roots)
            while len(self._pictures) > _REMEMBERED:
                self._pictures.popitem(last=False)


class Watch:
    """One call that is watched from its start on."""

    def __init__(
        self, watches: Watches, workspace: Path, git_roots: tuple[Path, ...], before: Picture, since: int
    ) -> None:
        self._watches, self._workspace, self._git_roots, self._before = watches, workspace, git_roots, before
        self.since = since

    @property
    def workspace(self) -> Path:
        return self._workspace

    def end(self) -> Findings:
        """What the call has made or changed so far; the next call begins from there. Blocks for one look."""
        after = picture([self._workspace], self._git_roots)
        self._watches.remember((self._workspace, *self._git_roots), after)
        return findings(self._before, after, self.since)

    def peek(self) -> Findings:
        """The same, and a later call tells it again."""
        return findings(self._before, picture([self._workspace], self._git_roots), self.since)
