"""The log on the command line: read from the store itself, with or without a server."""

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from placet.session import Appended, Draft, SessionId
from placet.session.stores.sqlite import SqliteStore
from tests.cli.conftest import Cli

pytestmark = pytest.mark.anyio
OneLine = Callable[["subprocess.CompletedProcess[str]"], str]
BY = {"kind": "person", "name": "owner", "channel": "socket"}
SESSION = SessionId("s-00000000000000000000000001")


async def fill(home: Path, titles: list[str]) -> None:
    store = await SqliteStore.open(home / "state" / "placet.db")
    data: dict[str, Any] = {"v": 1, "cwd": "/w", "cwdId": "1:2", "title": None, "gitRoots": [], "by": BY}
    drafts = [Draft("session/created", data, "created")]
    drafts += [Draft("session/renamed", {"title": t, "by": BY}, f"renamed:{n}") for n, t in enumerate(titles)]
    assert isinstance(await store.append(SESSION, drafts), Appended)
    await store.aclose()


async def test_export_prints_every_event_as_one_json_line_in_order(cli: Cli) -> None:
    await fill(cli.home, [f"title {n}" for n in range(1200)])
    done = cli("log", "export", SESSION)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1201))
    assert events[-1]["data"]["title"] == "title 1199"
    assert set(events[0]) == {"session", "seq", "time", "type", "key", "data", "cursor"}


async def test_show_marks_what_could_steer_the_terminal(cli: Cli) -> None:
    await fill(cli.home, ["\x1b]52;c;cm0=\x07 \u202e"])
    done = cli("log", "show", SESSION)
    assert "‹ESC›" in done.stdout and "‹RLO›" in done.stdout
    assert "\x1b" not in done.stdout


async def test_verify_counts_and_finds_nothing_in_a_good_store(cli: Cli) -> None:
    await fill(cli.home, ["a"])
    done = cli("log", "verify")
    assert done.returncode == 0
    assert "2 events checked, 0 problems." in done.stdout


async def test_verify_finds_an_event_that_was_taken_out(cli: Cli) -> None:
    await fill(cli.home, ["a", "b", "c"])
    database = sqlite3.connect(cli.home / "state" / "placet.db")
    database.execute("DELETE FROM event WHERE seq = 2")
    database.commit()
    database.close()
    done = cli("log", "verify")
    assert done.returncode == 1
    assert "2" in done.stdout and "1 problem." in done.stdout


async def test_an_unknown_session_is_one_line(cli: Cli, one_line: OneLine) -> None:
    await fill(cli.home, [])
    assert "There is no session s-nothing" in one_line(cli("log", "export", "s-nothing"))


def test_without_a_store_nothing_is_created(cli: Cli, one_line: OneLine) -> None:
    assert "There is no store" in one_line(cli("log", "export", "s-1"))
    assert not (cli.home / "state" / "placet.db").exists()


@pytest.mark.parametrize("verb", ["export", "show"])
async def test_a_damaged_store_is_one_line(cli: Cli, one_line: OneLine, verb: str) -> None:
    await fill(cli.home, [f"title {n}" for n in range(300)])
    path = cli.home / "state" / "placet.db"
    for side in ("-wal", "-shm"):
        path.with_name(path.name + side).unlink(missing_ok=True)
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    path.write_bytes(content)
    done = cli("log", verb, SESSION)
    assert done.returncode == 1
    assert "damaged" in one_line(done)


async def test_a_store_of_a_later_format_is_one_line(cli: Cli, one_line: OneLine) -> None:
    await fill(cli.home, [])
    database = sqlite3.connect(cli.home / "state" / "placet.db")
    database.execute("PRAGMA user_version = 99")
    database.close()
    assert "store format 99" in one_line(cli("log", "export", SESSION))


def test_a_file_that_is_no_database_is_one_line(cli: Cli, one_line: OneLine) -> None:
    (cli.home / "state").mkdir(mode=0o700)
    (cli.home / "state" / "placet.db").write_bytes(b"this is no database at all, but long enough to be one" * 100)
    assert "placet.db" in one_line(cli("log", "export", "s-1"))


async def test_a_reader_that_goes_away_is_no_error(cli: Cli) -> None:
    await fill(cli.home, ["x" * 500] * 2000)
    command = " ".join([*cli.argv("log", "export", SESSION), "| head -n 1"])
    done = subprocess.run(
        ["bash", "-c", command], env=cli.env, cwd=cli.home, capture_output=True, text=True, timeout=60, check=True
    )
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
