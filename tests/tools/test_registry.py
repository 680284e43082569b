"""Tools of all sessions, and tools that one session sees."""

from __future__ import annotations

import pytest

from placet.session.ids import SessionId
from placet.tools.errors import NameTaken
from placet.tools.registry import Registry
from tests.tools.world import Probe

HERE, ELSEWHERE = SessionId("s-here"), SessionId("s-elsewhere")


class Named(Probe):
    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    @property
    def name(self) -> str:
        return self._name


def names(registry: Registry, session: SessionId | None = None) -> list[str]:
    return [tool.name for tool in registry.tools(session)]


def test_b20_a_tool_of_one_session_stands_beside_those_of_all_and_no_other_session_sees_it() -> None:
    registry = Registry([Named("bash")])
    own = Named("tally-1.count")
    undo = registry.register(own, HERE)
    assert names(registry, HERE) == ["bash", "tally-1.count"]
    assert names(registry, ELSEWHERE) == names(registry) == ["bash"]
    assert registry.get("tally-1.count", HERE) is own
    assert registry.get("tally-1.count", ELSEWHERE) is None is registry.get("tally-1.count")
    undo()
    assert names(registry, HERE) == ["bash"]


def test_b20_two_of_one_name_are_refused_whichever_came_first() -> None:
    registry = Registry([Named("bash")])
    with pytest.raises(NameTaken):
        registry.register(Named("bash"), HERE)
    registry.register(Named("own"), HERE)
    with pytest.raises(NameTaken):
        registry.register(Named("own"), HERE)
    with pytest.raises(NameTaken):
        registry.register(Named("own"))
    registry.register(Named("own"), ELSEWHERE)


def test_b23_each_change_is_told_by_its_name() -> None:
    registry = Registry()
    told: list[str] = []
    registry.changes.subscribe(told.append)
    registry.register(Named("own"), HERE)()
    assert told == ["own", "own"]
