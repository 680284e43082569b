"""Faults that other systems really had, tried on the program as people start it; the ids are those of the cases."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from placet.testing.page_key import PageKey
from tests.cli.conftest import Cli
from tests.cli.on_terminal import OnTerminal
from tests.cli.server import Server
from tests.cli.test_run import bash, events, script
from tests.cli.test_together import alive
from tests.cli.test_web import ended, until
from tests.cli.test_web import events as logged
from tests.conftest import missing

BACKENDS = pytest.mark.parametrize("backend", ["bubblewrap", "landlock"])
PRESETS = ("read-only", "workspace-write", "danger-full-access")
SECRET = "a-secret-of-the-person"


def confined_by(cli: Cli, backend: str) -> Cli:
    """The same home, with one backend only; skips where it does not work."""
    report = json.loads(cli("doctor", "--json").stdout)["backends"]
    if not next(found["usable"] for found in report if found["name"] == backend):
        missing(backend, "doctor says that it does not work here")
    return Cli(cli.root, {"PLACET_SANDBOX": backend})


def results(done: "subprocess.CompletedProcess[str]") -> list[dict[str, Any]]:
    assert done.returncode in (0, 4), done.stderr
    return [event["data"] for event in events(done) if event["type"] == "tool/result"]


@BACKENDS
def test_sec_01_a_command_that_was_given_port_and_secret_still_becomes_no_page(
    cli: Cli, workspace: Path, backend: str
) -> None:
    cli = confined_by(cli, backend)
    (workspace / "attack.py").write_text(_ATTACK)
    key = PageKey().public
    with Server(cli) as server:
        secret = server.link.partition("#link=")[2]
        for preset in PRESETS:
            command = f"$ python3 attack.py {server.port} {secret} {key} {cli.home}/state/placet.sock"
            done = cli("session", "new", "--cwd", str(workspace), "--preset", preset, "--yes", "--message", command)
            session = done.stdout.strip()
            ended(cli, session)
            [result] = logged(cli, session, "tool/result")
            tried = dict(line.split(" ", 1) for line in result["value"]["stdout"]["text"].splitlines())
            assert tried.pop("link") == "403 sender-refused", (preset, result["text"])
            assert tried.pop("socket") in ("PermissionError", "403 peer-refused"), (preset, result["text"])
            assert set(tried.values()) == {"401 not-linked"} and len(tried) == 5, (preset, result["text"])
        until(lambda: server.said.count("Refused to ") >= len(PRESETS))
        taken = {"secret": secret, "publicKey": key, "label": "the person"}
        headers = {"Sec-Fetch-Site": "same-origin", "Origin": f"http://127.0.0.1:{server.port}"}
        answer = httpx.post(f"{headers['Origin']}/api/link", json=taken, headers=headers, trust_env=False)
        assert answer.status_code == 200, "the tries have spent nothing"


_ATTACK = """
import json, socket, sys, urllib.error, urllib.request
port, secret, key, path = sys.argv[1:]
site = f"http://127.0.0.1:{port}"
kept = {"Content-Type": "application/json", "Sec-Fetch-Site": "same-origin", "Origin": site}

def post(where, body):
    return urllib.request.urlopen(urllib.request.Request(site + where, json.dumps(body).encode(), kept), timeout=30)

def over_socket():
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(path)
        end.sendall(b"GET /api/asks HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n")
        head, _, body = b"".join(iter(lambda: end.recv(65536), b"")).partition(b"\\r\\n\\r\\n")
    raise urllib.error.HTTPError(path, int(head.split()[1]), "", None, __import__("io").BytesIO(body))

def tell(name, act):
    try:
        act()
        print(name, "ok")
    except urllib.error.HTTPError as error:
        print(name, error.code, json.loads(error.read())["error"]["code"])
    except OSError as error:
        print(name, type(error).__name__)

