"""What the agent can call now, the tools of running plugins included (N6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from placet.cordis.inspect.directory import Asked
from placet.cordis.inspect.provider import Method, Platform, Provider
from placet.session.ids import SessionId
from placet.tools.tool import Tool

Offered = Callable[[SessionId], Sequence[Tool]]


class ToolRow(BaseModel):
    """A tool as its caller sees it; `plugin` is the package that it belongs to."""

    name: str
    description: str
    parameters: dict[str, Any]
    package: str | None


class Tools(BaseModel):
    """The tools of the session."""

    tools: list[ToolRow]


def tools(offered: Offered) -> Provider:
    """Return the provider over the tools of a session."""

    async def look(_asked: BaseModel, session: SessionId) -> Tools:
        rows = [
            ToolRow(name=tool.name, description=tool.description, parameters=tool.parameters, package=tool.package)
            for tool in offered(session)
        ]
        return Tools(tools=rows)

    method = Method("listTools", "Every tool with its description and parameters.", Asked, Tools, look)
    return Provider(Platform.HOST, "Tool", "The tools that the agent of this session can call now.", (method,))
