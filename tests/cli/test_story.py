"""A log for reading: who did what in one short line for each event, and an exported log checked as a file."""

import json
from pathlib import Path
from typing import Any

import pytest

from placet.cli.story import Story
from placet.session.codec import escape
from placet.session.event import Event
from placet.session.export import parse
from placet.session.ids import SessionId
from tests.cli.conftest import Cli

GOLDEN = Path(__file__).parents[1] / "fixtures" / "logs"
BY = {"kind": "person", "name": "owner", "channel": "page"}
ARGUMENTS = escape(json.dumps({"command": "echo hi\necho ho", "description": "d"}))


def event(seq: int, kind: str, data: dict[str, Any]) -> Event:
    return Event(SessionId("s-1"), seq, 1_700_000_000_000, kind, data, "k", seq)


def told(*events: Event) -> list[str]:
    story = Story()
    return [story.line(one)[47:] for one in events]


def test_apr_02_an_ask_that_ended_with_its_turn_names_who_stopped_it() -> None:
    decided = {
        "id": "a-1", "outcome": "cancelled", "detail": "stopped", "who": {"kind": "system", "name": "placet"},
        "channel": "worker", "evidence": "the stop", "strength": "none", "digest": "d", "feedback": None, "key": None,
        "asked": 5,
    }  # fmt: skip
    lines = told(event(0, "turn/abort", {"turn": 1, "reason": "user", "by": BY}), event(1, "approval/decided", decided))
    assert lines == ["turn 1 stopped, by owner over page", "a-1: Cancelled: stopped by owner."]


def test_a_call_is_its_command_and_more_lines_are_counted() -> None:
    call = {"turn": 1, "step": 2, "position": 0, "callId": "c", "name": "bash", "arguments": ARGUMENTS}
    assert told(event(0, "tool/call", call)) == ["1.2.0 bash: echo hi (+1 line)"]


def test_a_long_text_is_cut_and_the_rest_is_counted() -> None:
    [line] = told(event(0, "notice", {"level": "info", "code": "x", "text": "y" * 500}))
    assert line.endswith("y (+346 characters)") and len(line) < 200


def test_an_event_without_words_of_its_own_shows_its_plain_fields() -> None:
    assert told(event(0, "sandbox/mode", {"mode": "read-only", "by": BY})) == ["mode read-only, by owner over page"]


def test_j10_m20_who_consented_when_and_how_wide_stands_in_the_log_for_reading() -> None:
    who = {"kind": "person", "name": "owner", "account": "ada"}
    answer = {"who": who, "channel": "page", "evidence": "page-key:1", "strength": "page-key", "key": "k"}
    ids = {"run": "run-1", "plugin": "dice-1", "package": "pkg-2"}
    lines = told(
        event(0, "cordis/consented", ids | {"width": "future", "digest": "d" * 64, "holder": "h"} | answer),
        event(1, "cordis/declined", ids | {"digest": "d" * 64, "feedback": "not\nnow"} | answer),
        event(2, "cordis/revoked", {"plugin": "dice-1", "package": None, "future": True} | answer),
    )
    assert [line.strip() for line in lines] == [
        "run-1 dice-1 pkg-2: future versions too, by ada over page (page-key), digest dddddddddddd",
        'run-1 dice-1 pkg-2: by ada over page (page-key) Note: "not (+1 line)',
        "dice-1: the consent to future versions taken back, by ada over page (page-key)",
    ]


def test_h13_a_package_in_the_log_for_reading_is_named_without_its_code() -> None:
    data = {
        "plugin": "dice-1",
        "package": "pkg-1",
        "name": "Dice",
        "purpose": "rolls",
        "host": "secret",
        "client": None,
    }
    [line] = told(event(0, "cordis/defined", data | {"digest": "d" * 64, "call": "1.1.0"}))
    assert line.strip() == "dice-1 pkg-1: host 6 characters, digest dddddddddddd: Dice"


@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("*.jsonl")), ids=lambda path: path.stem)
def test_every_golden_log_can_be_told(path: Path) -> None:
    story = Story()
    for one in parse(path.read_bytes()).events:
        line = story.line(one)
        assert "\n" not in line and len(line) < 260


def test_verify_checks_an_exported_file(cli: Cli, tmp_path: Path) -> None:
    by = json.dumps(BY)
    rows = [
        f'{{"session":"s-1","seq":{seq},"time":1,"type":"session/{kind}","key":"{key}","data":{data},"cursor":"{seq}"}}'
        for seq, (kind, key, data) in enumerate(
            [
                (
                    "created",
                    "created",
                    f'{{"v":1,"cwd":"/w","cwdId":"1:2","title":null,"gitRoots":[],"by":{by}}}',
                ),
                ("renamed", "renamed:1", f'{{"title":"a","by":{by}}}'),
                ("renamed", "renamed:2", f'{{"title":"b","by":{by}}}'),
            ]
        )
    ]
    file = tmp_path / "log.jsonl"
    file.write_text("".join(f"{row}\n" for row in rows))
    done = cli("log", "verify", str(file))
    assert (done.returncode, done.stdout) == (0, "3 events checked, 0 problems.\n")
    file.write_text(f"{rows[0]}\n{rows[2]}\n")
    missing = cli("log", "verify", str(file))
    assert missing.returncode == 1 and "seq 2" in missing.stdout
    file.write_text(f"{rows[0]}\n{rows[1].replace('title', 'tilte')}\n")
    changed = cli("log", "verify", str(file))
    assert changed.returncode == 1 and "session/renamed" in changed.stdout


def test_verify_of_a_file_that_is_not_there_is_a_wrong_word(cli: Cli) -> None:
    assert cli("log", "verify", "/nowhere.jsonl").returncode == 2
