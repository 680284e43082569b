"""Doors on this machine that a command with network could use: services that run code, and keys that open them.

Nothing is connected to: the system's own tables are read, and a few files of the home directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTENS = "0A"
_SERVICES = {
    22: "ssh",
    2375: "docker (it starts containers for whoever asks)",
    2376: "docker",
    4444: "a debugger or Selenium",
    5005: "a Java debugger",
    5037: "adb",
    5432: "PostgreSQL (COPY can run programs)",
    5678: "debugpy (it runs code for whoever connects)",
    8265: "Ray (it runs jobs for whoever asks)",
    8888: "Jupyter",
    9222: "the debug port of a browser (it runs code for whoever connects)",
    9229: "the debug port of Node (it runs code for whoever connects)",
    **{6000 + number: "an X display" for number in range(20)},
}
_JUPYTER = (".local/share/jupyter/runtime", ".jupyter/runtime")
_LARGEST = 1 << 16
_MOST = 200


@dataclass(frozen=True, slots=True)
class Door:
    """One way to have code run outside of a sandbox: where, what it is, and a file that opens it if there is one."""

    where: str
    what: str
    key: Path | None = None


def doors(home: Path, tables: Iterable[Path] = _TABLES) -> list[Door]:
    """What listens here and is known to run code, and which files of the home directory let a reader in."""
    ports = sorted(set(listening(tables)))
    found = [Door(f"port {port}", _SERVICES[port]) for port in ports if port in _SERVICES]
    return [*found, *_jupyter(home), *_own_keys(home, open_here=22 in ports)]


def listening(tables: Iterable[Path]) -> Iterator[int]:
    """The ports on which something listens that this machine reaches (proc_net_tcp)."""
    for table in tables:
        with suppress(OSError), table.open(encoding="ascii") as lines:
            for line in lines:
                words = line.split()
                if len(words) > 3 and words[3] == _LISTENS:
                    yield int(words[1].rpartition(":")[2], 16)


def _jupyter(home: Path) -> Iterator[Door]:
    for name in _JUPYTER:
        with suppress(OSError):
            for entry in sorted(os.listdir(home / name))[:_MOST]:
                if entry.endswith(".json") and entry.startswith(("jpserver-", "nbserver-", "kernel-")):
                    yield Door("Jupyter", "its runtime file holds the token or key of a server", home / name / entry)


def _own_keys(home: Path, *, open_here: bool) -> Iterator[Door]:
    """Private keys of the account that let their reader in by ssh, here if it listens and knows them."""
    folder = home / ".ssh"
    known = set(_key_texts(folder / "authorized_keys"))
    names: list[str] = []
    with suppress(OSError):
        names = sorted(os.listdir(folder))[:_MOST]
    for name in names:
        private = folder / name.removesuffix(".pub")
        if name.endswith(".pub") and known.intersection(_key_texts(folder / name)) and private.exists():
            what = "opens this account by ssh" + ("" if open_here else ", if an ssh server runs")
            yield Door("ssh to this machine", what, private)


def _key_texts(path: Path) -> Iterator[str]:
    """The key bodies in a file of public keys."""
    with suppress(OSError, ValueError), path.open(encoding="utf-8") as file:
        for line in file.read(_LARGEST).splitlines():
            yield from (word for word in line.split() if word.startswith("AAAA"))
