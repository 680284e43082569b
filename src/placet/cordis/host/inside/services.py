"""The services of a plugin: each call goes over the line and through placet's own pipeline, sandbox and asks."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .context import Context
    from .line import Line
    from .scope import Registration

DEPTH: ContextVar[int] = ContextVar("depth", default=0)
"""How many calls of services led to what runs now."""
SHORTEST = 0.05
"""Seconds between two calls of a timer at least."""


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


class Files:
    """The file tools' functions. Paths are relative to the session's folder."""

    def __init__(self, line: Line) -> None:
        self._call = line.call

    async def read(self, path: str, *, offset: int = 1, limit: int = 1_000) -> dict[str, Any]:
        """Return lines of a text file: `text`, `first`, `lines`, `more`, `size`."""
        found: dict[str, Any] = await self._call("files.read", {"path": path, "offset": offset, "limit": limit})
        return found

    async def write(self, path: str, text: str) -> dict[str, Any]:
        """Write a whole text file."""
        done: dict[str, Any] = await self._call("files.write", {"path": path, "content": text})
        return done

    async def edit(self, path: str, old: str, new: str, *, replace_all: bool = False) -> dict[str, Any]:
        """Replace a piece of a text file."""
        words = {"path": path, "old_text": old, "new_text": new, "replace_all": replace_all}
        done: dict[str, Any] = await self._call("files.edit", words)
        return done

    async def list(self, path: str = ".", *, depth: int = 1) -> dict[str, Any]:
        """List a folder."""
        found: dict[str, Any] = await self._call("files.list", {"path": path, "depth": depth})
        return found

    async def search(
        self, pattern: str, path: str = ".", *, glob: str = "*", ignore_case: bool = False
    ) -> dict[str, Any]:
        """Search files for a regular expression."""
        words = {"pattern": pattern, "path": path, "glob": glob, "ignore_case": ignore_case}
        found: dict[str, Any] = await self._call("files.search", words)
        return found


class Shell:
    """The bash tool's function."""

    def __init__(self, line: Line) -> None:
        self._call = line.call

    async def run(
        self,
        command: str,
        *,
        description: str | None = None,
        timeout_ms: float | None = None,
        workdir: str | None = None,
        sandbox_permissions: str | None = None,
        justification: str | None = None,
    ) -> dict[str, Any]:
        """Run a command; `exitCode`, `signal`, `stdout`, `stderr` and more. A non-zero exit is a result, no error.

        A wider mode can be wished for while the agent's turn is open: a person is asked then.
        """
        words = _given(
            command=command,
            description=description,
            timeoutMs=timeout_ms,
            workdir=workdir,
            sandbox_permissions=sandbox_permissions,
            justification=justification,
        )
        done: dict[str, Any] = await self._call("shell.run", words)
        return done


class Timer:
    """Calls functions later; ends with the plugin."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def after(self, seconds: float, fn: Callable[[], Any]) -> Registration:
        """Call the function once, after that time."""
        return self._start("timer.after", fn, seconds, again=False)

    def every(self, seconds: float, fn: Callable[[], Any]) -> Registration:
        """Call the function again and again; the next pause begins when it has returned."""
        return self._start("timer.every", fn, seconds, again=True)

    async def sleep(self, seconds: float) -> None:
        """Return after that time; other functions of the plugin go on meanwhile."""
        await asyncio.sleep(seconds)

    def _start(self, label: str, fn: Callable[[], Any], seconds: float, *, again: bool) -> Registration:
        if not callable(fn):
            raise TypeError(f"ctx.{label} needs a function, not {type(fn).__name__}")
        self._context.ready(label)
        pause = max(SHORTEST, float(seconds))

        async def run() -> None:
            while True:
                await asyncio.sleep(pause)
                await self._context.guarded(label, fn)
                if not again:
                    registration.discard()
                    return

        task = self._context.spawn(run())
        registration: Registration = self._context.keep(label, task.cancel)
        return registration


class Tools:
    """What the agent can call now. Nothing here can be executed."""

    def __init__(self, line: Line) -> None:
        self._call = line.call

    async def list(self) -> list[dict[str, Any]]:
        """Return name, description and parameters of each tool."""
        found: list[dict[str, Any]] = await self._call("tools.list", {})
        return found


class Session:
    """The plugin's own session."""

    def __init__(self, line: Line) -> None:
        self._call = line.call

    async def state(self) -> dict[str, Any]:
        """Return id, title, cwd, model, mode, policy, and whether a turn is open."""
        found: dict[str, Any] = await self._call("sessions.state", {})
        return found

    async def messages(self, *, limit: int = 20) -> list[dict[str, Any]]:
        """Return the newest messages of the conversation, oldest first: `role`, `text`, `turn`."""
        found: list[dict[str, Any]] = await self._call("sessions.messages", {"limit": limit})
        return found

    async def inject(self, text: str) -> None:
        """Leave the agent a message, marked as the plugin's; it is read with whatever wakes the agent next."""
        await self._call("sessions.inject", {"text": text})


class Sessions:
    """The way to the plugin's own session; there is none to another."""

    def __init__(self, line: Line) -> None:
        self._session = Session(line)

    def current(self) -> Session:
        """Return the plugin's own session."""
        return self._session


class Remote:
    """A service that another plugin of the session provides: each method is async, arguments and result are JSON."""

    def __init__(self, line: Line, name: str) -> None:
        self.__dict__["_line"], self.__dict__["_name"] = line, name

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        if method.startswith("_"):
            raise AttributeError(method)
        line, name = self.__dict__["_line"], self.__dict__["_name"]

        async def call(*args: Any, **named: Any) -> Any:
            words = {"name": name, "method": method, "args": list(args), "named": named, "depth": DEPTH.get()}
            return await line.call("service.call", words)

        return call

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"the service {self.__dict__['_name']} belongs to another plugin and cannot be changed")

    def __repr__(self) -> str:
        return f"<service {self.__dict__['_name']}>"


def methods_of(provided: Any) -> dict[str, Callable[..., Any]]:
    """Return the public methods of what a plugin provides: of an object, or the functions in a dict."""
    if isinstance(provided, dict):
        found = {name: value for name, value in provided.items() if callable(value)}
    else:
        names = [name for name in dir(provided) if not name.startswith("_")]
        found = {name: value for name in names if callable(value := inspect.getattr_static(provided, name, None))}
        found = {name: getattr(provided, name) for name in found}
    if not found:
        raise TypeError("provide an object with public methods, or a dict of functions: others call them by name")
    return found
