"""The confined helper: a process that touches the files which the agent names, so that the server never does.

It runs under the same profile as a command of the call would, holds itself to limits on processor time and memory, and
is killed when it takes too long or the turn is stopped. `inside` is its program.
"""

from __future__ import annotations

from .process import Helper
from .requests import Failure, Found, Inquiry, Verb
from .service import Helpers

__all__ = ["Failure", "Found", "Helper", "Helpers", "Inquiry", "Verb"]
