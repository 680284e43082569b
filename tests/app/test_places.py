"""The places: absolute, private, and never decided by the folder one stands in."""

import os
import stat
from pathlib import Path

import pytest

from placet.app.errors import ConfigRefused, Refused
from placet.app.places import Places


def test_placet_home_moves_both_places(tmp_path: Path) -> None:
    places = Places.find({"PLACET_HOME": str(tmp_path)})
    assert places.state == tmp_path / "state"
    assert places.config_file == tmp_path / "config.toml"


def test_a_relative_placet_home_is_refused_in_one_line() -> None:
    with pytest.raises(ConfigRefused, match="absolute") as caught:
        Places.find({"PLACET_HOME": "here", "HOME": "/home/x"})
    assert caught.value.code == 2


def test_xdg_places_are_used_and_relative_ones_ignored() -> None:
    places = Places.find({"HOME": "/home/x", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "relative"})
    assert places.state == Path("/s/placet")
    assert places.config_file == Path("/home/x/.config/placet/config.toml")


def test_the_state_directory_is_made_for_this_account_only(tmp_path: Path) -> None:
    places = Places.find({"PLACET_HOME": str(tmp_path / "new" / "home")})
    places.prepare()
    assert stat.S_IMODE(places.state.stat().st_mode) == 0o700
    assert stat.S_IMODE(places.bells.stat().st_mode) == 0o700


def test_a_state_directory_that_others_can_enter_is_closed(tmp_path: Path) -> None:
    places = Places.find({"PLACET_HOME": str(tmp_path)})
    places.state.mkdir(mode=0o755)
    places.state.chmod(0o755)
    places.prepare()
    assert stat.S_IMODE(places.state.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a directory to another account")
def test_a_state_directory_of_another_account_is_refused_and_its_owner_named(tmp_path: Path) -> None:
    places = Places.find({"PLACET_HOME": str(tmp_path)})
    places.state.mkdir()
    os.chown(places.state, 1, 1)
    with pytest.raises(Refused) as caught:
        places.prepare()
    assert "belongs to daemon" in caught.value.line()


def test_a_file_in_the_place_of_the_state_directory_is_refused_in_one_line(tmp_path: Path) -> None:
    places = Places.find({"PLACET_HOME": str(tmp_path)})
    places.state.write_text("", encoding="utf-8")
    with pytest.raises(Refused) as caught:
        places.prepare()
    assert "\n" not in caught.value.line()


def test_a_state_directory_that_cannot_be_written_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places.find({"PLACET_HOME": str(tmp_path)})
    places.prepare()
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere but on a read-only file system
    with pytest.raises(Refused, match="read-only") as caught:
        places.prepare()
    assert str(places.state) in caught.value.line()
