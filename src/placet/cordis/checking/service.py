"""Looks at code in a confined interpreter: both parsers read what an agent wrote, so neither runs in the server."""

from __future__ import annotations

import asyncio
import functools
import json
import struct
from collections.abc import Mapping
from importlib import util
from pathlib import Path
from typing import Any

import anyio

from placet.cordis.definition import Definition
from placet.cordis.errors import CheckUnavailable
from placet.kernel.signal import AbortSignal
from placet.sandbox import Bounds
from placet.sandbox.companion import Companion
from placet.sandbox.errors import SandboxError
from placet.sandbox.mode import SandboxMode
from placet.sandbox.policy import Workdir
from placet.sandbox.service import Sandbox
from placet.session import keys
from placet.tools.tool import CallContext

SECONDS = 10.0
"""How long a look at both halves may take."""
LARGEST = 64 * 1024
BOUNDS = Bounds(processes=4, memory=1 << 30)
WINDOW = 100
"""Characters of the offending line that are shown."""
_HEAD = struct.Struct("=I")
_NAMES = ("python_half", "javascript_half", "answering")
_BEGIN = """
import json, struct, sys, types
package = types.ModuleType("inside")
package.__path__ = []
sys.modules["inside"] = package
for name, source in json.loads(take(struct.unpack("=I", take(4))[0])):
    module = types.ModuleType("inside." + name)
    module.__package__ = "inside"
    sys.modules["inside." + name] = module
    setattr(package, name, module)
    exec(compile(source, name + ".py", "exec"), module.__dict__)
package.answering.answer(line, take)
"""
_TOO_MUCH = (
    "the code could not be read within the bounds of time and memory: it is too large or too deeply nested. Make it"
    " simpler"
)


class Checking:
    """Checks both halves; one confined interpreter per look, which ends with it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def complaint(self, call: CallContext, definition: Definition) -> str | None:
        """Return what is wrong with the code, with its line and a caret, or None. Raises `CheckUnavailable`."""
        try:
            companion = await self._companion(call)
        except SandboxError as failure:
            raise CheckUnavailable(f"the code cannot be checked, so nothing was defined: {failure.why}") from failure
        try:
            with anyio.move_on_after(SECONDS):
                return await _unless_stopped(companion, definition, call.signal)
            return _TOO_MUCH
        finally:
            with anyio.CancelScope(shield=True):
                await companion.end()

    async def _companion(self, call: CallContext) -> Companion:
        created = await call.log.store.lookup(call.session, keys.created())
        assert created is not None
        device, _, inode = created.data["cwdId"].partition(":")
        workspace = Workdir(call.cwd, int(device), int(inode))
        profile = self._sandbox.profile(call.session, workspace, SandboxMode.READ_ONLY)
        return await self._sandbox.companion(profile, _BEGIN, BOUNDS)


async def _unless_stopped(companion: Companion, definition: Definition, signal: AbortSignal) -> str | None:
    found: list[str | None] = []
    with anyio.CancelScope() as scope:
        undo = signal.on_abort(lambda _: scope.cancel())
        try:
            found.append(await _ask(companion, definition))
        finally:
            undo()
    return found[0] if found else "the turn was stopped before the code was checked"


async def _ask(companion: Companion, definition: Definition) -> str | None:
    libraries = _libraries() if companion.native and definition.client is not None else ()
    request = {
        "host": definition.host,
        "client": definition.client,
        "libraries": [len(library) for library in libraries],
    }
    try:
        await companion.send(_framed(_program()))
        await companion.send(_framed(json.dumps(request).encode()))
        for library in libraries:
            await companion.send(library)
        answer = await _exactly(companion, _HEAD.size)
        size = _HEAD.unpack(answer)[0] if answer else LARGEST + 1
        answer = await _exactly(companion, size) if size <= LARGEST else b""
    except ConnectionError:
        answer = b""
    return _said(answer)


def _said(answer: bytes) -> str | None:
    """What the answer of the confined interpreter means; it has read the agent's code, so nothing else is believed."""
    try:
        value = json.loads(answer) if answer else {}
    except (ValueError, RecursionError):
        value = {}
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("message"), str):
        return _TOO_MUCH
    return _shown(value)


def _shown(found: Mapping[str, Any]) -> str:
    """The complaint as the agent reads it: half, line, what is wrong, the line with a caret, the likely mistake."""
    half = "host" if found.get("half") == "host" else "client"
    line, column, source, likely = (found.get(name) for name in ("line", "column", "source", "likely"))
    where = f", line {line}" if isinstance(line, int) else ""
    text = f"syntax error in the {half} half{where}: {found['message'][:300]}"
    if isinstance(source, str):
        at = column if isinstance(column, int) and 0 < column <= len(source) + 1 else 1
        first = max(0, at - 1 - WINDOW // 2)
        shown = source[first : first + WINDOW].replace("\t", " ")
        text += f"\n    {shown}\n    {' ' * (at - 1 - first)}^"
    if isinstance(likely, str):
        text += f"\nLikely: {likely[:300]}."
    return text


def _framed(data: bytes) -> bytes:
    return _HEAD.pack(len(data)) + data


async def _exactly(companion: Companion, size: int) -> bytes:
    """That many bytes; none if the interpreter is gone."""
    loop, taken = asyncio.get_running_loop(), bytearray()
    while len(taken) < size:
        part = await loop.sock_recv(companion.line, size - len(taken))
        if not part:
            return b""
        taken += part
    return bytes(taken)


@functools.cache
def _program() -> bytes:
    folder = Path(__file__).parent / "inside"
    return json.dumps([[name, (folder / f"{name}.py").read_text(encoding="utf-8")] for name in _NAMES]).encode()


@functools.cache
def _libraries() -> tuple[bytes, ...]:
    """The compiled parser and its grammar. They are read as files and loaded only in the confined interpreter."""
    found = []
    for package in ("tree_sitter", "tree_sitter_javascript"):
        spec = util.find_spec(package)
        assert spec is not None and spec.origin is not None
        found.append(next(Path(spec.origin).parent.glob("_binding*.so")).read_bytes())
    return tuple(found)
