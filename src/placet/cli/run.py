"""`placet run`: one task without a page, by a worker of its own on the same store."""

import secrets
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from placet.app.errors import Refused
from placet.app.program import program
from placet.cli import process
from placet.cli.output import fail
from placet.cli.session import absolute

if TYPE_CHECKING:
    from placet.app.composition import Placet
    from placet.app.config import Config
    from placet.cli.report import Report
    from placet.session.ids import SessionId

_AFTER_SIGNAL = 128


def run(
    task: Annotated[str, Parameter(help="What the agent shall do.")],
    /,
    *,
    cwd: Annotated[str, Parameter(help="The folder to work in.")] = ".",
    preset: Annotated[str | None, Parameter(help="read-only, workspace-write or danger-full-access.")] = None,
    policy: Annotated[
        Literal["ask", "never"] | None, Parameter(help="Who decides; nobody is there to answer, so no ask is granted.")
    ] = None,
    model: Annotated[str | None, Parameter(help="rehearsal, script:FILE or VENDOR:MODEL.")] = None,
    json: Annotated[bool, Parameter(help="Print the log's events as JSON lines, as they come.")] = False,
) -> int:
    """Do one task without a page, and say by the exit code how it ended.

    - 0: completed, and nothing was refused
    - 1: an error
    - 2: a wrong word on the command line
    - 4: completed, but an ask was not granted
    - 130: stopped with Ctrl-C
    """
    import anyio

    if not task.strip():
        fail("The task is empty", hint=f'Say what is to be done: {program()} run "..."', code=2)
    config = process.configuration({"model.name": model, "default_preset": preset})
    return anyio.run(_run, config, _Task(task, absolute(cwd), policy, json))


@dataclass(frozen=True, slots=True)
class _Task:
    text: str
    cwd: str
    policy: str | None
    as_json: bool


async def _run(config: "Config", task: _Task) -> int:
    from placet.app.composition import open_placet
    from placet.cli.logs import to_terminal
    from placet.cli.report import Report

    config.places.prepare()
    with to_terminal(config.places.logs):
        async with open_placet(config, kind="run") as placet:
            session = await _begin(placet, task)
            report = Report(placet.store, session, as_json=task.as_json)
            return await _work(placet, session, report)


async def _begin(placet: "Placet", task: _Task) -> "SessionId":
    """Create the session, and take it before its message is there, so that no server of the same store works on it."""
    from placet.agent.creation import Created, Wish, create_session
    from placet.agent.gestures import send_message
    from placet.approval.outcome import Policy
    from placet.session.ids import new_message_id
    from placet.session.lease import alive

    wish = Wish(
        cwd=task.cwd,
        preset=placet.config.settings.default_preset,
        key=f"run-{secrets.token_hex(12)}",
        policy=None if task.policy is None else Policy(task.policy),
        model=placet.default_model,
    )
    made = await create_session(placet.store, placet.sandbox, wish, by=placet.by)
    if not isinstance(made, Created):
        raise Refused(made.why)
    await placet.store.acquire(made.session, placet.holder, alive)
    await send_message(placet.store, made.session, task.text, new_message_id(), by=placet.by)
    return made.session


async def _work(placet: "Placet", session: "SessionId", report: "Report") -> int:
    """Let the worker work until it rests, and print what comes; returns the exit code.

    Ctrl-C stops the turn for good. SIGTERM and SIGHUP end the process and its commands, and settle nothing.
    """
    import anyio

    from placet.agent.gestures import stop
    from placet.agent.worker import Worker
    from placet.cli.report import FAILED
    from placet.kernel.groups import unwrapped

    async def stop_on_interrupt() -> None:
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async for _ in signals:
                await stop(placet.store, session, f"run-{secrets.token_hex(12)}", placet.by)

    code = FAILED

    async def end_on_signal() -> None:
        nonlocal code
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP) as signals:
            async for number in signals:
                code = _AFTER_SIGNAL + number
                tasks.cancel_scope.cancel()

    with unwrapped():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop_on_interrupt)
            tasks.start_soon(end_on_signal)
            tasks.start_soon(report.follow)
            await Worker(placet.kit, session).run()
            await report.catch_up()
            code = report.code
            tasks.cancel_scope.cancel()
    return code
