"""The script that a command runs: which file its first word names, and what is in it."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from typing import Any

from .fence import Fence, Refused, below
from .reading import content

CAPTURED = 2 << 20
"""Bytes of a script; more than a card can show is told as too large there."""
_BEGIN = 4_096
_SHELLS = re.compile(r"(?:/usr)?(?:/bin/)?(?:ba|da|k|z)?sh\Z")
_PYTHONS = re.compile(r"(?:(?:/usr)?(?:/local)?/bin/)?python(?:[23](?:\.\d+)?)?\Z")
_SHELL_FLAGS = re.compile(r"-[eExuvnfabhkmptBCHP]+\Z|--(?:posix|norc|noprofile|verbose)\Z")
_PYTHON_FLAGS = re.compile(r"-[bBdEIOPsSuvx]+\Z")
_OPERATORS = ";&|<>()\n"
_EXPANDED = frozenset("$`*?[]{}~!#\\")


def capture(fence: Fence, request: dict[str, Any]) -> dict[str, Any]:
    """The file of the workspace that the command's first word runs; `file` is null where that cannot be told."""
    named = script_of(request["command"])
    if named is None:
        return {"file": None}
    path = os.path.join(request["folder"], named)
    try:
        data, real = content(fence, path, CAPTURED)
    except FileNotFoundError:
        return {"file": None}
    except Refused as refusal:
        if refusal.code == "too-large" and refusal.path is not None and below(refusal.path, request["workspace"]):
            raise
        return {"file": None}
    if not below(real, request["workspace"]) or b"\0" in data:
        return {"file": None}
    text = data.decode("utf-8", "surrogateescape")
    return {"file": {"path": real, "sha256": hashlib.sha256(data).hexdigest(), "text": text}}


def script_of(command: str) -> str | None:
    """The path by which the first simple command runs a file: `bash FILE`, `python FILE`, or a word with a slash."""
    words = first_words(command)
    if not words or words[0] is None:
        return None
    program = words[0]
    shell, python = _SHELLS.match(program), _PYTHONS.match(program)
    if not shell and not python:
        return program if "/" in program else None
    flags = _SHELL_FLAGS if shell else _PYTHON_FLAGS
    for word in words[1:]:
        if word is None:
            return None
        if word == "--":
            continue
        if not word.startswith("-"):
            return word
        if not flags.match(word):
            return None
    return None


def first_words(command: str) -> list[str | None]:
    """The words of the first simple command, quotes taken off; None for one that the shell would expand."""
    begin = command[:_BEGIN].lstrip(" \t\n").replace("\\\n", "")
    lexer = shlex.shlex(begin, posix=False, punctuation_chars=_OPERATORS)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, "#"
    words: list[str | None] = []
    try:
        for token in lexer:
            if token[0] in _OPERATORS:
                break
            words.append(plain(token))
    except ValueError:  # a quote that does not end: what came before it stands
        words.append(None)
    while words and words[0] is not None and re.match(r"[A-Za-z_]\w*=", words[0]):
        words.pop(0)
    return words


def plain(token: str) -> str | None:
    """A word as the command gets it, or None where the shell would change it."""
    parts = re.findall(r"'[^']*'|\"[^\"]*\"|[^'\"]+", token)
    if "".join(parts) != token:
        return None
    text = []
    for part in parts:
        if part.startswith("'"):
            text.append(part[1:-1])
        elif part.startswith('"'):
            if set(part) & {"$", "`", "\\", "!"}:
                return None
            text.append(part[1:-1])
        elif set(part) & _EXPANDED:
            return None
        else:
            text.append(part)
    return "".join(text)
