"""The program that a half's process is given: compiled where it runs in the Python that runs placet, else as text."""

from __future__ import annotations

import functools
import marshal
import struct
from pathlib import Path

_NAMES = ("lossless", "failures", "scope", "line", "services", "web", "context", "traps", "half", "main")
BEGIN = """
import gc, marshal
gc.disable()
sys.modules["ssl"] = None
kind = type(sys)
package = kind("inside")
package.__path__ = []
sys.modules["inside"] = package
for name, code in marshal.loads(take(int.from_bytes(take(4), "big"))):
    module = kind("inside." + name)
    module.__package__ = "inside"
    sys.modules["inside." + name] = module
    setattr(package, name, module)
    exec(code if not isinstance(code, str) else compile(code, name + ".py", "exec"), module.__dict__)
del sys.modules["ssl"]
gc.freeze()
gc.enable()
package.main.main(line)
"""
"""The first lines. The event loop is imported without `ssl`, which takes long and which only `ctx.web` needs,
and without looking for garbage, of which imports make none."""


@functools.cache
def program(*, native: bool) -> bytes:
    """Return what is sent first: a length, and the modules behind it."""
    folder = Path(__file__).parent / "inside"
    texts = [(name, (folder / f"{name}.py").read_text(encoding="utf-8")) for name in _NAMES]
    if native:
        data = marshal.dumps([(name, compile(text, f"{name}.py", "exec")) for name, text in texts])
    else:
        data = marshal.dumps(texts, 2)
    return struct.pack(">I", len(data)) + data
