"""A damaged store on the terminal: every verb says damaged, where and what to do; whole sessions go on."""

import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Cli
from tests.cli.server import Server
from tests.cli.test_web import asking

OneLine = Callable[["subprocess.CompletedProcess[str]"], str]


def edit(cli: Cli, statement: str) -> None:
    with sqlite3.connect(cli.home / "state" / "placet.db") as db:
        db.execute(statement)
    db.close()


def test_f11_one_damaged_ask_leaves_the_cards_of_other_sessions_in_reach(
    cli: Cli, workspace: Path, one_line: OneLine
) -> None:
    other = cli.root / "other"
    other.mkdir()
    with Server(cli) as server:
        (damaged, ask), (whole, card) = asking(cli, workspace), asking(cli, other, "echo ran >> ~/other.txt")
        server.kill()
    edit(cli, f"UPDATE event SET data = replace(data, 'ran', 'RAN') WHERE key = 'asked:{ask['id']}'")
    with Server(cli) as server:
        assert f"damaged at session {damaged}" in server.said
        for verb in (("inbox", "list"), ("session", "list")):
            done = cli(*verb)
            assert done.returncode == 1 and (card["id"] if verb[0] == "inbox" else whole) in done.stdout
            assert f"damaged at session {damaged}" in one_line(done) and "placet log verify" in one_line(done)
        assert "damaged at" in one_line(cli("inbox", "show", ask["id"]))
        done = cli("inbox", "allow", card["id"], "--digest", card["digest"])
        assert done.returncode == 0, done.stderr
        done = cli("log", "show", damaged)
        assert done.returncode == 1 and "placet log verify" in one_line(done)
        done = cli("log", "verify")
        assert done.returncode == 1 and f"session {damaged}" in done.stdout
        server.end()
    assert not (cli.account / "note.txt").exists()


def test_f11_web_refuses_to_start_over_a_damaged_file_with_one_line(cli: Cli, workspace: Path) -> None:
    with Server(cli) as server:
        asking(cli, workspace)
        server.end()
    edit(cli, "PRAGMA wal_checkpoint(TRUNCATE)")
    file = cli.home / "state" / "placet.db"
    content = bytearray(file.read_bytes())
    last = len(content) - 4096
    content[last:] = b"\xee" * 4096
    file.write_bytes(content)
    done = cli("web", "--no-open", "--port", "0")
    assert done.returncode == 1 and "#link=" not in done.stdout
    assert "damaged" in done.stderr and "placet log verify" in done.stderr and "Traceback" not in done.stderr
    done = cli("log", "verify")
    assert done.returncode == 1 and "Traceback" not in done.stderr + done.stdout
