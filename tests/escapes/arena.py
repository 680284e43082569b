"""A private place for escape attempts: `python -m tests.escapes.arena BACKEND MODE UID NAMESPACE [files]`.

Started by the tests; `files` has the file tools try instead of a command.
As root it has a mount namespace of its own, a fresh file system on /mnt, and gives up root if UID is not 0. It prints
what the attempts came to, and what changed outside the workspace, as one line of JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import pty
import shutil
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import anyio.lowlevel

from placet.sandbox import Bubblewrap, Command, Landlock, Profile, Sandbox, SandboxMode, Selection, Workdir, harden
from placet.sandbox.backends import kept
from placet.sandbox.linux import keeper
from placet.session.ids import SessionId
from placet.testing.backends import TestPlaces
from tests.escapes import reaches

PROBES = Path(__file__).parent / "probes.py"
Try = Callable[[Sandbox, Profile, dict[str, Path], dict[str, object]], Awaitable[dict[str, object]]]
_MS_REC, _MS_PRIVATE = 16384, 1 << 18


def main(backend: str, mode: str, uid: int, machine_namespace: str, who: str = "command") -> None:
    root = private_root(machine_namespace) if os.geteuid() == 0 else Path.home() / f".placet-arena-{os.getpid()}"
    folders = {name: root / name for name in ("home", "state", "workspace", "outside")}
    for folder in folders.values():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chown(folder, uid, uid)
    shutil.copy(PROBES, folders["home"] / "probes.py")
    os.chmod(folders["home"] / "probes.py", 0o644)
    anyio.run(anyio.lowlevel.checkpoint)  # imports what it needs while it can still be read
    if uid != os.geteuid():
        readable_keeper(root)
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    os.environ["HOME"] = str(folders["home"])
    try:
        tried = reaches.tried if who == "files" else _tried
        print(json.dumps(anyio.run(_attempts, backend, SandboxMode(mode), folders, machine_namespace, tried)))
    finally:
        if not root.is_relative_to("/mnt"):
            shutil.rmtree(root, ignore_errors=True)


def readable_keeper(folder: Path) -> None:
    """Let keepers and helpers run on the system's Python: an ordinary account may not be able to read ours."""
    sys._base_executable = "/usr/bin/python3"  # type: ignore[attr-defined]
    kept.PYTHON, kept.FOLDER = "/usr/bin/python3", str(folder / "code")
    shutil.copytree(Path(keeper.__file__).parent, folder / "code" / "linux")


def private_root(machine_namespace: str) -> Path:
    if os.readlink("/proc/self/ns/mnt") == machine_namespace:
        sys.exit("this is the machine's own mount namespace")
    libc = ctypes.CDLL(None, use_errno=True)
    flags = ctypes.c_ulong(_MS_REC | _MS_PRIVATE)
    if libc.mount(b"none", b"/", None, flags, None) or libc.mount(b"arena", b"/mnt", b"tmpfs", ctypes.c_ulong(0), None):
        sys.exit("no private file system: " + os.strerror(ctypes.get_errno()))
    os.chmod("/mnt", 0o755)
    return Path("/mnt/arena")


async def _attempts(
    name: str, mode: SandboxMode, folders: dict[str, Path], machine_namespace: str, tried: Try
) -> dict[str, object]:
    state, workspace, outside = folders["state"], folders["workspace"], folders["outside"]
    _fill(folders)
    harden()
    backend = Bubblewrap(state) if name == "bubblewrap" else Landlock(state)
    box = Sandbox(TestPlaces(state), Selection([backend], {}))
    if box.selection.choose() is None:
        return {"unusable": box.selection.report()["backends"][0]["why"]}
    held = os.open(outside / "file", os.O_RDWR)
    reader = os.open(outside / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    victim = subprocess.Popen(["sleep", "100"], cwd=outside, pass_fds=(held,), env={"SECRET": "1"})
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as box_socket, \
            socket.socket(socket.AF_UNIX) as abstract, socket.socket() as tcp:  # fmt: skip
        server.bind(str(outside / "socket"))
        box_socket.bind(str(outside / "box"))
        abstract.bind(f"\0placet-arena-{os.getpid()}")
        tcp.bind(("127.0.0.1", 0))
        for listener in (server, abstract, tcp):
            listener.listen(8)
        facts = {
            "outside": str(outside), "workspace": str(workspace), "state": str(state), "pid": victim.pid, "fd": held,
            "port": tcp.getsockname()[1], "abstract": f"placet-arena-{os.getpid()}", "server": os.getpid(),
            "segment": segment(),
            "terminal": os.ttyname(pty.openpty()[1]), "namespace": machine_namespace, "private": uid_is_ordinary(),
        }  # fmt: skip
        before = _picture(outside)
        profile = box.profile(SessionId("s-arena"), Workdir.of(workspace), mode)
        told = await tried(box, profile, folders, facts)
        await box.aclose()
    os.close(reader)
    victim.kill()
    victim.wait()
    after = _picture(outside)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return {**told, "changed": changed}


async def _tried(
    box: Sandbox, profile: Profile, folders: dict[str, Path], facts: dict[str, object]
) -> dict[str, object]:
    """What a command finds open."""
    script = f"/usr/bin/python3 {folders['home']}/probes.py '{json.dumps(facts)}'"
    done = await box.run(Command(profile=profile, script=script, timeout_ms=60_000))
    lines = done.stdout.text.splitlines()
    return {"found": json.loads(lines[-1]) if lines else {}, "said": done.stderr.text[-2000:]}


def segment() -> int:
    """A piece of System V memory of this account, as databases and screens have."""
    private, size, create = 0, 4096, 0o1600
    return int(ctypes.CDLL(None).shmget(private, size, create))


def uid_is_ordinary() -> bool:
    """Whether this process has no rights that an unconfined attempt could do harm with."""
    return os.geteuid() != 0


def _fill(folders: dict[str, Path]) -> None:
    workspace, outside, home = folders["workspace"], folders["outside"], folders["home"]
    for name in ("file", "gone", "meta", "hard"):
        (outside / name).write_text("kept")
    (outside / "folder").mkdir()
    os.mkfifo(outside / "fifo")
    (workspace / "mine").write_text("mine")
    (workspace / "sub").mkdir()
    (workspace / "to-file").symlink_to(outside / "file")
    (workspace / "to-outside").symlink_to(outside)
    os.link(outside / "hard", workspace / "hard")
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_test").write_text("secret")
    (folders["state"] / "placet.db").write_text("secret")


def _picture(outside: Path) -> dict[str, tuple[object, ...]]:
    seen = {}
    for path in outside.rglob("*"):
        facts = path.lstat()
        text = path.read_text() if path.is_file() and not path.is_symlink() else ""
        seen[path.name] = (facts.st_mode, facts.st_mtime_ns, text)
    return seen


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
