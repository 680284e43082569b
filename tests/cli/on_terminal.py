"""A real pseudo-terminal with a program on it, and a hand that types or pastes."""

import os
import pty
import select
import subprocess
import time
from collections.abc import Mapping, Sequence


class OnTerminal:
    """A program whose stdin, stdout and stderr are one terminal."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], *, cwd: str | None = None) -> None:
        self.master, slave = pty.openpty()
        self.path = os.ttyname(slave)
        self.process = subprocess.Popen(
            argv, stdin=slave, stdout=slave, stderr=slave, env=dict(env), cwd=cwd, start_new_session=True
        )
        os.close(slave)
        self.seen = ""

    def until(self, text: str, seconds: float = 60.0) -> str:
        """Read until the text was printed; returns everything seen so far."""
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            left = deadline - time.monotonic()
            assert left > 0, f"{text!r} did not come, seen: {self.seen!r}"
            if select.select([self.master], [], [], left)[0]:
                try:
                    chunk = os.read(self.master, 65536)
                except OSError as error:  # the other side has closed the terminal
                    raise AssertionError(f"{text!r} did not come, seen: {self.seen!r}") from error
                self.seen += chunk.decode(errors="replace")
        return self.seen

    def type(self, text: str) -> None:
        """Press one key after the other, as a hand does: the next when the last was taken."""
        for key in text:
            os.write(self.master, key.encode())
            if key not in "\r\n":
                self.until_echo(key)

    def until_echo(self, key: str) -> None:
        """Wait until the program has shown the key."""
        shown = len(self.seen)
        deadline = time.monotonic() + 60
        while key not in self.seen[shown:]:
            left = deadline - time.monotonic()
            assert left > 0, f"the key {key!r} was not taken, seen: {self.seen!r}"
            if select.select([self.master], [], [], left)[0]:
                self.seen += os.read(self.master, 65536).decode(errors="replace")

    def paste(self, text: str) -> None:
        """Put all of it in at once."""
        os.write(self.master, text.encode())

    def end(self, seconds: float = 60.0) -> tuple[int, str]:
        """Wait for the program; returns its exit code and everything that it printed."""
        deadline = time.monotonic() + seconds
        while True:
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.master, 65536).decode(errors="replace")
                except OSError:  # the other side has closed the terminal
                    break
            elif self.process.poll() is not None:
                break
            assert time.monotonic() < deadline, f"it does not end, seen: {self.seen!r}"
        code = self.process.wait(seconds)
        self.close()
        return code, self.seen

    def close(self) -> None:
        """Take the terminal away; a program that still runs is killed."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.master >= 0:
            os.close(self.master)
            self.master = -1
