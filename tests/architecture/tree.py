"""The project's own files, as the architecture tests read them."""

from __future__ import annotations

import ast
import functools
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "placet"
NOT_OURS = frozenset({".git", ".venv", "node_modules", "static", "__pycache__", "dist"})


@dataclass(frozen=True, slots=True)
class Module:
    """One Python module of the product: its path inside src/placet, its room and its syntax tree."""

    path: str
    room: str
    tree: ast.Module
    lines: int


@functools.cache
def modules() -> tuple[Module, ...]:
    """Return every module of the product, in the order of their paths."""
    found = []
    for file in sorted(SOURCE.rglob("*.py")):
        inside = file.relative_to(SOURCE)
        text = file.read_text(encoding="utf-8")
        room = inside.parts[0] if len(inside.parts) > 1 else ""
        found.append(Module(inside.as_posix(), room, ast.parse(text, str(file)), text.count("\n")))
    return tuple(found)


@functools.cache
def tracked() -> tuple[Path, ...]:
    """Return every file that the repository holds; outside a repository, every file that is not built or installed."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if NOT_OURS.isdisjoint(path.relative_to(ROOT).parts)]
    return tuple(path for path in paths if path.is_file())


def imported(module: Module) -> set[str]:
    """Return the full name of everything that a module imports from elsewhere, at its top or inside a function."""
    names: set[str] = set()
    package = ("placet", *module.path.split("/")[:-1])
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            source = ".".join((*above, *([node.module] if node.module else [])))
            names.add(source)
            names.update(f"{source}.{alias.name}" for alias in node.names)
    return names
