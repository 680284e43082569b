"""The running server from the terminal: asks survive kill -9, are answered there, and each command runs once."""

import json
import os
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from placet.app.places import Places
from placet.cli.client import Client
from placet.testing.page_key import PageKey
from tests.cli.conftest import Cli, new_home
from tests.cli.on_terminal import OnTerminal
from tests.cli.server import Server

FULL = ("--preset", "danger-full-access", "--yes")
OneLine = Callable[["subprocess.CompletedProcess[str]"], str]


@pytest.fixture
def server(cli: Cli) -> Iterator[Server]:
    with Server(cli) as running:
        yield running


@pytest.fixture(scope="module")
def calm() -> Iterator[Server]:
    """A server that several tests look at and none changes."""
    with new_home() as cli, Server(cli) as running:
        yield running


@pytest.fixture(scope="module")
def busy() -> Iterator[Server]:
    """A server in which several tests have sessions of their own."""
    with new_home() as cli, Server(cli) as running:
        yield running


@pytest.fixture
def folder(busy: Server) -> Path:
    """A folder for one session of the busy server."""
    return Path(tempfile.mkdtemp(prefix="workspace-", dir=busy.cli.root))


def lines(cli: Cli, *arguments: str) -> list[dict[str, Any]]:
    done = cli(*arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def until(check: Callable[[], Any], seconds: float = 90) -> Any:
    """Ask again until the answer is true: the server is another process and says nothing by itself."""
    deadline = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)
    return found


def asking(cli: Cli, workspace: Path, command: str = "") -> tuple[str, dict[str, Any]]:
    """Start a session whose first command needs a person; returns its id and the open ask."""
    said = command or f"echo ran >> ~/{note(cli, workspace).name}"
    done = cli("session", "new", "--cwd", str(workspace), "--message", f"$ {said}")
    assert done.returncode == 0, done.stderr
    session = done.stdout.strip()
    ask: dict[str, Any] = until(lambda: api(cli, f"/api/sessions/{session}")["asks"])[0]
    return session, ask


def api(cli: Cli, path: str) -> Any:
    """What the server says to the client of the command line, without a process for each question."""
    return Client(Places.find(cli.env)).get(path)


def events(cli: Cli, session: str, kind: str) -> list[dict[str, Any]]:
    """What the log holds, read from the store: also while no server runs."""
    database = sqlite3.connect(f"file:{cli.home / 'state' / 'placet.db'}?mode=ro", uri=True)
    try:
        query = "SELECT data FROM event WHERE session = ? AND type = ? ORDER BY seq"
        return [json.loads(data) for (data,) in database.execute(query, (session, kind))]
    finally:
        database.close()


def ended(cli: Cli, session: str) -> dict[str, Any]:
    ends: list[dict[str, Any]] = until(lambda: events(cli, session, "turn/end"))
    reason: dict[str, Any] = ends[-1]["reason"]
    return reason


def digest(cli: Cli, ask: str) -> str:
    return str(api(cli, f"/api/asks/{ask}")["digest"])


def note(cli: Cli, workspace: Path) -> Path:
    """What the command of a session in that folder writes, outside of the folder."""
    return cli.account / f"note-{workspace.name}.txt"


def test_one_link_is_printed_and_no_secret_is_in_argv(calm: Server) -> None:
    assert calm.said.count("#link=") == 1
    secret = calm.link.split("#link=")[1]
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert secret.encode() not in process.read_bytes()
        except OSError:
            continue


def test_the_rehearsal_says_that_it_is_no_real_model(calm: Server) -> None:
    assert "not a real model" in calm.said


def test_an_allowed_command_runs_exactly_once(busy: Server, folder: Path) -> None:
    cli = busy.cli
    session, ask = asking(cli, folder)
    assert not note(cli, folder).exists()
    done = cli("inbox", "allow", ask["id"], "--digest", digest(cli, ask["id"]))
    assert done.returncode == 0, done.stderr
    assert ended(cli, session)["kind"] == "completed"
    assert note(cli, folder).read_text() == "ran\n"
    [decided] = events(cli, session, "approval/decided")
    assert (decided["outcome"], decided["channel"], decided["strength"]) == ("allowed-once", "socket", "peer-process")
    assert decided["who"]["account"]


