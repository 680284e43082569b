"""What is done inside bubblewrap right before a command, by the shell that then becomes the command.

Is this the directory that was signed, and was mounted what was meant, and where? The list of mounts tells the place:
bwrap follows a symlink that is there in that moment. Then the bounds are taken on, and all handles closed. A script
needs no second shell for that: its own reads the look first, as the file that BASH_ENV names (bash(1), INVOCATION).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from placet.kernel.scope import Scope
from placet.sandbox.execution.environment import shell

MOVED = b"moved"
"""What the look tells if the command does not start, because something is not what was meant; else it tells `same`."""
_LOOK = """\
mapfile m </proc/self/mountinfo; m="${{m[*]}}"
if [[ {same} ]]; then echo same >&{told}; else echo moved >&{told}; exit 125; fi
{bounds}
unset m
exec {close}
"""


@dataclass(frozen=True, slots=True)
class Look:
    """The handles that a look needs: on the working directory, on what was mounted where, and to tell what it found.

    `group` is a descriptor by which the command joins its control group, `tasks` how many processes and threads its
    account may have in the namespace; None where there is no such bound.
    """

    workdir: int
    mounted: Sequence[tuple[str, int]]
    told: int
    group: int | None = None
    tasks: int | None = None

    def before(self, argv: Sequence[str], opened: Scope, keep: list[int]) -> tuple[list[str], list[str]]:
        """The arguments by which the look comes before a command, and the options of bwrap that they need.

        What the look is read from is closed with the scope, and added to what is handed on.
        """
        if argv[:2] != (shell(), "-c"):
            return ["bash", "-c", f'{self._text()}exec "$@"', "bash", *argv], []
        return list(argv), first_read(self._text() + "unset BASH_ENV\n", opened, keep)

    def _text(self) -> str:
        group = () if self.group is None else (self.group,)
        handles = (self.workdir, *(handle for _, handle in self.mounted), *group, self.told)
        return _LOOK.format(
            same=" && ".join(self._same()),
            told=self.told,
            bounds="\n".join(self._bounds()),
            close=" ".join(f"{handle}<&-" for handle in handles),
        )

    def _same(self) -> list[str]:
        places = [(".", self.workdir), *self.mounted]
        same = [f"{shlex.quote(place)} -ef /proc/self/fd/{handle}" for place, handle in places]
        for place, handle in self.mounted:
            rights = "[ow]" if os.fstatvfs(handle).f_flag & os.ST_RDONLY else "w"
            same.append(f"$m == *{shlex.quote(f' {_listed(place)} r')}{rights}[,\\ ]*")
        return same

    def _bounds(self) -> list[str]:
        lines = [] if self.tasks is None else [f"ulimit -u {self.tasks} 2>/dev/null"]
        return lines if self.group is None else [*lines, f"echo 0 >&{self.group} || exit 125"]


def first_read(text: str, opened: Scope, keep: list[int]) -> list[str]:
    """The options of bwrap by which a shell inside reads a text first, and closes what it has read it from.

    Set by bwrap and not by its own environment: what is called bwrap here and there is a shell script.
    """
    script = os.memfd_create("placet-look")
    opened.add("look", lambda: os.close(script))
    keep.append(script)
    os.write(script, os.fsencode(f"{text}exec {script}<&-\n"))
    return ["--setenv", "BASH_ENV", f"/proc/self/fd/{script}"]


def _listed(place: str) -> str:
    """How the list of mounts writes a path (proc_pid_mountinfo(5))."""
    for character in "\\ \t\n":
        place = place.replace(character, f"\\{ord(character):03o}")
    return place
