"""How placet says that it is called: what a person types where they stand."""

import sys
from pathlib import Path

import pytest

from placet.app.program import program


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment of its own in a checkout, where `make run` has put placet."""
    own = tmp_path / "checkout" / ".venv" / "bin" / "placet"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(own.parents[1]))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.chdir(tmp_path / "checkout")
    return own


def test_it_is_the_bare_name_where_the_search_path_leads_to_it(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(own.parent))
    assert program() == "placet"


def test_another_placet_on_the_search_path_is_not_named(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other" / "placet"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    assert program() == ".venv/bin/placet"


def test_it_is_a_short_path_from_the_checkout_and_the_whole_one_from_far_away(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert program() == ".venv/bin/placet"
    assert program(anywhere=True) == str(own)
    monkeypatch.chdir(own.parent)
    assert program() == "./placet"
    far = own.parents[2] / "a" / "b"
    far.mkdir(parents=True)
    monkeypatch.chdir(far)
    assert program() == str(own)


def test_a_path_with_blanks_is_quoted(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = tmp_path / "two words"
    own.parents[1].rename(moved)
    monkeypatch.setattr(sys, "prefix", str(moved))
    assert program(anywhere=True) == f"'{moved}/bin/placet'"


def test_without_an_installed_program_the_interpreter_is_named(own: Path) -> None:
    own.unlink()
    assert program(anywhere=True) == f"{sys.executable} -m placet"
