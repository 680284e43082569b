"""`ctx` and `harness`: all that a plugin's code is given."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .failures import ServiceError, cancelled
from .line import Line
from .scope import Registration, Scope
from .services import Files, Remote, Sessions, Shell, Timer, Tools, methods_of
from .web import Web

BUILT_IN = ("files", "shell", "web", "timer", "tools", "sessions")
_NOT_HERE = {
    **dict.fromkeys(
        ("root", "parent", "scope", "fiber", "reflect", "registry", "events", "plugin"),
        "a plugin sees no other part of placet's inside",
    ),
    **dict.fromkeys(
        ("extend", "isolate", "intercept", "mixin", "set"), "a plugin cannot change what others see; use ctx.provide"
    ),
}
QUEUE = 1_000
"""Notices that wait for one listener at most; older ones are let go."""


class Context:
    """What `apply` is given. Everything that is registered through it is undone when the plugin stops."""

    def __init__(self, half: Any, scope: Scope) -> None:
        line: Line = half.line
        own = {
            "_half": half,
            "_scope": scope,
            "files": Files(line),
            "shell": Shell(line),
            "web": Web(line, half.threads),
            "tools": Tools(line),
            "sessions": Sessions(line),
            "timer": Timer(self),
        }
        self.__dict__.update(own)

    # ---- services ----

    def get(self, name: str) -> Any:
        """Return a service by name, or None where there is none now."""
        if name in BUILT_IN:
            return self.__dict__[name]
        half = self.__dict__["_half"]
        return Remote(half.line, name) if name in half.available else None

    def provide(self, name: Any, service: Any) -> Registration:
        """Offer a service to the other plugins of the session, under a name that nobody else has."""
        half = self.__dict__["_half"]
        if not isinstance(name, str) or not name.isidentifier() or name in BUILT_IN or hasattr(Context, name):
            raise ValueError(f"{name!r:.60} cannot be the name of a service: choose a word that ctx does not have yet")
        self.ready(label := f"provide({name!r})")
        if name in half.provided:
            raise ValueError(f"this plugin provides {name!r} already")
        methods = methods_of(service)
        accepted = half.ask("provide", {"name": name, "methods": sorted(methods)})
        half.provided[name] = methods

        async def undo() -> None:
            half.provided.pop(name, None)
            await half.line.call("unprovide", {"name": name})

        return self.keep(label, undo, accepted)

    # ---- what happens ----

    def on(self, event: str, fn: Callable[[dict[str, Any]], Any]) -> Registration:
        """Call the function at each notice of that kind from the plugin's own session."""
        return self._listen(event, fn, once=False)

    def once(self, event: str, fn: Callable[[dict[str, Any]], Any]) -> Registration:
        """Call the function at the next notice of that kind."""
        return self._listen(event, fn, once=True)

    def _listen(self, event: str, fn: Callable[[dict[str, Any]], Any], *, once: bool) -> Registration:
        half = self.__dict__["_half"]
        if not callable(fn):
            raise TypeError(f"ctx.on({event!r}, ...) needs a function, not {type(fn).__name__}")
        if event not in half.events:
            raise ValueError(f"there is no event {event!r:.60}; a plugin hears: {', '.join(sorted(half.events))}")
        self.ready(label := f"on({event!r})")
        waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue(QUEUE)

        async def deliver() -> None:
            while True:
                notice = await waiting.get()
                if once:
                    registration()
                await self.guarded(label, fn, notice)
                if once:
                    return

        listener = (event, waiting)
        half.listeners.append(listener)
        task = self.spawn(deliver())
        accepted = half.ask("on", {"event": event})

        def undo() -> None:
            half.listeners.remove(listener)
            if not once:
                task.cancel()

        registration = self.keep(label, undo, accepted)
        return registration

    def effect(self, fn: Callable[[], Any]) -> Registration:
        """Call the function now; what it returns is called to undo it."""
        self.ready("effect")
        undo = fn()
        if inspect.iscoroutine(undo):
            undo.close()
            raise TypeError("ctx.effect needs a plain function that acts and returns its undo, no async one")
        if undo is not None and not callable(undo):
            raise TypeError(f"the function given to ctx.effect must return its undo, not {type(undo).__name__}")
        return self.keep("effect", undo or (lambda: None))

    def log(self, *values: Any) -> None:
        """Write to the plugin's log."""
        print(*values)

    # ---- for the other modules of this program ----

    def ready(self, label: str) -> None:
        """Raise `RuntimeError` where nothing can be registered any more."""
        scope: Scope = self.__dict__["_scope"]
        scope.open_for(label)

    def keep(self, label: str, undo: Callable[[], Any], accepted: asyncio.Future[Any] | None = None) -> Registration:
        """Keep an undo until the plugin stops; `accepted` is placet's own answer to what was registered."""
        scope: Scope = self.__dict__["_scope"]
        if accepted is not None:
            accepted.add_done_callback(lambda done: self.__dict__["_half"].answered(label, done))
        return scope.add(label, undo, accepted)

    def spawn(self, task: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a task that ends with the plugin."""
        started: asyncio.Task[Any] = self.__dict__["_half"].spawn(task)
        return started

    async def guarded(self, label: str, fn: Callable[..., Any], *args: Any) -> None:
        """Call a function of the plugin; what it raises is told, and ends nothing."""
        try:
            result = fn(*args)
            if inspect.isawaitable(result):
                await result
        except BaseException as failure:
            if cancelled(failure):
                raise
            self.__dict__["_half"].failed(label, failure)

    def __getattr__(self, name: str) -> Any:
        half = self.__dict__["_half"]
        if name in _NOT_HERE:
            raise AttributeError(f"ctx.{name} is not for plugins: {_NOT_HERE[name]}")
        if name in half.inject:
            return Remote(half.line, name)
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(
            f"ctx.{name} is not there. Name it in `inject = [{name!r}]` to wait for it, or ask with ctx.get({name!r})"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"ctx.{name} cannot be set: keep what is yours in a variable, or offer it with ctx.provide"
        )


class Harness:
    """What the client half and the agent can call. `harness` is a name of the plugin's module."""

    ServiceError = ServiceError

    def __init__(self, half: Any) -> None:
        self.__dict__["_half"] = half

    def handle(self, name: Any, fn: Callable[[Any], Any]) -> Registration:
        """Serve a method to the client half: `await host.call(name, args)` there calls `fn(args)` here."""
        half = self.__dict__["_half"]
        if not isinstance(name, str) or not name.strip() or len(name) > 80:
            raise ValueError("the name of a method is a text of 1 to 80 characters")
        if not callable(fn):
            raise TypeError(f"harness.handle({name!r}, ...) needs a function, not {type(fn).__name__}")
        context = half.context()
        context.ready(f"handle({name!r})")
        if name in half.handlers:
            raise ValueError(f"the method {name!r} is handled already")
        half.handlers[name] = fn
        half.tell_handlers()

        def undo() -> None:
            half.handlers.pop(name, None)
            half.tell_handlers()

        kept: Registration = context.keep(f"handle({name!r})", undo)
        return kept

    def tool(self, name: str, description: str, parameters: dict[str, Any], fn: Callable[[Any], Any]) -> Registration:
        """Add a tool for the agent, called `PLUGIN.name`; `parameters` is the JSON Schema of `fn`'s one argument."""
        half = self.__dict__["_half"]
        if not callable(fn):
            raise TypeError(f"harness.tool({name!r}, ...) needs a function, not {type(fn).__name__}")
        context = half.context()
        context.ready(f"tool({name!r})")
        if name in half.tools:
            raise ValueError(f"there is a tool {name!r} of this plugin already")
        words = {"name": name, "description": description, "parameters": parameters}
        accepted = half.ask("tool", words)
        half.tools[name] = fn

        async def undo() -> None:
            half.tools.pop(name, None)
            await half.line.call("untool", {"name": name})

        kept: Registration = context.keep(f"tool({name!r})", undo, accepted)
        return kept

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("harness cannot be changed")


def threads() -> ThreadPoolExecutor:
    """Return the threads for what blocks, all of them started: none can be started later."""
    made = ThreadPoolExecutor(4, thread_name_prefix="web")
    import threading

    gate = threading.Event()
    for _ in range(4):
        made.submit(gate.wait)
    gate.set()
    return made
