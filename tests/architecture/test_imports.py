"""Who may import whom: rooms point down, outside libraries stay in their rooms."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, Module, imported, modules

# An outside library, and the only places of the product that may import it.
ROOMS_OF_LIBRARIES = {
    "fastapi": ("web/",),
    "starlette": ("web/",),
    "uvicorn": ("web/",),
    "cyclopts": ("cli/",),
    "rich": ("cli/",),
    "textual": ("cli/",),
    "sqlite3": ("session/stores/",),
    "asyncpg": ("session/stores/",),
    "pydantic_ai": ("agent/model/", "testing/"),
    "openai": ("agent/model/", "testing/"),
    "anthropic": ("agent/model/", "testing/"),
    "cryptography": ("web/", "testing/"),
    "rfc8785": ("session/codec.py",),
    "subprocess": ("sandbox/", "testing/"),
    "multiprocessing": (),
    "pickle": (),
    "hypothesis": ("testing/",),
    "pytest": ("testing/",),
}
PYDANTIC_ROOMS = frozenset({"tools", "cordis", "agent", "web", "integrations", "app", "cli", "testing"})
SPAWNING = frozenset({
    *("create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell", "open_process"),
    *("run_process", "fork", "forkpty", "posix_spawn", "posix_spawnp", "system", "popen", "execv", "execve", "execvp"),
})  # fmt: skip


@pytest.mark.parametrize("library", sorted(ROOMS_OF_LIBRARIES))
def test_an_outside_library_stays_in_its_room(library: str) -> None:
    allowed = ROOMS_OF_LIBRARIES[library]
    strays = [
        module.path
        for module in modules()
        if any(name.split(".")[0] == library for name in imported(module)) and not module.path.startswith(allowed)
    ]
    assert strays == [], f"{library} belongs in {allowed or 'no room'}"


def test_pydantic_stays_at_the_edges() -> None:
    strays = [
        module.path
        for module in modules()
        if any(name.split(".")[0] == "pydantic" for name in imported(module))
        and module.room not in PYDANTIC_ROOMS
        and module.path != "session/codec.py"
    ]
    assert strays == []


def test_only_the_sandbox_starts_processes() -> None:
    strays = [
        f"{module.path}:{line} {name}"
        for module in modules()
        if module.room not in {"sandbox", "testing"}
        for line, name in _spawns(module)
    ]
    assert strays == []


def test_approval_and_sandbox_do_not_know_each_other() -> None:
    for room, other in (("approval", "sandbox"), ("sandbox", "approval")):
        known = [m.path for m in modules() if m.room == room and any(_is_in(n, other) for n in imported(m))]
        assert known == [], f"{room} imports {other}"


def test_nothing_of_the_product_imports_its_test_tools() -> None:
    assert [m.path for m in modules() if m.room != "testing" and any(_is_in(n, "testing") for n in imported(m))] == []


def test_imports_point_down() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    ended = subprocess.run([str(linter), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def _is_in(name: str, room: str) -> bool:
    return name == f"placet.{room}" or name.startswith(f"placet.{room}.")


def _spawns(module: Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SPAWNING:
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id in {"os", "asyncio", "anyio", "loop"}:
                yield node.lineno, f"{owner.id}.{node.func.attr}"
