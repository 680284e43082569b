"""When two calls are the same action: equal tool, arguments, folder and mode, whatever was said about them."""

from __future__ import annotations

import json
from hashlib import sha256

from placet.approval.errors import SubjectInvalid
from placet.approval.subject import parse_arguments

ASIDE = frozenset({"description", "justification", "run_in_background", "sandbox_permissions", "timeoutMs", "workdir"})
"""Arguments that do not say what is done; the folder counts in its resolved form."""


def likeness(tool: str, arguments: str, cwd: str | None = None, to_mode: str | None = None) -> str:
    """Return equal text for equal actions. `arguments` is the escaped text that the log holds."""
    try:
        values = {name: value for name, value in parse_arguments(arguments).items() if name not in ASIDE}
    except SubjectInvalid:
        values = {"": arguments}
    return sha256(json.dumps([tool, values, cwd, to_mode], sort_keys=True).encode()).hexdigest()
