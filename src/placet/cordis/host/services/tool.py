"""A tool that a plugin adds for the agent of its session: one call of the half, through the whole pipeline."""

from __future__ import annotations

import re
from typing import Any

import anyio

from placet.cordis.host.errors import HalfRaised, Refusal
from placet.cordis.host.half import Half
from placet.cordis.host.services.schema import complaint, misfit
from placet.session.codec import dumps, freeze
from placet.tools.codes import Code
from placet.tools.stages.result import error
from placet.tools.texts import ABORTED
from placet.tools.tool import Arguments, CallContext, Tool, ToolOutput

NAME = re.compile("[a-z][a-z0-9_]{0,39}")
LONGEST_DESCRIPTION, LONGEST_TEXT = 4_000, 64_000
PLUGIN_FAILED = "PLUGIN_FAILED"


class PluginTool(Tool):
    """Calls the half's function. It cannot wish for a wider mode, and a result is cloned as lossless JSON."""

    def __init__(self, half: Half, name: str, description: str, parameters: dict[str, Any]) -> None:
        facts = half.facts
        self._half, self._own = half, name
        self._name, self._package = f"{facts.plugin}.{name}", facts.package
        self._description, self._parameters = description, parameters

    @property
    def name(self) -> str:
        """The plugin's id and the tool's own name."""
        return self._name

    @property
    def description(self) -> str:
        """What its author says of it, and whose it is."""
        return f"{self._description}\n(A tool of the plugin {self._half.facts.plugin}.)"

    @property
    def parameters(self) -> dict[str, Any]:
        """Its schema, as it was when it was registered."""
        return self._parameters

    @property
    def noun(self) -> str:
        """What a call of it is called where it is refused."""
        return "call"

    @property
    def package(self) -> str | None:
        """The package that it belongs to: another one is another tool, whatever it is called."""
        return self._package

    def check(self, args: Arguments) -> str | None:
        """Return the first thing that does not follow the schema."""
        return misfit(args, self._parameters)

    def parallel(self, args: Arguments) -> bool:
        """Calls of plugins may run beside others."""
        return True

    async def run(self, args: Arguments, call: CallContext) -> ToolOutput:
        """Have the half do it, until it answers or the turn is stopped."""
        facts = self._half.facts
        meta = {"plugin": facts.plugin, "package": facts.package, "run": facts.run}
        outcome: ToolOutput | None = None
        with anyio.CancelScope() as scope:
            undo = call.signal.on_abort(lambda _: scope.cancel())
            try:
                outcome = await self._called(args, meta)
            finally:
                undo()
        return outcome or error(Code.ABORTED, ABORTED, meta=meta)

    async def _called(self, args: Arguments, meta: dict[str, Any]) -> ToolOutput:
        try:
            value = await self._half.call({"kind": "tool", "name": self._own, "args": args})
        except HalfRaised as raised:
            told = raised.message if raised.stack is None else f"{raised.message}\n{raised.stack}"
            return error(PLUGIN_FAILED, f"the plugin's tool failed: {told}", meta=meta)
        except Refusal as refusal:
            return error(PLUGIN_FAILED, refusal.text, meta=meta)
        text = value if isinstance(value, str) else dumps(value)
        if len(text) > LONGEST_TEXT:
            text = f"{text[:LONGEST_TEXT]}\n[... {len(text) - LONGEST_TEXT} more characters]"
        return ToolOutput(text, freeze(value), meta=meta)


def plugin_tool(half: Half, params: dict[str, Any]) -> PluginTool:
    """Return the tool that a half registers. Raises `Refusal` for one that cannot be."""
    name, description, parameters = params.get("name"), params.get("description"), params.get("parameters")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Refusal("bad-tool", f"the name {name!r:.60} of a tool must be made of a-z, 0-9 and _, 40 at most")
    if not isinstance(description, str) or not description.strip() or len(description) > LONGEST_DESCRIPTION:
        raise Refusal("bad-tool", f"the tool {name} needs a description of 1 to {LONGEST_DESCRIPTION} characters")
    wrong = complaint(parameters)
    if wrong is not None:
        raise Refusal("bad-tool", f"the tool {name}: {wrong}")
    assert isinstance(parameters, dict)
    return PluginTool(half, name, description.strip(), freeze(parameters))
