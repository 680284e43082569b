"""What a plugin's code finds in the place of what it should not use: errors that name the service to use instead.

Traps are advice, no boundary: the sandbox that this process runs in is the boundary.
"""

from __future__ import annotations

import asyncio
import builtins
import os
import time
import types
from collections.abc import Mapping
from typing import Any, NoReturn

SHELL = "use `await ctx.shell.run(command)`: it runs under the session's sandbox, and a person can be asked"
WEB = "use `await ctx.web.get(url)` or `await ctx.web.post(url, ...)`"
TIMER = "use `ctx.timer.after(seconds, fn)`, `ctx.timer.every(seconds, fn)` or `await ctx.timer.sleep(seconds)`"
FILES = "use `await ctx.files.write(path, text)` or `await ctx.files.edit(path, old, new)`"
TASKS = "a host half is one event loop: write `async def` functions and use `ctx.timer`"

MODULES: Mapping[str, str] = {
    **dict.fromkeys(("subprocess", "pty", "multiprocessing", "_posixsubprocess"), SHELL),
    **dict.fromkeys(("socket", "_socket", "urllib.request", "http.client", "requests", "httpx", "smtplib"), WEB),
    **dict.fromkeys(("threading", "_thread", "concurrent.futures"), TASKS),
}  # fmt: skip
MEMBERS: Mapping[str, Mapping[str, str]] = {
    "os": {
        **dict.fromkeys(("system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"), SHELL),
        **{name: SHELL for name in dir(os) if name.startswith(("exec", "spawn"))},
        **dict.fromkeys(("remove", "unlink", "rename", "replace", "mkdir", "makedirs", "rmdir"), SHELL),
    },
    "time": {"sleep": TIMER},
    "asyncio": {
        **dict.fromkeys(("create_subprocess_exec", "create_subprocess_shell"), SHELL),
        **dict.fromkeys(("open_connection", "start_server"), WEB),
        "run": TASKS,
    },
}
NAMES: Mapping[str, str] = {
    "fetch": WEB,
    "require": "use `import` for Python's own modules, `ctx.get(name)` for services",
    **dict.fromkeys(("setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval"), TIMER),
    "input": "nobody types here: serve a method with `harness.handle(name, fn)`",
    "breakpoint": "print goes to placet's log",
}


class Trapped(RuntimeError):
    """Something that a plugin's code should not use; the text names the service to use instead."""


def trap(name: str, advice: str) -> Any:
    """Return a function that says what to use instead."""

    def trapped(*_: Any, **__: Any) -> NoReturn:
        raise Trapped(f"{name} is not for plugins: {advice}")

    trapped.__name__ = trapped.__qualname__ = name.rpartition(".")[2]
    return trapped


class _Module(types.ModuleType):
    """A module whose every member says what to use instead."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return trap(f"{self.__name__}.{name}", MODULES[self.__name__])


def _copies() -> dict[str, types.ModuleType]:
    made = {name: _Module(name) for name in MODULES}
    copies: dict[str, types.ModuleType] = dict(made)
    for real in (os, time, asyncio):
        copy = types.ModuleType(real.__name__, real.__doc__)
        copy.__dict__.update(real.__dict__)
        for name, advice in MEMBERS[real.__name__].items():
            if name in copy.__dict__:
                copy.__dict__[name] = trap(f"{real.__name__}.{name}", advice)
        copies[real.__name__] = copy
    return copies


def surroundings() -> dict[str, Any]:
    """Return the built-in names of a plugin's code."""
    copies = _copies()
    real_import, real_open = builtins.__import__, builtins.open

    def importing(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> types.ModuleType:
        if name in copies:
            found = copies[name]
            if "." not in name or fromlist:
                return found
            parent = types.ModuleType(name.partition(".")[0])
            setattr(parent, name.rpartition(".")[2], found)
            return parent
        module = real_import(name, globals, locals, fromlist, level)
        return copies.get(module.__name__, module)

    def opening(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if any(letter in str(mode) for letter in "wax+"):
            raise Trapped(f"open(..., {mode!r}) is not for plugins: {FILES}")
        return real_open(file, mode, *rest, **more)

    found = dict(vars(builtins))
    found |= {name: trap(name, advice) for name, advice in NAMES.items()}
    return {**found, "__import__": importing, "open": opening}
