"""Wheel and source archive: complete, with the built page inside, and installable without Node."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from hatch_build import Page

ROOT = Path(__file__).resolve().parents[2]
SITE = "placet/web/static"


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory, built_page: Path) -> Path:
    """A folder with a wheel and a source archive of this checkout."""
    folder = tmp_path_factory.mktemp("archives")
    run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], ROOT)
    return folder


def run(command: Sequence[str], folder: Path, **environment: str) -> str:
    """Run a command that has to end well and return all that it printed."""
    ended = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def test_the_wheel_holds_the_program_and_the_built_page(archives: Path) -> None:
    with zipfile.ZipFile(next(archives.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
        stamp = json.loads(wheel.read(f"{SITE}/assets.json"))
    assert {f"{SITE}/{name}" for name in stamp["files"]} <= names
    assert {"placet/py.typed", "placet/cli/main.py", "placet-0.1.0.dist-info/licenses/LICENSE"} <= names
    assert [name for name in names if not name.startswith(("placet/", "placet-0.1.0.dist-info/"))] == []


def test_the_source_archive_holds_the_sources_and_the_built_page(archives: Path) -> None:
    with tarfile.open(next(archives.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"README.md", "LICENSE", "Makefile", "hatch_build.py", "ui/package-lock.json", "requirements/run.txt"}
    assert wanted | {f"src/{SITE}/index.html", f"src/{SITE}/assets.json", "tests/conftest.py"} <= names
    assert [name for name in names if "node_modules" in name or name.startswith(".venv")] == []


def test_a_wheel_from_the_source_archive_needs_no_node(archives: Path, tmp_path: Path) -> None:
    run(["tar", "-xzf", str(next(archives.glob("*.tar.gz")))], tmp_path)
    unpacked = next(tmp_path.glob("placet-*"))
    assert Page(unpacked).is_fresh()
    said = run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)], unpacked)
    assert "npm" not in said
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        assert f"{SITE}/index.html" in wheel.namelist()


def test_the_installed_wheel_starts(archives: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    wheel = next(archives.glob("*.whl"))
    run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel)], tmp_path)
    where = "import placet, placet.web.page as page; page.Page.load(page.Path(page.__file__).parent / 'static').shell()"
    assert run([sys.executable, "-c", f"{where}; print(placet.__file__)"], tmp_path, PYTHONPATH=str(site)).startswith(
        str(site)
    )
    assert "0.1.0" in run([sys.executable, "-m", "placet", "--version"], tmp_path, PYTHONPATH=str(site))