def test_a_rejected_command_does_not_run_and_the_note_reaches_the_agent(busy: Server, folder: Path) -> None:
    cli = busy.cli
    session, ask = asking(cli, folder)
    done = cli("inbox", "reject", ask["id"], "--because", "use the folder instead")
    assert done.returncode == 0, done.stderr
    assert ended(cli, session)["kind"] == "completed"
    assert not note(cli, folder).exists()
    assert any("use the folder instead" in result["text"] for result in events(cli, session, "tool/result"))


def test_reject_with_stop_says_so_and_ends_the_turn(busy: Server, folder: Path) -> None:
    cli = busy.cli
    session, ask = asking(cli, folder)
    done = cli("inbox", "reject", ask["id"], "--stop")
    assert done.returncode == 0, done.stderr
    assert "The agent's turn is stopped." in done.stdout
    assert ended(cli, session) == {"kind": "aborted", "reason": "user"}
    assert events(cli, session, "approval/decided")[0]["outcome"] == "rejected"
    assert not note(cli, folder).exists()


def test_browsers_are_listed_and_signed_out_from_a_terminal(cli: Cli, server: Server) -> None:
    assert cli("browsers", "list").stdout == "No browser is signed in.\n"
    key = PageKey()
    secret = server.link.partition("#link=")[2]
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", trust_env=False) as client:
        client.headers["Sec-Fetch-Site"] = "same-origin"
        wish = {"secret": secret, "publicKey": key.public, "label": "A browser"}
        client.post("/api/link", json=wish).raise_for_status()
    [listed] = lines(cli, "browsers", "list", "--json")
    assert (listed["keyId"], listed["label"], listed["current"]) == (key.id, "A browser", False)
    assert cli("browsers", "sign-out", key.id[:4]).returncode == 2
    done = cli("browsers", "sign-out", key.id[:8])
    assert done.stdout == f"Signed out: A browser, key {key.id[:8]}.\n"
    assert cli("browsers", "list").stdout == "No browser is signed in.\n"


def test_ses_09_after_kill_9_the_ask_is_back_before_any_page_and_its_command_runs_once(
    cli: Cli, server: Server, workspace: Path
) -> None:
    session, ask = asking(cli, workspace)
    before = lines(cli, "inbox", "show", ask["id"], "--json")[0]
    server.kill()
    with Server(cli):
        [again] = lines(cli, "inbox", "list", "--json")
        assert again["id"] == ask["id"]
        after = lines(cli, "inbox", "show", ask["id"], "--json")[0]
        assert (after["subject"], after["digest"]) == (before["subject"], before["digest"])
        done = cli("inbox", "allow", ask["id"], "--digest", after["digest"])
        assert done.returncode == 0, done.stderr
        assert ended(cli, session)["kind"] == "completed"
    assert note(cli, workspace).read_text() == "ran\n"
    assert len(events(cli, session, "approval/asked")) == len(events(cli, session, "approval/decided")) == 1


def test_aud_01_a_settled_ask_does_not_come_back_after_kill_9(cli: Cli, server: Server, workspace: Path) -> None:
    session, ask = asking(cli, workspace)
    signed = digest(cli, ask["id"])
    assert cli("inbox", "reject", ask["id"]).returncode == 0
    ended(cli, session)
    server.kill()
    with Server(cli):
        assert lines(cli, "inbox", "list", "--json") == []
        late = cli("inbox", "allow", ask["id"], "--digest", signed)
        assert late.returncode == 1
        assert "rejected" in late.stderr
    assert not note(cli, workspace).exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_apr_05_a_clean_end_settles_nothing_and_leaves_no_traceback(
    cli: Cli, server: Server, workspace: Path, number: int
) -> None:
    session, ask = asking(cli, workspace)
    assert server.end(number) == 0
    assert "Traceback" not in server.said
    assert not (cli.home / "state" / "placet.sock").exists()
    assert not events(cli, session, "approval/decided")
    with Server(cli):
        assert [again["id"] for again in lines(cli, "inbox", "list", "--json")] == [ask["id"]]


