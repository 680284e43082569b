"""What the repository must not hold: paths of a machine, addresses of package indexes, large files."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.tree import ROOT, tracked

# Put together here, so that this file does not hold what it looks for.
HOSTS = tuple(f"{name}.{end}" for name, end in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org")))
PLACES = tuple("/" + name + "/" for name in ("root", "work"))
MACHINE = re.compile(r"(?<![\w.~$}])(?:" + "|".join(map(re.escape, PLACES)) + ")")
LARGEST = 1 << 20


def _texts() -> list[tuple[str, str]]:
    found = []
    for path in tracked():
        raw = path.read_bytes()
        if b"\0" not in raw:
            found.append((path.relative_to(ROOT).as_posix(), raw.decode("utf-8", "replace")))
    return found


def test_no_tracked_file_names_the_host_of_a_package_index() -> None:
    assert [name for name, text in _texts() if any(host in text for host in HOSTS)] == []


def test_no_tracked_file_holds_a_path_of_a_machine() -> None:
    home = str(Path.home()) + "/"
    assert [name for name, text in _texts() if MACHINE.search(text) or home in text] == []


def test_no_tracked_file_is_large() -> None:
    assert [str(path) for path in tracked() if path.stat().st_size > LARGEST] == []


def test_locked_requirements_carry_a_hash_and_no_address() -> None:
    for name in ("run", "build", "test"):
        text = (ROOT / "requirements" / f"{name}.txt").read_text()
        entries = re.split(r"(?m)^(?=\S)", text)
        assert [e.splitlines()[0] for e in entries if e.strip() and "--hash=sha256:" not in e] == []
        assert "://" not in text


def test_the_lock_of_the_page_carries_no_address() -> None:
    lock = ROOT / "ui" / "package-lock.json"
    assert '"resolved"' not in lock.read_text()
