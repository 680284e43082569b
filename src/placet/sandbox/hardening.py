"""What every placet process does to itself before anything else."""

from __future__ import annotations

import sys

from .linux.privilege import not_dumpable


def harden() -> None:
    """Close this process to the eyes and hands of other processes of the same account.

    PR_SET_DUMPABLE=0 (prctl(2)): no ptrace, no /proc/PID/{mem,environ,fd}, no core dump. Does nothing outside Linux.
    """
    if sys.platform == "linux":
        not_dumpable()
