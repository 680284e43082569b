"""A running `placet web`, started and ended as a person or a crash would."""

import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO

from tests.cli.conftest import Cli


@contextmanager
def hearing_hangups() -> Iterator[None]:
    """What is started meanwhile hears SIGHUP, also where the tests themselves run under nohup(1)."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


class Server:
    """A server process of its own home; `said` is all that its terminal showed so far."""

    def __init__(self, cli: Cli, *arguments: str, cwd: Path | None = None, opens: bool = False) -> None:
        self.cli = cli
        self.said = ""
        self._ready = threading.Event()
        port = () if "--port" in arguments else ("--port", "0")
        with hearing_hangups():
            self.process = subprocess.Popen(
                cli.argv("web", *(() if opens else ("--no-open",)), *port, *arguments),
                env=cli.env,
                cwd=cwd or cli.home,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        assert self.process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True)
        self._reader.start()

    def __enter__(self) -> "Server":
        self.ready()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.kill()

    def ready(self, seconds: float = 60) -> "Server":
        """Wait until the link was printed."""
        assert self._ready.wait(seconds), f"the server does not start: {self.said}"
        assert self.process.poll() is None, f"the server ended: {self.said}"
        return self

    @property
    def link(self) -> str:
        """The link that the terminal shows."""
        found = re.search(r"http://127\.0\.0\.1:\d+/#link=\S+", self.said)
        assert found is not None, self.said
        return found.group()

    @property
    def port(self) -> int:
        return int(self.link.split(":")[2].split("/")[0])

    def kill(self) -> None:
        """kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self._wait()

    def end(self, number: int = signal.SIGTERM, seconds: float = 60) -> int:
        """End it as a person would; returns its exit code."""
        self.process.send_signal(number)
        return self._wait(seconds)

    def _wait(self, seconds: float = 60) -> int:
        code = self.process.wait(seconds)
        self._reader.join(seconds)
        return code

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self.said += line
                if "type the code" in line:
                    self._ready.set()
        self._ready.set()
