"""Runs the gates one after the other and says of each whether it holds; `make check` calls it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

GATES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ruff", (str(BIN / "ruff"), "check", ".")),
    ("mypy", (str(BIN / "mypy"),)),
    ("import-linter", (str(BIN / "lint-imports"),)),
    ("architecture", (sys.executable, "-m", "pytest", "-q", "tests/architecture")),
    ("docs", (sys.executable, "-m", "tools.reference", "--check")),
    ("wire", (sys.executable, "-m", "tools.wire", "--check")),
    ("page", (sys.executable, "hatch_build.py", "check")),
)


def main() -> int:
    """Run every gate, print the words of those that do not hold, and return how many that were."""
    broken = 0
    for name, command in GATES:
        started = time.monotonic()
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        holds = ended.returncode == 0
        print(f"{name:14} {'holds' if holds else 'DOES NOT HOLD'}  ({time.monotonic() - started:.1f} s)", flush=True)
        if not holds:
            broken += 1
            print(ended.stdout + ended.stderr, flush=True)
    return min(broken, 1)


if __name__ == "__main__":
    sys.exit(main())
