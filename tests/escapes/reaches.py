"""What the file tools reach: every kind of path by every verb, through the confined helper."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

from placet.sandbox import Command, Profile, Sandbox
from placet.sandbox.helper import Failure, Inquiry, Verb
from placet.session.ids import SessionId

OTHER = SessionId("s-other")
MARK = "kept"
"""Stands in every file that is tried."""
MORE: dict[Verb, dict[str, Any]] = {
    Verb.READ: {"first": 1, "count": 10},
    Verb.WRITE: {"text": f"{MARK} changed"},
    Verb.EDIT: {"old": MARK, "new": f"{MARK} edited", "all": True},
    Verb.LIST: {"depth": 1},
    Verb.SEARCH: {"pattern": MARK, "glob": None, "ignoreCase": False, "seconds": 10},
}


async def tried(
    box: Sandbox, profile: Profile, folders: dict[str, Path], facts: dict[str, object]
) -> dict[str, object]:
    """What each path comes to by each verb: "ok", or the word of the refusal."""
    found: dict[str, str] = {}
    for name, path in (await _paths(box, profile, folders, facts)).items():
        for verb, more in MORE.items():
            inquiry = Inquiry(profile=profile, verb=verb, arguments={"path": path, **more}, seconds=20)
            came = await box.inquire(inquiry)
            empty = verb is Verb.SEARCH and not isinstance(came, Failure) and not came.data["matches"]
            found[f"{verb}: {name}"] = came.code if isinstance(came, Failure) else "nothing" if empty else "ok"
    return {"found": found, "said": ""}


async def _paths(box: Sandbox, profile: Profile, folders: dict[str, Path], facts: dict[str, object]) -> dict[str, str]:
    workspace, outside, home, state = (folders[name] for name in ("workspace", "outside", "home", "state"))
    _fill(workspace, outside, home, state)
    (profile.temp / "file").write_text(MARK)
    done = await box.run(Command(profile=profile, script=f"yes {MARK} | head -c 100000", timeout_ms=60_000))
    spill = done.stdout.spill_path
    assert spill is not None, done.stderr.text
    other = spill.parent.with_name(OTHER) / spill.name
    other.parent.mkdir()
    other.write_text(MARK)
    pid, held = facts["pid"], facts["fd"]
    backend = box.selection.choose()
    assert backend is not None
    temp = Path("/tmp") if backend.private else profile.temp
    return {
        "workspace": "mine",
        "workspace, a folder": str(workspace / "sub"),
        "workspace, a new file": "new/file",
        "temp": str(temp / "file"),
        "outside": str(outside / "file"),
        "outside, a folder": str(outside / "folder"),
        "outside, a new file": str(outside / "new"),
        "outside, from above": f"{workspace}/../outside/file",
        "outside, a pipe": str(outside / "fifo"),
        "outside, a socket": str(outside / "socket"),
        "home, a new file": str(home / "new"),
        "link to a file": "to-file",
        "link to a folder": "to-outside/file",
        "link to nothing outside": "to-nothing",
        "link to a process": "to-process",
        "link to the state directory": "to-state/placet.db",
        "hard link made before": "hard",
        "pipe in the workspace": "pipe",
        "socket in the workspace": "socket",
        "git, its settings": ".git/config",
        "git, a new hook": ".git/hooks/new",
        "git, what it may write": ".git/description",
        "state directory": str(state),
        "state, the log": str(state / "placet.db"),
        "spill": str(spill),
        "spill of another session": str(other),
        "spills, the folder": str(spill.parent),
        "key of the person": str(home / ".ssh" / "id_test"),
        "key of the person, the folder": str(home / ".ssh"),
        "/proc, the root": "/proc/self/root" + str(outside / "file"),
        "/proc, another root": f"/proc/{pid}/root{outside}/file",
        "/proc, a folder": f"/proc/{pid}/cwd/file",
        "/proc, a descriptor": f"/proc/{pid}/fd/{held}",
        "/proc, the environment": "/proc/self/environ",
        "/proc, the folder": "/proc",
        "/sys": "/sys/kernel/mm/transparent_hugepage/enabled",
        "/dev, nothing": "/dev/null",
        "/dev, endless": "/dev/zero",
        "/dev, standard input": "/dev/stdin",
        "/dev, shared memory": "/dev/shm/placet-escape",
        "a path that is too long": "x" * 5000,
        "a path with a NUL": "a\0b",
    }


def _fill(workspace: Path, outside: Path, home: Path, state: Path) -> None:
    (workspace / "mine").write_text(MARK)
    (workspace / "to-nothing").symlink_to(outside / "nothing")
    (workspace / "to-process").symlink_to("/proc/self/environ")
    (workspace / "to-state").symlink_to(state)
    os.mkfifo(workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(workspace / "socket"))
    for name in ("config", "description", "HEAD"):
        (workspace / ".git" / "hooks").mkdir(parents=True, exist_ok=True)
        (workspace / ".git" / name).write_text(MARK)
    (workspace / ".git" / "objects").mkdir()
    (workspace / ".git" / "refs").mkdir()
    (home / ".ssh" / "id_test").write_text(MARK)
    (state / "placet.db").write_text(MARK)
