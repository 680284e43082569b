"""The page of what placet promises, each promise beside the tests that hold it."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tools.reference.markdown import heading, table

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "docs" / "reference" / "contract.toml"
CITED = re.compile(r"(?<![a-z0-9])([a-o][0-9]{1,2})(?![0-9a-z])", re.IGNORECASE)
TYPESCRIPT_TEST = re.compile(r"""\b(?:it|test)(?:\.each\([^)]*\))?\(\s*["'`](?P<name>[^"'`]+)["'`]""")

INTRODUCTION = """
Each line is one behaviour, with the tests that cite its id. *Changed* says where placet goes another way than the
system that it learned from, and why. *Later* says what is not there yet, and with what it comes.
"""


def page() -> str:
    """Return docs/reference/contract.md."""
    promises = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
    changed, later, groups = (promises.pop(name) for name in ("changed", "later", "groups_later"))
    cited = citations()
    parts = [heading("The contract", INTRODUCTION)]
    for letter, group in promises.items():
        title = group.pop("title")
        rows = [(key, _promise(text, key, changed, later), _tests(cited.get(key, []))) for key, text in group.items()]
        parts.append(f"## {letter}. {title}\n\n" + table(("id", "promise", "tests"), rows))
    if groups:
        parts.append("## Later groups\n\n" + table(("group", "comes with plugins"), groups.items()))
    return "\n".join(parts)


def citations() -> dict[str, list[str]]:
    """Return, for every cited id, the tests that cite it in their names, as `file: test`."""
    found: dict[str, set[str]] = defaultdict(set)
    for file, name in _test_names():
        for cited in CITED.findall(name.replace("_", " ")):
            found[cited.upper()].add(f"`{file}`")
    return {key: sorted(names) for key, names in found.items()}


def _test_names() -> Iterator[tuple[str, str]]:
    suites = (ROOT / "src" / "placet" / "testing").glob("*.py")
    for path in (*sorted((ROOT / "tests").rglob("test_*.py")), *sorted(suites)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield path.relative_to(ROOT).as_posix(), node.name
    for path in sorted((ROOT / "ui" / "test").rglob("*.test.ts*")):
        for match in TYPESCRIPT_TEST.finditer(path.read_text(encoding="utf-8")):
            yield path.relative_to(ROOT).as_posix(), match["name"]


def _promise(text: str, key: str, changed: dict[str, str], later: dict[str, str]) -> str:
    if key in later:
        return f"{text} *Later: {later[key]}.*"
    if key in changed:
        return f"{text} *Changed: {changed[key]}.*"
    return text


def _tests(names: list[str]) -> str:
    return ", ".join(names) if names else ""
