"""Answers requests one after the other: JSON behind four bytes that say its length, over one socket."""

from __future__ import annotations

import json
import os
import resource
import struct
from collections.abc import Callable
from typing import Any

from . import looking, reading, scripts, writing
from .fence import Fence, Refused

LINE = 1
LARGEST = 8 << 20
MEMORY, FILE, DESCRIPTORS = 768 << 20, 32 << 20, 64

VERBS: dict[str, Callable[[Fence, dict[str, Any]], dict[str, Any]]] = {
    "read": reading.read,
    "write": writing.write,
    "edit": writing.edit,
    "list": looking.entries,
    "search": looking.search,
    "capture": scripts.capture,
    "locate": writing.locate,
}


def serve() -> None:
    """Answer until the other end of the line closes."""
    limit()
    while (request := receive()) is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (used() + request["cpu"], resource.RLIM_INFINITY))
        request["handed"] = handed() if request["handed"] else None
        send(answer(request))


def limit() -> None:
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_NOFILE, DESCRIPTORS),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most, most) if hard == resource.RLIM_INFINITY else (min(most, hard),) * 2)


def used() -> int:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return int(usage.ru_utime + usage.ru_stime) + 1


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """What came of a request; `failed` says in one line why nothing did."""
    try:
        if "\0" in request.get("path", ""):
            raise Refused("bad-path", "a path cannot hold a NUL character")
        return {"done": VERBS[request["do"]](Fence(request), request)}
    except Refused as refusal:
        return {"failed": refusal.code, "text": refusal.text, "path": refusal.path}
    except OSError as failure:
        path = os.fsdecode(failure.filename) if failure.filename is not None else request.get("path")
        return {"failed": "system", "errno": failure.errno, "text": f"{path}: {failure.strerror}", "path": path}
    except MemoryError:
        return {"failed": "too-large", "text": "this needs more memory than there is for it", "path": None}


def receive() -> dict[str, Any] | None:
    head = exactly(4)
    if head is None:
        return None
    size = struct.unpack("=I", head)[0]
    text = exactly(size) if size <= LARGEST else None
    request: dict[str, Any] | None = None if text is None else json.loads(text)
    return request


def handed() -> int:
    """The descriptor that comes behind a request; it is closed by whoever reads it."""
    import socket

    with socket.socket(fileno=os.dup(LINE)) as line:
        return socket.recv_fds(line, 1, 1)[1][0]


def exactly(size: int) -> bytes | None:
    taken = bytearray()
    while len(taken) < size:
        part = os.read(LINE, min(size - len(taken), 1 << 20))
        if not part:
            return None
        taken += part
    return bytes(taken)


def send(message: dict[str, Any]) -> None:
    text = json.dumps(message).encode()
    if len(text) > LARGEST:
        text = json.dumps({"failed": "too-large", "text": "the answer is too long", "path": None}).encode()
    data = memoryview(struct.pack("=I", len(text)) + text)
    while data:
        data = data[os.write(LINE, data) :]
