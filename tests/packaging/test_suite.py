"""What fails beside other tests is tried once more alone, and the count is true in each case."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import suite
from tools.suite import FEW, Count

PASSES = "def test_passes(): pass\n"
FAILS_ONCE = """
from pathlib import Path

def test_fails_once():
    mark = Path(__file__).with_suffix(".seen")
    seen = mark.exists()
    mark.touch()
    assert seen
"""
FAILS = "def test_fails(): assert 0\n"
ERRS = """
import pytest

@pytest.fixture
def broken():
    raise OSError("no")

def test_errs(broken): pass
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs inside see a folder of their own, and of the plugins only the one that spreads tests."""
    monkeypatch.setattr(suite, "ROOT", tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    monkeypatch.delenv("PLACET_SOAK", raising=False)


@pytest.mark.parametrize(
    ("texts", "passed", "failed"),
    [
        ([PASSES, FAILS_ONCE], 2, 0),
        ([PASSES, FAILS_ONCE, FAILS, ERRS], 2, 2),
        ([PASSES, "import nothing_of_this_name\n"], 1, 1),
        ([FAILS_ONCE] * (FEW + 1), 0, FEW + 1),
    ],
    ids=["by accident", "for a reason", "not even read", "too many"],
)
def test_a_few_that_fail_beside_others_are_tried_once_more_and_counted_truly(
    texts: list[str], passed: int, failed: int, tmp_path: Path
) -> None:
    count = _run(tmp_path, texts, "2")
    assert (count.passed, count.failed, count.ended_well) == (passed, failed, failed == 0)


@pytest.mark.parametrize(("jobs", "soak"), [("1", "0"), ("2", "1")], ids=["alone", "long"])
def test_a_run_that_is_alone_or_long_tries_nothing_again(
    jobs: str, soak: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_SOAK", soak)
    assert _run(tmp_path, [FAILS_ONCE], jobs).failed == 1


def _run(folder: Path, texts: list[str], jobs: str) -> Count:
    for number, text in enumerate(texts):
        (folder / f"test_number_{number}.py").write_text(text)
    return suite.python_tests(folder / "reports", jobs, ["-q"])
