"""The same as an ordinary account, and where the machine refuses what a backend needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from placet.sandbox.execution.bounds import Bounds
from placet.sandbox.linux.privilege import linux

ROOT = Path(__file__).resolve().parents[2]
ORDINARY = 54321

# Started as root, it loads everything first, then becomes an ordinary account and loses what `lacking` says.
_BODY = textwrap.dedent("""
    import json, os, shutil, sys, tempfile
    from pathlib import Path
    import anyio, anyio.lowlevel
    from placet.sandbox import (Bubblewrap, Command, Landlock, Sandbox, SandboxMode, SandboxUnavailable, Selection,
                                Workdir, WorkspaceFacts, harden)
    from placet.sandbox.linux import privilege, seccomp
    from placet.sandbox.service import Settings
    from placet.session.ids import SessionId
    from placet.testing.backends import TestPlaces
    from tests.escapes.arena import private_root, readable_keeper
    anyio.run(anyio.lowlevel.checkpoint)
    uid, lacking, machine = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    root = os.geteuid() == 0
    folder = private_root(machine) if root else Path(tempfile.mkdtemp(prefix=".placet-test-", dir=Path.home()))
    for part in ("home", "state", "workspace", "outside"):
        (folder / part).mkdir(parents=True, mode=0o755)
        os.chown(folder / part, uid, uid)
    if root:
        readable_keeper(folder)
        os.setgroups([]); os.setgid(uid); os.setuid(uid)
    os.environ["HOME"] = str(folder / "home")
    harden()

    def refuse(*numbers, clone=None, error=1):
        m, code = seccomp.machine(), []
        code = [seccomp._step(0x20, 0)]
        for number in numbers: code += seccomp._when(number, 0x00050000 | error)
        for number in (clone or ()):
            code += seccomp._guard(number, [seccomp._argument(0), seccomp._step(0x45, 0x10000000, 0, 1),
                                            seccomp._step(0x06, 0x00050000 | error)])
        privilege.no_new_privileges()
        seccomp.install(m, b"".join([*code, seccomp._step(0x06, 0x7FFF0000)]))

    m = seccomp.machine()
    if "namespaces" in lacking:
        refuse(435, error=38)
        refuse(clone=(m.clone, m.unshare), error=28 if "ENOSPC" in lacking else 1)
    if "landlock" in lacking: refuse(444, 445, 446, error=38)

    async def main():
        state = folder / "state"
        selection = Selection([Bubblewrap(state), Landlock(state)], {})
        box = Sandbox(TestPlaces(state), selection, settings=Settings(watch=True))
        told = {"report": box.selection.report()}
        facts = await box.check_workspace(folder / "workspace")
        assert isinstance(facts, WorkspaceFacts), facts
        try:
            told["probe"] = await box.probe_write(SessionId("s-1"), facts.workdir)
            scripts = {
                "inside": "echo x > new; cat new", "outside": f"echo x > {folder}/outside/new",
                "silent": f"exec 2>/dev/null; echo x > {folder}/outside/new",
                "limits": "ulimit -u; ulimit -u 12; for n in {1..20}; do sleep 5 & done; echo all started",
            }
            for name, script in scripts.items():
                profile = box.profile(SessionId("s-1"), facts.workdir, SandboxMode.WORKSPACE_WRITE)
                done = await box.run(Command(profile=profile, script=script))
                told[name] = [done.exit_code, done.stdout.text, done.sandbox.denied, done.sandbox.path]
        except SandboxUnavailable as refused:
            told["refused"] = [refused.why, refused.hint]
        told["changed"] = os.listdir(folder / "outside")
        print(json.dumps(told))
    try:
        anyio.run(main)
    finally:
        if not root:
            shutil.rmtree(folder)
""")


def tell(lacking: str = "") -> dict[str, object]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    uid = ORDINARY if os.geteuid() == 0 else os.geteuid()
    words = [sys.executable, "-c", _BODY, str(uid), lacking, os.readlink("/proc/self/ns/mnt")]
    if os.geteuid() == 0:
        if shutil.which("unshare") is None:
            pytest.skip("needs unshare (util-linux) for a mount namespace of its own")
        words = ["unshare", "--mount", *words]
    ended = subprocess.run(words, cwd="/", env=env, capture_output=True, text=True, timeout=100, check=False)
    if "no private file system" in ended.stderr:
        pytest.skip(ended.stderr.strip())
    assert ended.returncode == 0, ended.stderr
    told: dict[str, object] = json.loads(ended.stdout)
    assert told["changed"] == []
    return told


def chosen(told: dict[str, object]) -> str | None:
    report = told["report"]
    assert isinstance(report, dict)
    name: str | None = report["chosen"]
    return name


def test_an_ordinary_account_has_the_same_sandbox(needs_bubblewrap: str) -> None:
    told = tell()
    assert chosen(told) == "bubblewrap"
    assert (told["probe"], told["inside"]) == (None, [0, "x\n", False, None])
    assert str(told["outside"]).startswith("[1, '', True")


@pytest.mark.skipif(
    linux() < (5, 14), reason="before Linux 5.14 the kernel counts an account in all namespaces at once"
)
def test_the_kernel_counts_the_processes_of_each_command_alone(needs_bubblewrap: str) -> None:
    limits = tell()["limits"]
    assert isinstance(limits, list)
    first, *others = limits[1].splitlines()
    assert int(first) == Bounds().tasks
    assert "all started" not in others


@pytest.mark.parametrize("error", ["", "ENOSPC"])
def test_sbx_16_without_namespaces_landlock_is_used(error: str) -> None:
    told = tell(f"namespaces {error}")
    if chosen(told) is None:
        pytest.skip("this kernel has no Landlock that is new enough")
    assert chosen(told) == "landlock"
    assert told["inside"] == [0, "x\n", False, None]
    outside = told["outside"]
    assert isinstance(outside, list)
    assert outside[:3] == [1, "", True]
    assert outside[3].endswith("/outside/new")
    assert told["silent"] == outside  # found by watching its calls


def test_sbx_16_without_both_the_command_is_refused_with_cause_and_fix() -> None:
    told = tell("namespaces landlock")
    assert chosen(told) is None
    assert "inside" not in told
    why, hint = told["refused"]  # type: ignore[misc]
    assert "bubblewrap" in why
    assert "the kernel does not offer Landlock" in why
    assert "namespaces" in hint
