"""Law 1: only `allowed-once` lets anything happen, and one function in the whole program tests for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.tree import Module, modules

HOME = "approval/outcome.py"


def test_one_function_tests_for_a_yes() -> None:
    home = next(m for m in modules() if m.path == HOME)
    assert {function for function, _ in _tests_for_a_yes(home)} == {"grants"}


def test_no_other_module_tests_for_a_yes() -> None:
    strays = [
        f"{m.path}:{line} in {function}" for m in modules() if m.path != HOME for function, line in _tests_for_a_yes(m)
    ]
    assert strays == [], "call approval.outcome.grants instead"


def _tests_for_a_yes(module: Module) -> Iterator[tuple[str, int]]:
    """Yield the function and the line of every comparison with, or match on, the granting outcome."""
    for function in ast.walk(module.tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Compare) and any(_is_yes(x) for x in (node.left, *node.comparators)):
                    yield function.name, node.lineno
                elif isinstance(node, ast.MatchValue) and _is_yes(node.value):
                    yield function.name, node.value.lineno


def _is_yes(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "ALLOWED_ONCE" or (node.attr == "value" and _is_yes(node.value))
    if isinstance(node, ast.Tuple | ast.Set | ast.List):
        return any(_is_yes(item) for item in node.elts)
    return isinstance(node, ast.Constant) and node.value == "allowed-once"
