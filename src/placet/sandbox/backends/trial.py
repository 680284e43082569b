"""The trial that every backend has to stand before it is used: a write inside works, a write outside does not."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from placet.sandbox.execution.environment import shell
from placet.sandbox.mode import SandboxMode
from placet.sandbox.policy import Profile, Workdir
from placet.session.ids import SessionId

_SCRIPT = """
: > inside || exit 71
: > "$TMPDIR/temp" || exit 72
(: > "$1") 2>/dev/null
if [ "$3" = yes ] && [ -w "$HOME" ]; then exit 74; fi
while read -r name value; do
  case $name in Seccomp:) filter=$value ;; NoNewPrivs:) gains=$value ;; CapEff:) rights=$value ;; esac
done < /proc/self/status
[ "$filter" = 2 ] && [ "$gains" = 1 ] && [ "${rights//0/}" = "" ] || exit 75
if [ "$2" = yes ] && [ $$ -gt 99 ]; then exit 76; fi
if [ "$2" = yes ] && [ "$LOOKED" != yes ]; then exit 77; fi
exit 70
"""
_CONFINED = 70
_SAID = {
    71: "a confined command could not write in its workspace",
    72: "a confined command could not write in its temp directory",
    73: "a confined command could write outside its workspace",
    74: "a confined command could write in the home directory",
    75: "a confined command ran without the system call filter or with capabilities",
    76: "a confined command saw the processes of the machine",
    77: "the shell did not read the file that BASH_ENV names, so nothing could be looked at before a command",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial: a workspace of its own, and a file beside it that must not come to be."""

    profile: Profile
    outside: Path
    env: dict[str, str]

    def argv(self, *, own_pids: bool, read_only_home: bool) -> list[str]:
        """The command; `own_pids` demands that it does not see the machine's processes.

        A home directory below the temp directories (of a test account, say) is hidden by private, writable ones.
        """
        home = Path(self.env["HOME"])
        read_only_home = read_only_home and not any(Path(temp) in home.parents for temp in ("/tmp", "/var/tmp"))
        return [
            shell(),
            "-c",
            _SCRIPT,
            "bash",
            str(self.outside),
            *("yes" if asked else "no" for asked in (own_pids, read_only_home)),
        ]

    def verdict(self, code: int, stderr: str) -> str | None:
        """None if the command ran and was confined, else why not. Looks at what happened, not at words.

        A write that seemed to work inside but is not there outside went into a private directory, and did no harm.
        """
        if self.outside.exists():
            return _SAID[73]
        inside = (self.profile.workspace.path / "inside").exists() and (self.profile.temp / "temp").exists()
        if code == _CONFINED and inside:
            return None
        if code in _SAID:
            return _SAID[code]
        lines = stderr.strip().splitlines()
        return lines[-1][:300] if lines else f"the trial command did not run (exit code {code})"


@contextmanager
def trial(state: Path) -> Iterator[Trial]:
    """A trial in a fresh directory below the state directory, which is removed afterwards."""
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="probe-", dir=state))
    try:
        workspace, temp = folder / "workspace", folder / "temp"
        workspace.mkdir()
        temp.mkdir()
        profile = Profile(
            mode=SandboxMode.WORKSPACE_WRITE,
            session=SessionId("probe"),
            workspace=Workdir.of(workspace),
            temp=Path(os.path.realpath(temp)),
        )
        env = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": os.environ.get("HOME", "/"),
            "TMPDIR": str(temp),
            "LC_ALL": "C.UTF-8",
        }
        yield Trial(profile, folder / "outside", env)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
