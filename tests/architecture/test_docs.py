"""The documentation says what runs: generated pages are fresh, links lead somewhere, nothing is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from placet.app.config import ENVIRONMENT
from placet.session.catalogue import CATALOGUE
from tests.architecture.tree import ROOT, tracked
from tools import wire
from tools.reference.__main__ import FOLDER, PAGES, stale
from tools.reference.commands import verbs

LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!https?://|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)|!\[[^\]]*\]\(([^)\s]+)\)")


def test_the_generated_pages_are_fresh() -> None:
    assert stale() == [], "run make docs"


def test_the_wire_types_of_the_page_are_fresh() -> None:
    assert wire.main(["--check"]) == 0, "run make docs"


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_every_event_type_is_documented(name: str) -> None:
    assert f"`{name}`" in (FOLDER / "events.md").read_text()


@pytest.mark.parametrize("name", sorted(ENVIRONMENT))
def test_every_variable_of_the_environment_is_documented(name: str) -> None:
    assert f"`{name}`" in (FOLDER / "settings.md").read_text()


def test_every_setting_says_what_it_means() -> None:
    rows = [line for line in (FOLDER / "settings.md").read_text().splitlines() if line.startswith("| `")]
    assert [row for row in rows if row.split("|")[2].strip() == ""] == []


def test_every_command_is_documented() -> None:
    from placet.cli.verbs import build

    text = (FOLDER / "commands.md").read_text()
    assert [words for words in verbs(build()) if f"## {' '.join(('placet', *words))}\n" not in text] == []


def test_every_route_says_what_it_does() -> None:
    rows = [line for line in (FOLDER / "routes.md").read_text().splitlines() if line.startswith("| `")]
    assert [row for row in rows if "`/api/" in row and row.split("|")[5].strip() == ""] == []


def test_every_link_in_the_documentation_leads_to_a_file() -> None:
    broken = []
    for path in tracked():
        if path.suffix == ".md":
            for match in LINK.finditer(path.read_text(encoding="utf-8")):
                target = Path(path.parent / (match[1] or match[2]))
                if not target.exists():
                    broken.append(f"{path.relative_to(ROOT)}: {match[1] or match[2]}")
    assert broken == []


def test_the_readme_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "make run" in text and "make test" in text


def test_every_generated_page_says_that_it_is_generated() -> None:
    assert [name for name in PAGES if "Do not edit" not in (FOLDER / name).read_text()] == []
