"""`python -m bench [NAME ...]` runs every bench/NAME.py, each in a process of its own, and prints what they print."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
NOT_A_BENCH = frozenset({"__main__", "__init__", "ratio"})


def main(chosen: list[str]) -> int:
    """Run the chosen benchmarks, or all; the exit code says whether one broke, never whether one was slow."""
    names = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in NOT_A_BENCH)
    unknown = [name for name in chosen if name not in names]
    if unknown:
        print(f"bench: there is no {unknown[0]}; choose from {', '.join(names)}", file=sys.stderr)
        return 2
    broken = 0
    for name in chosen or names:
        print(f"\n{name}", flush=True)
        started = time.monotonic()
        ended = subprocess.run([sys.executable, "-m", f"bench.{name}"], cwd=FOLDER.parent, check=False)
        print(f"  ({time.monotonic() - started:.1f} s)", flush=True)
        if ended.returncode != 0:
            print(f"bench: {name} broke with {ended.returncode}", file=sys.stderr)
            broken = 1
    return broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
