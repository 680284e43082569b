"""What the file tools reach is exactly what is stated here: each verb, each kind of path, as for commands or less."""

from __future__ import annotations

import os

import pytest

from tests.escapes.test_matrix import ORDINARY, attempts

READABLE = {
    "workspace": "what the session is about",
    "temp": "the session's own temp directory",
    "hard link made before": "the file is in the workspace as much as outside",
    "git, its settings": "what is protected can be read",
    "git, what it may write": "what the session is about",
    "outside": "reads are not confined",
    "outside, from above": "reads are not confined",
    "link to a file": "reads are not confined",
    "link to a folder": "reads are not confined",
}
LISTED = {"workspace, a folder", "outside, a folder"}
WRITABLE = {"workspace", "workspace, a new file", "hard link made before", "git, what it may write"}
"""In workspace-write. A file tool gives a hard link's name a new file, so the other name keeps the old one."""
DENIED = {
    "outside", "outside, a new file", "outside, from above", "home, a new file",
    "link to a file", "link to a folder", "link to nothing outside", "link to the state directory",
    "git, its settings", "git, a new hook",
    "state directory", "state, the log", "spill", "spill of another session", "spills, the folder",
    "key of the person", "key of the person, the folder",
}  # fmt: skip
"""What a write to is denied by the sandbox's rules, so that it may be asked about; other refusals are final."""


BACKENDS, MODES = ("bubblewrap", "landlock"), ("read-only", "workspace-write")
SOAK = os.environ.get("PLACET_SOAK") == "1"


def places() -> list[tuple[str, str, int]]:
    """Each backend, mode and account; as root and without soak every pair of two of them, in half as many runs."""
    if os.geteuid() != 0:
        return [(backend, mode, os.geteuid()) for backend in BACKENDS for mode in MODES]
    accounts = [0, ORDINARY]
    found = [(backend, mode, uid) for backend in BACKENDS for mode in MODES for uid in accounts]
    index = [(BACKENDS.index(b) + MODES.index(m) + accounts.index(u)) % 2 for b, m, u in found]
    return [one for one, odd in zip(found, index, strict=True) if SOAK or not odd]


@pytest.mark.parametrize(
    ("backend", "mode", "uid"), places(), ids=lambda one: f"uid{one}" if isinstance(one, int) else one
)
def test_the_file_tools_reach_exactly_what_is_stated(backend: str, mode: str, uid: int) -> None:
    told = attempts(backend, mode, uid, "files")
    found = told["found"]
    assert isinstance(found, dict)
    assert len(found) > 200, told
    writes = {"temp", *(WRITABLE if mode == "workspace-write" else ())}
    expected = {f"{verb}: {name}" for verb in ("read", "search") for name in READABLE}
    expected |= {f"{verb}: {name}" for verb in ("write", "edit") for name in writes}
    expected |= {f"list: {name}" for name in LISTED} | {"read: spill"}
    expected |= {"search: workspace, a new file"} if mode == "workspace-write" else set()  # it is there by then
    assert {name for name, said in found.items() if said == "ok"} == expected
    denied = DENIED if mode == "workspace-write" else DENIED | WRITABLE
    assert {f"write: {name}" for name in denied} == {
        name for name, said in found.items() if name.startswith("write: ") and said == "FS_SANDBOX_DENIED"
    }
    assert told["changed"] == []
