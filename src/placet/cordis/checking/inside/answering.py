"""Takes the code and, for a client half, the parser; looks at it within bounds, and answers once."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import resource
import struct
import sys
import types
from collections.abc import Callable
from typing import Any

from . import javascript_half, python_half

SECONDS, MEMORY = 5, 768 << 20


def answer(line: int, take: Callable[[int], bytes]) -> None:
    """Answer one request: a JSON object with the halves and the sizes of the two libraries, which follow it."""
    request = json.loads(take(struct.unpack("=I", take(4))[0]))
    libraries = [take(size) for size in request["libraries"]]
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    found = None
    if request["host"] is not None:
        found = python_half.check(request["host"])
        if found is not None:
            found["half"] = "host"
    if found is None and request["client"] is not None and libraries:
        found = javascript_half.check(request["client"], *parser(libraries))
        if found is not None:
            found["half"] = "client"
    data = json.dumps(found).encode()
    os.write(line, struct.pack("=I", len(data)))
    while data:
        data = data[os.write(line, data) :]


def parser(libraries: list[bytes]) -> tuple[Any, Callable[[Any], Any]]:
    """The parser and the query, from the bytes of its two libraries: their files need not be visible in here."""
    core = loaded("tree_sitter._binding", libraries[0])
    grammar = loaded("tree_sitter_javascript._binding", libraries[1])
    language = core.Language(grammar.language())
    query = core.Query(language, javascript_half.QUERY)
    return core.Parser(language), lambda root: core.QueryCursor(query).captures(root)


def loaded(name: str, content: bytes) -> Any:
    """Load a compiled module from memory."""
    package = name.partition(".")[0]
    sys.modules.setdefault(package, types.ModuleType(package))
    handle = os.memfd_create(package)
    with os.fdopen(handle, "wb", closefd=False) as file:
        file.write(content)
    loader = importlib.machinery.ExtensionFileLoader(name, f"/proc/self/fd/{handle}")
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
