"""What every test may use: the event loop, the requirement gates, a home of its own."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# how fast a machine is, and how busy, is no property of what is tested
settings.register_profile("placet", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("placet")

REQUIRED = frozenset(name.strip() for name in os.environ.get("PLACET_REQUIRE", "").split(",") if name.strip())


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio, the loop that the product runs on."""
    return "asyncio"


def missing(name: str, why: str) -> None:
    """Skip the test with its reason, or fail it where PLACET_REQUIRE says that `name` has to be here."""
    if name in REQUIRED:
        pytest.fail(f"{name} is required by PLACET_REQUIRE, but {why}", pytrace=False)
    pytest.skip(f"needs {name}: {why}")


@functools.cache
def _bubblewrap() -> tuple[str | None, str]:
    path = shutil.which("bwrap")
    if path is None:
        return None, "bwrap is not installed"
    form = [path, "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-pid", "--proc", "/proc"]
    said = ""
    for extra in (["--unshare-user"], []):
        run = subprocess.run([*form, *extra, "true"], capture_output=True, text=True, timeout=30, check=False)
        if run.returncode == 0:
            return path, ""
        said = run.stderr.strip() or f"it ended with {run.returncode}"
    return None, f"bwrap does not work here: {said}"


@pytest.fixture
def needs_bubblewrap() -> str:
    """The path of a bubblewrap that works; skips with the reason where there is none."""
    path, why = _bubblewrap()
    if path is None:
        missing("bubblewrap", why)
    assert path is not None
    return path


@pytest.fixture(scope="session")
def needs_chromium() -> str:
    """The path of a Chromium; skips with the reason where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        path = shutil.which(name)
        if path is not None:
            return path
    missing("chromium", "no chromium is on PATH")
    raise AssertionError("not reached")


@pytest.fixture(scope="session")
def built_page() -> Path:
    """The folder of the built page; skips with the reason where it is not built from today's sources."""
    from hatch_build import Page

    page = Page(Path(__file__).resolve().parent.parent)
    if not page.is_fresh():
        missing("page", "the page is not built from these sources: make page")
    return page.static


@pytest.fixture
def placet_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty PLACET_HOME of this test's own."""
    home = tmp_path / "placet-home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("PLACET_HOME", str(home))
    yield home


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Soak tests run only when asked for, and say so."""
    if os.environ.get("PLACET_SOAK") == "1":
        return
    soak = pytest.mark.skip(reason="a soak test: run it with make soak")
    for item in items:
        if item.get_closest_marker("soak"):
            item.add_marker(soak)
