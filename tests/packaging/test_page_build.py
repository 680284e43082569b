"""The build of the page: what makes it run again, and what it hands to foreign code. A tiny page stands in for ui/."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hatch_build import Page, PageError

BUILD = """
import { mkdirSync, writeFileSync } from "node:fs";
const out = "../src/placet/web/static";
mkdirSync(out + "/assets", { recursive: true });
writeFileSync(out + "/index.html", "<!doctype html>");
writeFileSync(out + "/assets/environment.json", JSON.stringify(process.env));
"""


@pytest.fixture
def page(tmp_path: Path) -> Page:
    """A checkout whose page writes its environment into one of its assets."""
    ui = tmp_path / "ui"
    ui.mkdir()
    scripts = {"build": "node build.mjs", "preinstall": "node -e \"require('fs').writeFileSync('ran', '')\""}
    about = {"name": "tiny", "version": "1.0.0", "private": True}
    (ui / "package.json").write_text(json.dumps({**about, "scripts": scripts}))
    lock = {**about, "lockfileVersion": 3, "requires": True, "packages": {"": {"name": "tiny", "version": "1.0.0"}}}
    (ui / "package-lock.json").write_text(json.dumps(lock))
    (ui / "build.mjs").write_text(BUILD)
    return Page(tmp_path)


def test_a_built_page_is_fresh_and_is_not_built_again(page: Page) -> None:
    page.build()
    assert page.is_fresh()
    index = page.static / "index.html"
    before = index.stat().st_mtime_ns
    page.build()
    assert index.stat().st_mtime_ns == before


def test_a_changed_source_makes_the_page_stale(page: Page) -> None:
    page.build()
    (page.ui / "build.mjs").write_text(BUILD + "\n")
    assert not page.is_fresh()


def test_a_changed_output_makes_the_page_stale_and_is_built_again(page: Page) -> None:
    page.build()
    index = page.static / "index.html"
    index.write_text("<script>theirs()</script>")
    assert not page.is_fresh()
    page.build()
    assert index.read_text() == "<!doctype html>"
    assert page.is_fresh()


def test_a_file_that_was_put_beside_the_outputs_makes_the_page_stale(page: Page) -> None:
    page.build()
    (page.static / "assets" / "theirs.js").write_text("theirs()")
    assert not page.is_fresh()


def test_the_stamp_names_every_output_with_its_hash(page: Page) -> None:
    page.build()
    stamp = json.loads((page.static / "assets.json").read_text())
    assert stamp["files"] == page.outputs()
    assert set(stamp["files"]) == {"index.html", "assets/environment.json"}


def test_no_key_of_the_environment_reaches_the_build(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    monkeypatch.setenv("NPM_TOKEN", "planted")
    page.build()
    seen = json.loads((page.static / "assets" / "environment.json").read_text())
    assert "planted" not in json.dumps(seen)


def test_install_scripts_do_not_run(page: Page) -> None:
    page.build()
    assert not (page.ui / "ran").exists()


def test_a_page_that_was_shipped_built_needs_no_sources(page: Page) -> None:
    page.build()
    for path in page.ui.iterdir():
        path.unlink() if path.is_file() else None
    assert page.is_fresh()
    page.build()


def test_a_missing_page_without_sources_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(PageError, match="complete checkout"):
        Page(tmp_path).build()