tell("link", lambda: post("/api/link", {"secret": secret, "publicKey": key, "label": "a browser"}))
tell("session", lambda: post("/api/sessions", {"cwd": "/tmp", "preset": "danger-full-access", "key": "k"}))
tell("ask", lambda: post("/api/asks/a-1/decision", {"outcome": "allowed-once", "digest": "0" * 64, "key": "k"}))
tell("preset", lambda: post("/api/sessions/s-1/permission", {"preset": "danger-full-access", "key": "k"}))
tell("links", lambda: post("/api/links", {}))
tell("stop", lambda: post("/api/sessions/s-1/stop", {"key": "k"}))
tell("socket", over_socket)
"""


@BACKENDS
@pytest.mark.parametrize("preset", PRESETS)
def test_sec_08_the_keys_of_the_servers_environment_reach_no_command_and_no_log(
    cli: Cli, workspace: Path, backend: str, preset: str
) -> None:
    cli = confined_by(cli, backend)
    given = dict.fromkeys(("OPENAI_API_KEY", "DATABASE_URL", "GH_TOKEN", "PLACET_TOKEN", "BASH_ENV"), f"/{SECRET}")
    reads = "env; cat /proc/self/environ"
    if preset != "danger-full-access" or os.geteuid() != 0:  # root without a sandbox may read every process
        reads += "; cat /proc/$PPID/environ; for p in /proc/[0-9]*/environ; do cat $p; done; ps -e e"
    done = cli(
        "run",
        f"$ {reads}; true",
        "--cwd",
        str(workspace),
        "--preset",
        preset,
        "--model",
        "rehearsal",
        "--json",
        env=given,
    )
    [result] = results(done)
    assert "PLACET_SESSION=" in result["value"]["stdout"]["text"]
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize("preset", PRESETS)
def test_bsh_08_commands_read_nothing_of_what_the_program_was_started_with(
    cli: Cli, workspace: Path, preset: str
) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"one\ntwo\n")  # as a protocol would, and the pipe stays open: whoever reads it waits
    command = "cat; head -1; python3 -c 'input()'; read x; echo end; ls /proc/self/fd | wc -l"
    try:
        done = subprocess.run(
            cli.argv("run", f"$ {command}", "--cwd", str(workspace), "--preset", preset, "--json"),
            env=cli.env, cwd=cli.home, stdin=reading, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        [result] = results(done)
        assert (result["value"]["timedOut"], result["value"]["stdout"]["text"]) == (False, "end\n4\n")
        os.set_blocking(reading, False)
        assert os.read(reading, 100) == b"one\ntwo\n"
    finally:
        os.close(reading)
        os.close(writing)


def test_bsh_08_a_program_that_was_started_without_standard_input_is_no_worse(cli: Cli, workspace: Path) -> None:
    words = cli.argv("run", "$ cat; read x; readlink /proc/self/fd/0", "--cwd", str(workspace), "--json")
    closed = ["sh", "-c", 'exec "$@" <&-', "sh", *words]
    done = subprocess.run(closed, env=cli.env, cwd=cli.home, capture_output=True, text=True, timeout=60, check=False)
    [result] = results(done)
    assert result["value"]["stdout"]["text"] == "/dev/null\n"


@BACKENDS
@pytest.mark.parametrize("preset", PRESETS[1:])
def test_sbx_18_bsh_07_the_terminal_of_the_person_is_out_of_reach(
    cli: Cli, workspace: Path, backend: str, preset: str
) -> None:
    """The program has a terminal, as a person's has; its command cannot open it, type into it or wait for it."""
    cli = confined_by(cli, backend)
    waits = "cat; read x; less /etc/hostname; ssh-keygen -q; sudo -k true; python3"
    call = bash(f"python3 - <<'E'\n{_TERMINAL}\nE\n{waits}; echo end", timeoutMs=30_000)
    words = cli.argv("run", "go", "--cwd", str(workspace), "--preset", preset, "--json")
    words += ["--model", script(cli.home, {"calls": [call]})]
    terminal = OnTerminal(["setsid", "--ctty", "--wait", *words], cli.env, cwd=str(cli.home))
    code, seen = terminal.end()
    assert code == 0, seen
    rows = [json.loads(line) for line in seen.splitlines()]  # nothing but the log: no key was typed, nothing painted
    [result] = [row["data"] for row in rows if row["type"] == "tool/result"]
    tried, _, rest = result["value"]["stdout"]["text"].partition("\n")
    assert set(tried.split()) <= {"EPERM", "ENOTTY", "ENXIO", "EACCES"} and len(tried.split()) == 10
    assert rest.endswith("end\n") and not result["value"]["timedOut"]


_TERMINAL = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
said = []
try: os.open("/dev/tty", os.O_RDWR); said.append("opened")
except OSError as error: said.append(errno.errorcode[error.errno])
for end in (0, 1, 2):
    for request in (0x5412, 0x541C, 0x100005412):
        done = libc.ioctl(end, ctypes.c_ulong(request), b"x")
        said.append(errno.errorcode[ctypes.get_errno()] if done else "typed")
print(*said)
"""


def test_pol_01_a_run_under_never_asks_nobody_and_ends_while_commands_inside_go_on(cli: Cli, workspace: Path) -> None:
    (workspace / "old").touch()
    wider = [
        bash("true", sandbox_permissions=mode, justification="to see")
        for mode in ("workspace-write", "danger-full-access")
    ]
    model = script(cli.home, {"calls": [*wider, bash("rm old")]})
    done = cli("run", "go", "--cwd", str(workspace), "--policy", "never", "--model", model, "--json")
    assert done.returncode == 4, done.stderr
    log = {event["seq"]: event for event in events(done)}
    asked = [event for event in log.values() if event["type"] == "approval/asked"]
    assert len(asked) == 1  # workspace-write is in force already: that call just runs
    decided = log[asked[0]["seq"] + 1]
    assert (decided["type"], decided["data"]["outcome"]) == ("approval/decided", "rejected")
    assert decided["time"] - asked[0]["time"] < 100
    assert [result["code"] for result in results(done)].count("APPROVAL_REJECTED") == 1
    assert not (workspace / "old").exists()


@pytest.mark.parametrize("numbers", [(signal.SIGHUP,), (signal.SIGINT, signal.SIGINT)], ids=["hangup", "twice"])
def test_bsh_10_stubborn_commands_die_with_the_server_however_it_is_told(
    cli: Cli, workspace: Path, numbers: tuple[signal.Signals, ...]
) -> None:
    mark = f"5{os.getpid()}{time.monotonic_ns() % 1_000_000}"
    with Server(cli) as server:
        command = f"$ trap '' TERM INT HUP; touch begun; sleep {mark}; sleep {mark}"
        assert cli("session", "new", "--cwd", str(workspace), "--message", command).returncode == 0
        until((workspace / "begun").exists)
        for number in numbers[:-1]:
            server.process.send_signal(number)
        assert server.end(numbers[-1]) == 0
        assert "Traceback" not in server.said
    until(lambda: not alive(f"sleep\0{mark}"), seconds=10)
