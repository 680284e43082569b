"""Whether a client half can be read: parsed as the body of an async function, never run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

HEAD = b"(async function () {\n"
TAIL = b"\n})"
OPENERS, CLOSERS = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
QUERY = """
[(jsx_element) (jsx_self_closing_element) (jsx_opening_element)] @jsx
[(import_statement) (export_statement)] @module
(ERROR) @broken
(MISSING) @broken
"""


def check(text: str, parser: Any, found_by: Callable[[Any], dict[str, list[Any]]]) -> dict[str, object] | None:
    """Return what is wrong as a mapping (message, line, column, source, likely), or None.

    `found_by` runs the query over a tree.
    """
    try:
        body = text.encode()
    except UnicodeEncodeError:
        return found(text, "it holds half a character (a lone surrogate)", None, None, None)
    if text.lstrip().startswith("```"):
        return found(text, "it begins with a mark", 1, 1, "leave out the marks around the code")
    tree = parser.parse(HEAD + body + TAIL)
    found_nodes = found_by(tree.root_node)
    jsx, extra, worst = (first(found_nodes.get(name, [])) for name in ("jsx", "module", "broken"))
    if jsx is not None:
        return at(text, jsx, "JSX is not JavaScript", 'write React.createElement("Button", {...}, ...) instead')
    if worst is None and whole(tree.root_node, len(HEAD) + len(body)):
        if extra is not None:
            word = extra.type.partition("_")[0]
            hint = "everything that a client half can use is there already; it ends with `return`"
            return at(text, extra, f"`{word}` has no place in the body of a function", hint)
        return None
    return broken(text, worst)


def first(nodes: list[Any]) -> Any:
    """The one that comes first in the text, the outermost of those that begin there; None of none."""
    return min(nodes, key=lambda node: (node.start_byte, -node.end_byte), default=None)


def whole(root: Any, end: int) -> bool:
    """Whether the text stayed inside of the function around it."""
    if root.child_count != 1:
        return False
    function = root.child(0)
    while function is not None and function.type in ("expression_statement", "parenthesized_expression"):
        inner = [child for child in function.children if child.is_named]
        function = inner[0] if len(inner) == 1 else None
    if function is None or function.type != "function_expression":
        return False
    body = function.child_by_field_name("body")
    return body is not None and body.end_byte == end + 2


def broken(text: str, node: Any) -> dict[str, object]:
    """Say where the text cannot be read, and why that is so as far as anybody can tell."""
    balance, place = unbalanced(text)
    if node is None:
        return found(text, "it does not stay inside of its function", place[0], place[1], balance)
    line, column = node.start_point[0], node.start_point[1] + 1
    lines = text.split("\n")
    if node.is_missing:
        message = f"`{node.type}` is missing"
    else:
        deepest = node
        for child in node.children:
            if child.is_error:
                deepest = child
        line, column = deepest.start_point[0], deepest.start_point[1] + 1
        message = "it cannot be read here"
    if line < 1 or line > len(lines):
        line, column = place if place[0] else (min(max(line, 1), len(lines)), 1)
    source = lines[line - 1]
    return found(text, message, line, column, likely(source) or balance)


def likely(source: str) -> str | None:
    """Say what the mistake on a line probably is, or None."""
    words = source.replace(":", " : ").replace("(", " ").split()
    if "as" in words:
        return "write plain JavaScript, not TypeScript: there is no `as`"
    if words[:1] and words[0] in ("interface", "type", "enum", "declare", "namespace", "abstract"):
        return f"write plain JavaScript, not TypeScript: there is no `{words[0]}`"
    if words[:1] and words[0] in ("def", "elif", "except", "async") and source.rstrip().endswith(":"):
        return "this looks like Python: the client half is JavaScript, the host half is Python"
    if source.strip().startswith("```"):
        return "leave out the marks around the code"
    for kind in (": string", ": number", ": boolean", ": any", ": void", ": unknown"):
        if kind in source:
            return "write plain JavaScript, not TypeScript: there are no types after a colon"
    return None


def unbalanced(text: str) -> tuple[str | None, tuple[int, int]]:
    """Which bracket has no partner, and where; strings and comments are left out."""
    stack: list[tuple[str, int, int]] = []
    i, line, start = 0, 1, 0
    while i < len(text):
        one = text[i]
        if one == "\n":
            line, start = line + 1, i + 1
        elif text.startswith("//", i):
            end = text.find("\n", i)
            i = len(text) if end < 0 else end
            continue
        elif text.startswith("/*", i):
            end = text.find("*/", i)
            end = len(text) if end < 0 else end + 2
            line += text.count("\n", i, end)
            start = text.rfind("\n", 0, end) + 1
            i = end
            continue
        elif one in "\"'`":
            end = closing(text, i)
            line += text.count("\n", i, end)
            start = text.rfind("\n", 0, end) + 1
            i = end
            continue
        elif one in OPENERS:
            stack.append((one, line, i - start + 1))
        elif one in CLOSERS:
            if not stack or OPENERS[stack[-1][0]] != one:
                return f"the bracket `{one}` in line {line} closes nothing", (line, i - start + 1)
            stack.pop()
        i += 1
    if stack:
        one, line, column = stack[-1]
        return f"the bracket `{one}` of line {line} is never closed", (line, column)
    return None, (0, 0)


def closing(text: str, i: int) -> int:
    """The place behind the end of the string that begins at i."""
    quote, i = text[i], i + 1
    while i < len(text):
        if text[i] == "\\":
            i += 2
        elif text[i] == quote:
            return i + 1
        elif text[i] == "\n" and quote != "`":
            return i
        else:
            i += 1
    return len(text)


def at(text: str, node: Any, message: str, likely: str) -> dict[str, object]:
    return found(text, message, node.start_point[0], node.start_point[1] + 1, likely)


def found(text: str, message: str, line: int | None, column: int | None, likely: str | None) -> dict[str, object]:
    lines = text.split("\n")
    source = lines[line - 1].rstrip("\r") if line and 0 < line <= len(lines) else None
    return {"message": message, "line": line, "column": column, "source": source, "likely": likely}