def test_link_prints_another_link(calm: Server) -> None:
    done = calm.cli("link")
    assert done.returncode == 0, done.stderr
    assert f"http://127.0.0.1:{calm.port}/#link=" in done.stdout
    assert calm.link not in done.stdout


def test_a_port_of_a_foreign_process_is_left_alone_and_its_holder_named(cli: Cli) -> None:
    import socket

    with socket.socket() as foreign:
        foreign.bind(("127.0.0.1", 0))
        foreign.listen()
        foreign.setblocking(False)
        port = foreign.getsockname()[1]
        with Server(cli, "--port", str(port)) as server:
            assert f"Port {port} is held by" in server.said
            assert server.port != port
        with pytest.raises(BlockingIOError):
            foreign.accept()


def test_attack_23_allow_without_a_terminal_needs_the_whole_digest(
    busy: Server, folder: Path, one_line: OneLine
) -> None:
    cli = busy.cli
    session, ask = asking(cli, folder)
    signed = digest(cli, ask["id"])
    for arguments in ([], ["--digest", signed[:6]], ["--digest", "0" * 64], ["--digest", ""]):
        done = cli("inbox", "allow", ask["id"], *arguments, stdin=f"{signed[:6]}\n")
        assert done.returncode == (1 if arguments else 2)
        said = "The digest is not that of this ask" if arguments else "without a terminal needs the whole digest"
        assert said in one_line(done)
    assert signed[:6] not in cli("inbox", "list").stdout
    assert all("digest" not in line and "subject" not in line for line in lines(cli, "inbox", "list", "--json"))
    assert not events(cli, session, "approval/decided")


def test_attack_23_allow_on_a_terminal_shows_the_whole_card_and_takes_a_typed_digest(
    busy: Server, folder: Path
) -> None:
    cli = busy.cli
    session, ask = asking(cli, folder)
    signed = digest(cli, ask["id"])
    terminal = OnTerminal(cli.argv("inbox", "allow", ask["id"]), cli.env)
    shown = terminal.until("and Enter: ")
    assert f"echo ran >> ~/{note(cli, folder).name}" in shown and signed in shown
    terminal.type(f"{signed[:6]}\r")
    code, shown = terminal.end()
    assert code == 0, shown
    assert ended(cli, session)["kind"] == "completed"
    assert note(cli, folder).read_text() == "ran\n"


@pytest.mark.parametrize("how", ["pasted", "wrong", "nothing"])
def test_attack_23_what_was_not_typed_by_hand_decides_nothing(busy: Server, folder: Path, how: str) -> None:
    cli = busy.cli
    session, ask = asking(cli, folder)
    signed = digest(cli, ask["id"])
    terminal = OnTerminal(cli.argv("inbox", "allow", ask["id"]), cli.env)
    terminal.until("and Enter: ")
    match how:
        case "pasted":
            terminal.paste(f"{signed[:6]}\n")
        case "wrong":
            terminal.type("zzzzzz\r")
        case _:
            terminal.paste("\x03")
    code, shown = terminal.end()
    assert code == 1, shown
    assert "stays open" in shown
    assert not events(cli, session, "approval/decided")


def test_the_loser_is_told_who_was_first(busy: Server, folder: Path) -> None:
    cli = busy.cli
    _, ask = asking(cli, folder)
    signed = digest(cli, ask["id"])
    terminal = OnTerminal(cli.argv("inbox", "allow", ask["id"]), cli.env)
    terminal.until("and Enter: ")
    assert cli("inbox", "reject", ask["id"]).returncode == 0
    terminal.type(f"{signed[:6]}\r")
    code, shown = terminal.end()
    assert code == 1
    assert "rejected" in shown
    assert not note(cli, folder).exists()


