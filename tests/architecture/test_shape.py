"""The size and the names of files and rooms."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath

from tests.architecture.tree import ROOT, modules, tracked

LONGEST = 400
MODULES_OF_A_ROOM = 12
NOT_COUNTED = frozenset({"__init__", "errors"})
# A room with more modules, and why it needs them.
LARGER_ROOMS = {
    "cli": "one file per verb",
}
# A longer file, and why it is one.
LONGER_FILES = {
    "tests/model/cordis.py": "one model of one protocol, read from top to bottom",
}
EMPTY_WORDS = frozenset({"utils", "util", "helpers", "helper", "common", "manager", "base", "misc", "tools_common"})
CODE = frozenset({".py", ".ts", ".tsx", ".css"})
WRITTEN_BY_A_PROGRAM = frozenset({"ui/src/wire/types.ts"})


def test_no_file_of_code_is_longer_than_400_lines() -> None:
    long = {}
    for path in tracked():
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in CODE and name not in WRITTEN_BY_A_PROGRAM and name not in LONGER_FILES:
            lines = path.read_text(encoding="utf-8").count("\n")
            if lines > LONGEST:
                long[name] = lines
    assert long == {}, "split along a seam that has a name"


def test_a_room_has_at_most_a_dozen_modules() -> None:
    paths = [PurePosixPath(module.path) for module in modules()]
    rooms = Counter(str(path.parent) for path in paths if path.stem not in NOT_COUNTED)
    large = {room: count for room, count in rooms.items() if count > MODULES_OF_A_ROOM and room not in LARGER_ROOMS}
    assert large == {}, "find the second room in it, or add it to LARGER_ROOMS with its reason"


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [m.path for m in modules() if PurePosixPath(m.path).stem in EMPTY_WORDS] == []


def test_every_module_says_in_its_first_line_what_it_is() -> None:
    import ast

    assert [m.path for m in modules() if m.tree.body and not ast.get_docstring(m.tree)] == []
