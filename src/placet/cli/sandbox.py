"""`placet sandbox`: one command of the person's own, confined as an agent's would be."""

import secrets
import sys
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from placet.app.program import program
from placet.cli import process
from placet.cli.output import fail, warn
from placet.cli.session import absolute

if TYPE_CHECKING:
    from placet.app.config import Config

_AFTER_SIGNAL = 128
_NO_LIMIT_MS = 24 * 3600 * 1000.0


def sandbox(
    *command: Annotated[str, Parameter(help="The command and its words, after --.", allow_leading_hyphen=True)],
    mode: Annotated[
        Literal["read-only", "workspace-write", "danger-full-access"], Parameter(help="What the command may touch.")
    ] = "workspace-write",
    backend: Annotated[
        Literal["bubblewrap", "landlock", "seatbelt"] | None, Parameter(help="Use this one and no other.")
    ] = None,
    cwd: Annotated[str, Parameter(help="The workspace; what no session could have is refused.")] = ".",
) -> int:
    """Run one command confined, and end with its exit code.

    Its stdin is empty and its environment is built anew, exactly as for the commands of an agent.
    """
    import anyio

    if not command:
        fail("There is no command", hint=f"Name one after --: {program()} sandbox -- ls -la", code=2)
    return anyio.run(_run, process.configuration({}), command, mode, absolute(cwd), backend)


async def _run(config: "Config", words: tuple[str, ...], mode: str, cwd: str, backend: str | None) -> int:
    from pathlib import Path

    from placet.app.confinement import sandbox_of
    from placet.sandbox.errors import SandboxError
    from placet.sandbox.mode import SandboxMode
    from placet.sandbox.process import Command
    from placet.sandbox.workspace.check import WorkspaceRefused
    from placet.session.ids import SessionId

    config.places.prepare()
    box = sandbox_of(config, backend=backend)
    session = SessionId(f"s-alone-{secrets.token_hex(8)}")
    facts = await box.check_workspace(Path(cwd))
    if isinstance(facts, WorkspaceRefused):
        fail(facts.why)
    try:
        profile = box.profile(session, facts.workdir, SandboxMode(mode), git_roots=facts.git_roots)
        done = await box.run(Command(profile=profile, argv=words, timeout_ms=_NO_LIMIT_MS, on_output=_pass_on))
    except SandboxError as error:
        fail(error.why, hint=_sentence(error.hint or ""))
    finally:
        box.forget_session(session)
    if done.sandbox.runner_failed is not None:
        fail("The sandbox broke before the command started", why=done.sandbox.runner_failed)
    if done.sandbox.denied:
        warn(f"The sandbox denied file access under {mode} mode: {done.sandbox.path}")
    if done.exceeded is not None:
        warn(f"The command was ended: it had {done.exceeded}")
    return done.exit_code if done.exit_code is not None else _AFTER_SIGNAL + _number(done.signal)


def _pass_on(stream: str, data: bytes) -> None:
    out = sys.stdout if stream == "stdout" else sys.stderr
    out.buffer.write(data)
    out.buffer.flush()


def _number(name: str | None) -> int:
    import signal

    return int(getattr(signal, name or "SIGKILL", signal.SIGKILL))


def _sentence(hint: str) -> str:
    """The hint as a sentence of its own."""
    return hint[:1].upper() + hint[1:]
