"""How the results of the file tools read: the text for the model, the value for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from placet.sandbox.helper import Failure
from placet.sandbox.mode import SandboxMode
from placet.tools.files import words

Data = Mapping[str, Any]
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "�")


def clean(value: Any) -> Any:
    """Return what the helper told in a form that the log can hold: names that are not UTF-8 get U+FFFD."""
    match value:
        case str():
            return value.translate(_SURROGATES)
        case dict():
            return {name: clean(inner) for name, inner in value.items()}
        case list():
            return [clean(inner) for inner in value]
        case _:
            return value


def shown(name: str) -> str:
    """Return a name for one line: as it is, or quoted where a control character would break the line."""
    return name if name.isprintable() else json.dumps(name, ensure_ascii=False)


def read(data: Data) -> str:
    """Return lines with their numbers, and what else is to know."""
    first, lines = data["first"], data["lines"]
    if not lines:
        return "(the file is empty)"
    told = [_line(first + index, text, cut) for index, (text, cut) in enumerate(lines)]
    if data["more"]:
        told.append(f"[more lines follow: go on with offset {first + len(lines)}]")
    return "\n".join(told)


def _line(number: int, text: str, cut: int) -> str:
    return f"{number:>6}\t{text}" + (f" [... {cut} more bytes in this line]" if cut else "")


def written(data: Data) -> str:
    """Return what became of a file, with the difference where there was one before."""
    change = data["diff"]
    lines = "line" if change["added"] == 1 else "lines"
    counts = "" if change["added"] is None else f", {change['added']} {lines} added, {change['removed']} removed"
    done = "Made" if data["created"] else "Changed"
    head = f"{done} {shown(data['path'])} ({data['size']} bytes{counts})"
    if data["created"]:
        return head
    if change["text"] is None:
        return f"{head}\n[the difference is too long to show]"
    return f"{head}\n{change['text']}" if change["text"] else f"{head}\nNothing in it changed."


def listed(data: Data) -> str:
    """Return one line per entry."""
    lines = [_entry(entry) for entry in data["entries"]] or ["(the folder is empty)"]
    if not data["complete"]:
        lines.append(f"[only the first {len(data['entries'])} entries; list a folder within]")
    return "\n".join(lines)


def _entry(entry: Data) -> str:
    name = shown(entry["name"])
    match entry["kind"]:
        case "folder":
            return f"{name}/"
        case "symlink":
            return f"{name} -> {shown(entry['target'])}"
        case "file":
            return f"{name}  {entry['size']} bytes"
        case _:
            return f"{name}  (neither file nor folder)"


def searched(data: Data) -> str:
    """Return the lines that were found, each with its place, and what was not searched."""
    lines = [f"{shown(name)}:{number}: {text}" for name, number, text in data["matches"]]
    files = data["files"]
    lines.append(f"[{len(data['matches'])} lines found in {files} {'file' if files == 1 else 'files'}]")
    passed = [f"{count} {why}" for why, count in data["skipped"].items() if count]
    if passed:
        lines.append(f"[passed over: {', '.join(passed)}]")
    if data["incomplete"]:
        lines.append(f"[not complete: {data['incomplete']}]")
    return "\n".join(lines)


def failed(failure: Failure, mode: SandboxMode, *, offers: bool) -> str:
    """Return the error, and for a denial the marker and what can be done about it (D18, O7)."""
    text = f"Error: {clean(failure.text)}"
    if not failure.denied:
        return text
    marker = f"[sandbox: file access denied under {mode} mode]"
    return "\n".join((text, marker, words.HINT if offers else words.FINAL))
