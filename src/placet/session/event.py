"""Facts: a draft is what somebody wants to append, an event is what the log holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from .ids import SessionId

JSON = None | bool | int | float | str | list[Any] | dict[str, Any]
"""A lossless JSON value; `codec.lossless` says what that rules out."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before it has a place: its type, its data, and the key that is unique in its session."""

    type: str
    data: Mapping[str, Any]
    key: str


@dataclass(frozen=True, slots=True)
class Event:
    """One fact of a log: `seq` counts from 0 in its session, `time` is epoch ms, `pos` the store's commit position."""

    session: SessionId
    seq: int
    time: int
    type: str
    data: Mapping[str, Any]
    key: str
    pos: int


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError("the data of an event cannot be changed")


class FrozenDict(dict[str, Any]):
    """A JSON object that refuses every change; still a `dict` for whoever reads or serialises it."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self


class FrozenList(list[Any]):
    """A JSON array that refuses every change; still a `list` for whoever reads or serialises it."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = pop = remove = reverse = (
        sort
    ) = _refuse

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self
