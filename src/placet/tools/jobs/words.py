"""What the model reads about jobs: in the tools' descriptions, in their results, and when a job has ended."""

from __future__ import annotations

from placet.sandbox.mode import SandboxMode
from placet.session.codec import unescape
from placet.tools.jobs.record import Ended, Reason, Started

OUTPUT = """\
Read what a background job has written since you last read it, standard output and standard error in the order in which
they came. The last line says whether it still runs. The newest 64,000 bytes of a job are kept. With `waitMs` the call
waits that long at most for something new, instead of asking again and again. A message tells you when a job ends.
"""
LIST = "List the background jobs of this session: those that run, and how the others ended."
KILL = "End a background job of this session, with everything that it has started. It gets three seconds to end itself."
JOB_ID = "The id that bash returned, `j-` and 26 characters."
WAIT = "Milliseconds to wait for new output or the end, 60000 at most; 0 if left out."

NO_JOB = "there is no job {job!r} in this session; job_list shows the jobs that there are"
OUTPUT_GONE = "(its output was kept in memory only and is gone)"

WHY = {
    Reason.EXITED: "it ended by itself",
    Reason.FAILED: "the sandbox could not run it",
    Reason.KILLED: "you ended it with job_kill",
    Reason.STOPPED: "the user ended it",
    Reason.TURN_STOPPED: "the user stopped the turn that had started it",
    Reason.NARROWED: "the user narrowed what commands may touch, and it ran with more",
    Reason.ARCHIVED: "the session was put away",
    Reason.DELETED: "the session was deleted",
    Reason.SHUTDOWN: "placet ended, and its jobs with it",
    Reason.LOST: (
        "placet was interrupted while it ran, so nobody saw how it ended. What it did until then is unknown; if it had"
        " full access, parts of it may still be alive"
    ),
}


def started(job: str) -> str:
    """Say that a command runs in the background."""
    return (
        f"The command runs in the background as job {job}. A message will tell you when it ends. Read its output with"
        " job_output, end it with job_kill."
    )


def state(ended: Ended | None) -> str:
    """Say in one marker whether a job runs, or how it ended."""
    if ended is None:
        return "[running]"
    if ended.signal is not None:
        how = f"killed by signal: {ended.signal}"
    elif ended.exit_code is not None:
        how = f"exit code: {ended.exit_code}"
    else:
        how = "no exit code"
    why = "" if ended.reason is Reason.EXITED else f"; {WHY[ended.reason]}"
    return f"[ended, {how}{why}]"


def marks(ended: Ended | None, mode: SandboxMode) -> list[str]:
    """Return the marker lines after a job's output, its state last."""
    lines = []
    if ended is not None and ended.denied is not None:
        lines.append(f"[sandbox: file access denied under {mode} mode]")
    if ended is not None and ended.error is not None:
        lines.append(f"[sandbox: {ended.error}]")
    return [*lines, state(ended)]


def line(job: Started, ended: Ended | None) -> str:
    """Say in one line which job it is and how it stands."""
    return f"{job.id} {state(ended)} {short(job.command)}"


def notice(job: Started, ended: Ended) -> str:
    """Tell the agent that a job is over."""
    text = f"Background job {job.id} is over {state(ended)}. Command: {short(job.command)}"
    return text if ended.reason is Reason.LOST else f"{text}\nRead what it wrote with job_output."


def short(command: str) -> str:
    """Return the first line of a command in the escaped form, cut to a length for a line."""
    text = unescape(command).strip()
    first, _, rest = text.partition("\n")
    first = "".join(character if character.isprintable() else "�" for character in first)
    return first if len(first) <= 120 and not rest else f"{first[:120]} …"
