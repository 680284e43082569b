"""One host half: load the source, wait for what it injects, apply, serve, and undo all of it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from . import traps
from .context import BUILT_IN, Context, Harness, threads
from .failures import ServiceError, cancelled, told
from .line import Line
from .scope import Scope
from .services import DEPTH


class Half:
    """The plugin's code and everything that it has registered."""

    def __init__(self, descriptor: int) -> None:
        self.line = Line(descriptor, self.serve, self.told)
        self.threads = threads()
        self.inject: tuple[str, ...] = ()
        self.available: set[str] = set()
        self.events: frozenset[str] = frozenset()
        self.provided: dict[str, dict[str, Callable[..., Any]]] = {}
        self.listeners: list[tuple[str, asyncio.Queue[dict[str, Any]]]] = []
        self.handlers: dict[str, Callable[[Any], Any]] = {}
        self.tools: dict[str, Callable[[Any], Any]] = {}
        self._apply: Callable[[Context], Any] | None = None
        self._context: Context | None = None
        self._scope: Scope | None = None
        self._file, self._source = "<plugin>", ""
        self._changed = asyncio.Event()
        self._own: set[asyncio.Task[Any] | None] = {asyncio.current_task()}
        self._calls: set[asyncio.Task[Any] | None] = set()
        self._running = False
        self._stopping = False
        self._quiet = False

    async def serve(self, method: str, params: dict[str, Any]) -> Any:
        """Do what placet asks."""
        match method:
            case "ping":
                return None
            case "start":
                self._keep(self._live(params))
            case "services":
                self.available = set(params["names"])
                self._changed.set()
            case "event":
                self._hear(params["type"], params)
            case "call":
                return await self._called(params)
            case "stop":
                self._stopping = True
                await self._unwind()
                return None
        return None

    # ---- life ----

    async def _live(self, params: dict[str, Any]) -> None:
        self._file, self._source = f"<{params['plugin']} {params['package']}>", params["source"]
        self.available, self.events = set(params["services"]), frozenset(params["events"])
        try:
            self._apply = self._load(params["plugin"])
        except BaseException as failure:
            self.line.tell("failed", {"phase": "host-load", **self.told(failure)})
            return
        while not self._stopping:
            self._changed.clear()
            missing = [name for name in self.inject if name not in BUILT_IN and name not in self.available]
            if missing:
                await self._unwind()
                self._tell("waiting", missing)
            elif self._scope is None and not await self._applied():
                return
            await self._changed.wait()

    def _load(self, plugin: str) -> Callable[[Context], Any]:
        namespace: dict[str, Any] = {
            "__builtins__": traps.surroundings(),
            "__name__": plugin.replace("-", "_"),
            "__doc__": None,
            "harness": Harness(self),
        }
        exec(compile(self._source, self._file, "exec", dont_inherit=True), namespace)
        apply, inject = namespace.get("apply"), namespace.get("inject", [])
        if apply is None:
            raise TypeError("there is no `apply`: define `async def apply(ctx):` at the top level of the host half")
        if not callable(apply):
            raise TypeError(f"`apply` is of type {type(apply).__name__}: define `async def apply(ctx):`")
        if not isinstance(inject, list | tuple) or not all(isinstance(name, str) and name for name in inject):
            raise TypeError("`inject` must be a list of the names of services, such as `inject = ['files']`")
        self.inject = tuple(inject)
        return apply  # type: ignore[no-any-return]

    async def _applied(self) -> bool:
        """Apply, and wait until placet has accepted what was registered. False: it failed, and all is undone."""
        assert self._apply is not None
        self._tell("applying", [])
        self._scope = scope = Scope(self.spawn, self.failed)
        self._context = Context(self, scope)
        try:
            result = self._apply(self._context)
            if inspect.isawaitable(result):
                await result
            while waiting := scope.waiting():
                await asyncio.wait(waiting)
            if (refused := scope.refused()) is not None:
                raise refused
        except BaseException as failure:
            if cancelled(failure):
                raise
            words = self.told(failure)
            self._quiet = True
            await self._unwind()
            self.line.tell("failed", {"phase": "host-apply", **words})
            return False
        self._running = True
        self._tell("running", [])
        return True

    async def _unwind(self) -> None:
        """Undo what was registered, in reverse, and end what still runs of it."""
        self._running = False
        scope, self._scope, self._context = self._scope, None, None
        if scope is not None:
            await scope.close()
        mine = {*self._own, *self.line.own, asyncio.current_task()} - self._calls
        for task in asyncio.all_tasks():
            if task not in mine:
                task.cancel()

    def context(self) -> Context:
        """Return the context of the running `apply`; outside of it nothing can be registered."""
        if self._context is None:
            raise RuntimeError("register inside of `apply(ctx)`: the plugin is not running now")
        return self._context

    # ---- what placet asks ----

    async def _called(self, params: dict[str, Any]) -> Any:
        name, args = params["name"], params.get("args")
        match params["kind"]:
            case "method":
                fn = self.handlers.get(name)
                given: tuple[Any, ...] = (args,)
                named: dict[str, Any] = {}
            case "tool":
                fn, given, named = self.tools.get(name), (args,), {}
            case _:
                fn = self.provided.get(name, {}).get(params["method"])
                given, named = tuple(args or ()), params.get("named") or {}
                DEPTH.set(params["depth"])
        if fn is None:
            raise ServiceError("method-not-found", f"there is no {params['kind']} {name!r} here now")
        task = asyncio.current_task()
        self._calls.add(task)
        try:
            result = fn(*given, **named)
            return await result if inspect.isawaitable(result) else result
        finally:
            self._calls.discard(task)

    def _hear(self, kind: str, notice: dict[str, Any]) -> None:
        for event, waiting in self.listeners:
            if event == kind:
                if waiting.full():
                    waiting.get_nowait()
                waiting.put_nowait(dict(notice))

    # ---- telling ----

    def told(self, failure: BaseException) -> dict[str, Any]:
        """Word a failure for the plugin's author."""
        return told(failure, self._file, self._source)

    def failed(self, label: str, failure: BaseException) -> None:
        """Tell of a failure that ends nothing."""
        if self._quiet:
            return
        words = self.told(failure)
        print(f"{label} failed: {words['stack'] or words['message']}", flush=True)
        if self.line.spare():
            self.line.tell("diagnosed", {"label": label, **words})

    def answered(self, label: str, answer: asyncio.Future[Any]) -> None:
        """Tell what was registered late and refused; during `apply` it fails that."""
        if not answer.cancelled() and (refusal := answer.exception()) is not None and self._running:
            self.failed(label, refusal)

    def tell_handlers(self) -> None:
        """Tell which methods are served now."""
        self.line.tell("handlers", {"names": sorted(self.handlers)})

    def _tell(self, status: str, missing: list[str]) -> None:
        self.line.tell("state", {"status": status, "waitingFor": missing, "inject": list(self.inject)})

    # ---- tasks ----

    def spawn(self, task: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a task of the plugin."""
        return asyncio.get_running_loop().create_task(task)

    def ask(self, method: str, params: dict[str, Any]) -> asyncio.Future[Any]:
        """Ask placet without waiting for the answer."""
        asked = asyncio.get_running_loop().create_task(self.line.call(method, params))
        self.line.own.add(asked)
        asked.add_done_callback(self.line.own.discard)
        return asked

    def _keep(self, task: Coroutine[Any, Any, Any]) -> None:
        made = asyncio.get_running_loop().create_task(task)
        self._own.add(made)
        made.add_done_callback(self._own.discard)
