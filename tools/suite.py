"""Runs every test of the project: the page's with vitest, then the Python ones; the last line counts them all.

Many tests start real servers, browsers and sandboxes side by side, and some promise a time. So a few that fail beside
others are tried once more, alone; both attempts are shown, and a test that fails alone as well has failed.
`docs/decisions/tests.md` says why.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
JOBS = min(_CORES + max(1, _CORES // 2), 12)
"""A test waits for other processes a third of its time: so many side by side keep the processors busy."""
FEW = 5
"""More failures than this are no accident of a busy machine: nothing is tried again."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many tests of one runner passed, failed and were skipped, and whether the runner itself ended well."""

    passed: int
    failed: int
    skipped: int
    ended_well: bool

    def __add__(self, other: Count) -> Count:
        return Count(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.ended_well and other.ended_well,
        )


def page_tests(folder: Path) -> Count:
    """Run the page's tests; a runner that leaves no report counts as one failure."""
    if not (ROOT / "ui" / "package.json").is_file():
        return Count(0, 0, 0, True)
    report = folder / "vitest.json"
    reporters = ["--reporter=default", "--reporter=json", f"--outputFile.json={report}"]
    ended = subprocess.run([sys.executable, "hatch_build.py", "test", *reporters], cwd=ROOT, check=False)
    try:
        said = json.loads(report.read_text())
    except (OSError, ValueError):
        return Count(0, 1, 0, False)
    return Count(said["numPassedTests"], said["numFailedTests"], said["numPendingTests"], ended.returncode == 0)


def python_tests(folder: Path, jobs: str, arguments: list[str]) -> Count:
    """Run pytest on `jobs` processes; what fails beside others is tried once more alone, if it is little."""
    if jobs in ("0", "1"):
        return _pytest(folder / "alone", arguments)[0]
    count, failed = _pytest(folder / "beside", ["-n", jobs, "--dist", "worksteal", *arguments])
    if not 0 < len(failed) <= FEW or len(failed) != count.failed or os.environ.get("PLACET_SOAK") == "1":
        return count
    print(f"\n{len(failed)} failed beside others; tried once more, alone:\n  " + "\n  ".join(failed), flush=True)
    again, failed_again = _pytest(folder / "again", failed)
    if again.passed + again.failed != len(failed):
        return count  # not all of them ran again, so nothing is known
    for name in failed:
        print(f"  {'failed both times' if name in failed_again else 'passed alone'}: {name}", flush=True)
    return Count(count.passed + again.passed, count.failed - again.passed, count.skipped, again.ended_well)


def _pytest(folder: Path, arguments: list[str]) -> tuple[Count, list[str]]:
    """One run of pytest and the names of what failed in it; a run that leaves no report counts as one failure."""
    report, cache = folder / "pytest.xml", folder / "cache"
    command = [sys.executable, "-m", "pytest", f"--junit-xml={report}", "-o", f"cache_dir={cache}", *arguments]
    required = ",".join(filter(None, (os.environ.get("PLACET_REQUIRE"), "page")))
    ended = subprocess.run(command, cwd=ROOT, check=False, env={**os.environ, "PLACET_REQUIRE": required})
    try:
        suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    except (OSError, ElementTree.ParseError):
        return Count(0, 1, 0, False), []
    total, failed, skipped = (
        sum(int(suite.get(name, "0")) for suite in suites) for name in ("tests", "failures", "skipped")
    )
    failed += sum(int(suite.get("errors", "0")) for suite in suites)
    last = cache / "v" / "cache" / "lastfailed"
    names = list(json.loads(last.read_text())) if last.is_file() else []
    return Count(total - failed - skipped, failed, skipped, ended.returncode == 0), names


def main() -> int:
    """Run all tests, or with arguments only the Python tests that they name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", default=str(JOBS), help="how many pytest processes run side by side (%(default)s)")
    options, arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="placet-suite-") as name:
        folder = Path(name)
        page = Count(0, 0, 0, True) if arguments else page_tests(folder)
        whole = page + python_tests(folder, options.jobs, arguments)
    failed = whole.failed if whole.ended_well else max(whole.failed, 1)
    print(f"\n{whole.passed} passed, {failed} failed, {whole.skipped} skipped", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