def test_a04_a_command_of_the_agent_gets_nothing_over_the_socket(cli: Cli, server: Server, workspace: Path) -> None:
    import sys

    own = " ".join(f"{name}={value}" for name, value in cli.env.items() if name != "PATH")
    command = f"env {own} {sys.executable} -m placet inbox list"
    done = cli("session", "new", "--cwd", str(workspace), "--message", f"$ {command}", *FULL)
    session = done.stdout.strip()
    ended(cli, session)
    [result] = events(cli, session, "tool/result")
    assert result["value"]["exitCode"] != 0
    assert "No ask is open" not in result["text"]


def test_unknown_sessions_and_asks_are_one_line(calm: Server, one_line: OneLine) -> None:
    for arguments in (
        ["inbox", "show", "a-nothing"],
        ["inbox", "allow", "a-nothing", "--digest", "0" * 64],
        ["inbox", "reject", "../../etc/passwd"],
        ["log", "export", "s-nothing"],
    ):
        done = calm.cli(*arguments)
        assert done.returncode == 1, arguments
        one_line(done)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--preset", "yolo"], 2), (["--policy", "sometimes"], 2), (["--preset", "danger-full-access"], 2),
        (["--cwd", "/nowhere"], 1), (["--cwd", "/"], 1), (["--cwd", "../account"], 1), (["--cwd", "."], 1),
        (["--cwd", "state"], 1),
    ],
)  # fmt: skip
def test_a_session_that_cannot_be_is_one_line(calm: Server, one_line: OneLine, arguments: list[str], code: int) -> None:
    cli, folder = calm.cli, calm.cli.root / "workspace"
    folder.mkdir(exist_ok=True)
    done = cli(
        "session", "new", "--message", "hi", *(() if "--cwd" in arguments else ("--cwd", str(folder))), *arguments
    )
    assert done.returncode == code
    one_line(done)
    assert cli("session", "list").stdout.strip() == "No session yet."


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--model", "nonsense"], "nonsense"),
        (["--model", "openai:gpt-x"], "OPENAI_API_KEY"),
        (["--port", "99999"], "--port"),
    ],
)
def test_a_server_that_cannot_start_is_one_line_and_leaves_nothing_running(
    cli: Cli, one_line: OneLine, arguments: list[str], wanted: str
) -> None:
    done = cli("web", "--no-open", *arguments)
    assert done.returncode == 2
    assert wanted in one_line(done)
    assert not (cli.home / "state" / "placet.sock").exists()


def test_a_locked_store_is_one_line(cli: Cli, workspace: Path, one_line: OneLine) -> None:
    assert cli("run", "hi", "--cwd", str(cli.root / "workspace"), "--preset", "read-only").returncode in (0, 1)
    holder = sqlite3.connect(cli.home / "state" / "placet.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        done = cli("web", "--no-open", "--port", "0")
        assert done.returncode == 1
        assert "locked" in one_line(done)
    finally:
        holder.close()


def test_ready_quickly_and_small_when_idle(cli: Cli) -> None:
    with Server(cli) as server:
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        resident = int(status.split("VmRSS:")[1].split()[0])
        assert resident < 120 * 1024
        assert os.listdir(cli.home / "state" / "processes")
    assert cli("session", "list").returncode == 1


def test_what_a_sessions_commands_left_in_temp_goes_with_its_archive_and_with_its_log(
    busy: Server, folder: Path
) -> None:
    cli = busy.cli
    client = Client(Places.find(cli.env))
    for method, body in (("PATCH", {"archived": True, "key": "k-1"}), ("DELETE", None)):
        done = cli("session", "new", "--cwd", str(folder), "--message", "$ touch $TMPDIR/left")
        session = done.stdout.strip()
        ended(cli, session)
        temp = cli.home / "state" / "tmp" / session
        assert (temp / "left").exists()
        assert client.request(method, f"/api/sessions/{session}", body).ok
        until(lambda temp=temp: not temp.exists())  # type: ignore[misc]
