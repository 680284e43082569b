"""Every door that a confined command could try, in both backends, both modes, as root and as an ordinary account.

The expectation is exact: a door that is open and should be closed fails, and one that is closed and should be open too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import missing

ROOT = Path(__file__).resolve().parents[2]
ORDINARY = 54321

OPEN = {
    "write: temp": "the session's own temp directory",
    "socket: stream pair": "a pair leads nowhere but to itself",
    "socket: datagram to loopback": "the network is open unless the workspace says otherwise",
    "socket: loopback": "the network is open unless the workspace says otherwise",
}
OPEN_IN_WORKSPACE_WRITE = {
    "write: workspace": "what the mode is for",
    "way: hard link made before": "the file is in the workspace as much as outside",
}
OPEN_UNDER = {
    "bubblewrap": {
        "way: fifo outside": "a read-only mount does not govern pipes that somebody reads",
        "write: shared memory": "the sandbox has one of its own",
    },
    "landlock": {
        "meta: mode": "Landlock does not govern metadata",
        "meta: times": "Landlock does not govern metadata",
        "meta: attribute": "Landlock does not govern metadata",
        "meta: owner": "Landlock does not govern metadata",
        "meta: flags": "Landlock does not govern metadata",
        "process: memory of the machine": "System V memory of the account is not governed",
        "server: lock its file": "a file that can be read can be locked",
        "secret: state directory": "reads are not confined",
        "secret: key of the person": "reads are not confined",
    },
}
OPEN_TO_ORDINARY_ACCOUNTS = {"bubblewrap": set[str](), "landlock": {"process: priority"}}
"""Root without capabilities may not do this to a server that has them."""
CHANGED = {"bubblewrap": [], "landlock": ["meta"]}


def attempts(backend: str, mode: str, uid: int, who: str = "command") -> dict[str, object]:
    """What the attempts came to; skips where this account or machine cannot make the arena."""
    namespace = os.readlink("/proc/self/ns/mnt")
    words = [sys.executable, "-m", "tests.escapes.arena", backend, mode, str(uid), namespace, who]
    if os.geteuid() == 0:
        if shutil.which("unshare") is None:
            pytest.skip("needs unshare (util-linux) for a mount namespace of its own")
        words = ["unshare", "--mount", *words]
    elif uid != os.geteuid():
        pytest.skip("needs root to try as another account")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    ended = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False)
    if "no private file system" in ended.stderr:
        pytest.skip(ended.stderr.strip())
    assert ended.returncode == 0, ended.stderr
    told: dict[str, object] = json.loads(ended.stdout.splitlines()[-1])
    if "unusable" in told:
        missing(backend, str(told["unusable"]))
    return told


@pytest.mark.parametrize("uid", [0, ORDINARY] if os.geteuid() == 0 else [os.geteuid()], ids=lambda uid: f"uid{uid}")
@pytest.mark.parametrize("mode", ["read-only", "workspace-write"])
@pytest.mark.parametrize("backend", ["bubblewrap", "landlock"])
def test_exactly_the_stated_doors_are_open(backend: str, mode: str, uid: int) -> None:
    told = attempts(backend, mode, uid)
    found = told["found"]
    assert isinstance(found, dict)
    assert len(found) > 75, told["said"]
    writes = mode == "workspace-write"
    expected = OPEN.keys() | OPEN_UNDER[backend].keys() | (OPEN_IN_WORKSPACE_WRITE.keys() if writes else set())
    expected |= OPEN_TO_ORDINARY_ACCOUNTS[backend] if uid else set()
    assert {name for name, said in found.items() if said == "ok"} == expected
    assert told["changed"] == sorted([*CHANGED[backend], *(["hard"] if writes else [])])
