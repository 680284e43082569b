"""`python -m tools.reference` writes the generated pages; with `--check` it names the stale ones and ends with 1."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tools.reference import client, commands, contract, events, host, routes, settings

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"

PAGES: dict[str, Callable[[], str]] = {
    "client-half.md": client.page,
    "commands.md": commands.page,
    "contract.md": contract.page,
    "events.md": events.page,
    "host-half.md": host.page,
    "routes.md": routes.page,
    "settings.md": settings.page,
}


def stale() -> list[str]:
    """Return the name of every generated page that is not what the code says today."""
    return [name for name, page in PAGES.items() if _read(FOLDER / name) != page()]


def write() -> list[str]:
    """Write the stale pages and return their names."""
    changed = stale()
    for name in changed:
        (FOLDER / name).write_text(PAGES[name](), encoding="utf-8")
    return changed


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def main(arguments: list[str]) -> int:
    if "--check" not in arguments:
        for name in write():
            print(f"docs/reference/{name} written")
        return 0
    names = stale()
    for name in names:
        print(f"docs/reference/{name} is stale: run make docs", file=sys.stderr)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
