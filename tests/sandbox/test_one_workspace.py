"""What holds for one workspace alone: its network, and its file system when that is full."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from placet.sandbox import Backend, Bubblewrap, Landlock, Settings
from placet.sandbox.policy import Network
from placet.sandbox.service import WorkspaceSettings
from placet.testing.backends import rig
from tests.conftest import missing

pytestmark = pytest.mark.anyio


async def test_the_network_is_open_or_closed_for_each_workspace_alone(needs_bubblewrap: str) -> None:
    own: dict[Path, WorkspaceSettings] = {}
    backends: list[Callable[[Path], list[Backend]]] = [
        lambda state: [Bubblewrap(state)],
        lambda state: [Landlock(state)],
    ]
    for backend in backends:
        with rig(backend, Settings(workspaces=own)) as made, socket.socket() as server:
            if made.sandbox.selection.choose() is None:
                continue
            server.bind(("127.0.0.1", 0))
            server.listen()
            script = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}"
            assert (await made.run(script)).exit_code == 0
            own[made.ws] = WorkspaceSettings(Network.NONE)
            assert (await made.run(script)).exit_code != 0
            own[made.ws.with_name("another")] = own.pop(made.ws)
            assert (await made.run(script)).exit_code == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a small file system in a mount namespace of its own")
@pytest.mark.parametrize("backend", ["Bubblewrap", "Landlock"])
def test_a_full_workspace_is_one_clear_line_and_no_denial(backend: str) -> None:
    script = f"""
import json, subprocess
import anyio
from placet.sandbox import Bubblewrap, Landlock, Workdir, WorkdirUnusable
from placet.testing.backends import Rig, rig
async def main():
    with rig(lambda state: [{backend}(state)]) as made:
        if made.sandbox.selection.choose() is None:
            return print("null")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "small", str(made.ws)], check=True)
        small = Rig(made.sandbox, Workdir.of(made.ws), made.outside, made.session)
        done = await small.run("git init -q . 2>/dev/null; head -c 9000000 /dev/zero > big")
        try:
            again = await small.run("rm big")
        except WorkdirUnusable as refused:
            again = None
            print(json.dumps(refused.why))
        subprocess.run(["umount", str(made.ws)], check=True)
        facts = [(run.exit_code, run.sandbox.denied, run.sandbox.runner_failed) for run in (done, again) if run]
        print(json.dumps([facts, done.stderr.text]))
anyio.run(main)
"""
    words = ["unshare", "--mount", "--propagation", "private", sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    *refused, said = (json.loads(line) for line in done.stdout.splitlines())
    if said is None:
        missing(backend.lower(), "it is not usable here")
    facts, stderr = said
    assert facts[0] == [1, False, None]
    assert "No space left" in stderr
    if backend == "Landlock":
        assert facts[1] == [0, False, None]
    else:
        assert "cannot be guarded, so nothing was run: No space left" in refused[0]
