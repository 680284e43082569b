"""The services that plugins of one session provide to each other (contract K14)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from placet.cordis.host.errors import HalfRaised, Refusal
from placet.cordis.host.half import Half
from placet.session.ids import SessionId

LONGEST_NAME, DEEPEST = 60, 16


class Offers:
    """Names and who provides them, per session; every half of the session is told when they change."""

    def __init__(self) -> None:
        self._halves: dict[SessionId, list[Half]] = defaultdict(list)
        self._providers: dict[SessionId, dict[str, Half]] = defaultdict(dict)

    def begin(self, half: Half) -> None:
        """Take a half in."""
        self._halves[half.facts.session].append(half)

    def names(self, session: SessionId) -> tuple[str, ...]:
        """The names that there are now."""
        return tuple(sorted(self._providers.get(session, {})))

    def provide(self, half: Half, params: dict[str, Any], most: int) -> None:
        """Offer a service. Raises `Refusal`, for a name that is taken above all."""
        name, methods = params.get("name"), params.get("methods")
        if not isinstance(name, str) or not name.isidentifier() or len(name) > LONGEST_NAME:
            raise Refusal("bad-service", f"{name!r:.80} cannot be the name of a service")
        if not isinstance(methods, list) or not all(isinstance(method, str) for method in methods):
            raise Refusal("bad-service", f"the service {name} needs public methods")
        if len(half.provided) >= most:
            raise Refusal("too-many", f"a plugin can provide {most} services at most")
        providers = self._providers[half.facts.session]
        if name in providers:
            owner = providers[name].facts.plugin
            raise Refusal("already-provided", f"the service {name!r} is provided by {owner} already: stop that first")
        providers[name] = half
        half.provided[name] = frozenset(methods[:200])
        half.changed()
        self._tell(half.facts.session)

    def withdraw(self, half: Half, name: Any) -> None:
        """Take a service back; one that is not the half's stays."""
        providers = self._providers[half.facts.session]
        if isinstance(name, str) and providers.get(name) is half:
            del providers[name]
            half.provided.pop(name, None)
            half.changed()
            self._tell(half.facts.session)

    def forget(self, half: Half) -> None:
        """Take all of a half back, and tell the others."""
        session = half.facts.session
        if half not in self._halves[session]:
            return
        self._halves[session].remove(half)
        providers = self._providers[session]
        mine = [name for name, owner in providers.items() if owner is half]
        for name in mine:
            del providers[name]
        half.provided.clear()
        if mine:
            self._tell(session)
        if not self._halves[session]:
            del self._halves[session], self._providers[session]

    async def call(self, half: Half, params: dict[str, Any]) -> Any:
        """Call a method of another plugin's service. Raises `Refusal`."""
        name, method = params.get("name"), params.get("method")
        provider = self._providers[half.facts.session].get(str(name))
        if provider is None:
            raise Refusal("no-service", f"there is no service {name!r:.80} now: its plugin was stopped")
        if not isinstance(method, str) or method not in provider.provided[str(name)]:
            known = ", ".join(sorted(provider.provided[str(name)]))
            raise Refusal("no-method", f"the service {name} has no method {method!r:.80}; it has: {known}")
        depth = params.get("depth")
        if not isinstance(depth, int) or not 0 <= depth < DEEPEST:
            raise Refusal("circle", f"{name}.{method} is {DEEPEST} calls deep: plugins call each other in a circle")
        words = {"kind": "service", "name": name, "method": method, "depth": depth + 1}
        try:
            return await provider.call({**words, "args": params.get("args"), "named": params.get("named")})
        except HalfRaised as raised:
            raise Refusal("service-error", f"{name}.{method} failed: {raised.message}") from raised

    def _tell(self, session: SessionId) -> None:
        names = list(self.names(session))
        for half in self._halves[session]:
            half.tell("services", {"names": names})
