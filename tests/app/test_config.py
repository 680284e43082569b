"""The configuration: where it comes from, in which order, and how it says no."""

import os
from pathlib import Path

import pytest

from placet.app.config import load
from placet.app.errors import ConfigRefused


def home(tmp_path: Path, text: str = "") -> dict[str, str]:
    if text:
        (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    return {"PLACET_HOME": str(tmp_path), "HOME": str(tmp_path)}


def refused(environ: dict[str, str], flags: dict[str, object] | None = None) -> str:
    with pytest.raises(ConfigRefused) as caught:
        load(environ, flags)
    line = caught.value.line()
    assert "\n" not in line
    assert caught.value.code == 2
    return line


def test_d3_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    config = load(home(tmp_path))
    assert config.settings.default_preset == "workspace-write"
    assert config.settings.asks.responders == ("inbox",)
    assert config.settings.asks.deadline_seconds is None
    assert config.places.state == tmp_path / "state"


def test_a_flag_beats_the_variable_which_beats_the_file_which_beats_the_default(tmp_path: Path) -> None:
    environ = home(tmp_path, "port = 4001\n")
    assert load(environ).settings.port == 4001
    environ["PLACET_PORT"] = "4002"
    assert load(environ).settings.port == 4002
    assert load(environ, {"port": 4003}).settings.port == 4003
    assert load(environ, {"port": None}).settings.port == 4002


def test_nothing_is_read_from_the_current_folder_or_a_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for name in ("config.toml", ".env", "placet.toml"):
        (workspace / name).write_text("port = 4999\nPLACET_PORT=4999\n", encoding="utf-8")
    monkeypatch.chdir(workspace)
    assert load(home(tmp_path)).settings.port != 4999


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("port = 99999", "config.toml: port"),
        ("prot = 1", "config.toml: prot. There is no such setting"),
        ('default_preset = "yolo"', "'yolo' is not a preset"),
        ("[asks]\ndeadline_seconds = 0", "config.toml: asks.deadline_seconds"),
        ("[asks]\nopen_limit = 'many'", "config.toml: asks.open_limit"),
        ("[asks]\nresponders = []", "config.toml: asks.responders"),
        ("[asks]\nresponders = ['magic']", "'magic' is not a responder"),
        ("[asks]\nresponders = ['inbox', 'inbox']", "once"),
        ('[model]\nbase_url = "ftp://example.invalid"', "http:// or https://"),
        ('[model]\nbase_url = "http://name:key@127.0.0.1/v1"', "no name, key or query"),
        ('[model]\napi_key = "sk-1"', "Keys are read from the environment only"),
        ('[sandbox]\nbackend = "hope"', "config.toml: sandbox.backend"),
        ('[sandbox]\nhide = ["relative"]', "must begin with / or ~/"),
        ("port = ", "is not valid TOML"),
        ('[workspaces."/w"]\nnetwork = "lan"', "workspaces./w.network"),
        ("asks = 3", "config.toml: asks"),
    ],
)
def test_e7_a_wrong_file_gives_one_line_that_names_file_and_key(tmp_path: Path, text: str, wanted: str) -> None:
    line = refused(home(tmp_path, text))
    assert str(tmp_path / "config.toml") in line
    assert wanted in line


def test_the_line_about_a_refused_key_does_not_repeat_the_key(tmp_path: Path) -> None:
    assert "sk-secret" not in refused(home(tmp_path, '[model]\napi_key = "sk-secret"'))


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "huge", "endless"])
def test_what_is_no_configuration_file_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "config.toml"
    match kind:
        case "fifo":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/null")
        case "endless":
            file.symlink_to("/dev/zero")
        case "folder":
            file.mkdir()
        case "huge":
            file.write_text("# " + "x" * (1 << 20), encoding="utf-8")
    line = refused(home(tmp_path))
    assert str(file) in line
    assert ("is larger than" if kind == "huge" else "is not a regular file") in line


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    assert refused(home(tmp_path) | {"PLACET_PORT": "x"}).startswith("PLACET_PORT")


def test_a_wrong_flag_is_named(tmp_path: Path) -> None:
    assert refused(home(tmp_path), {"default_preset": "yolo"}).startswith("--preset")


def test_a_file_that_is_not_text_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in refused(home(tmp_path))
