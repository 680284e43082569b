"""Where placet keeps its things: one state directory, one configuration file, both moved by PLACET_HOME."""

import os
import pwd
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from placet.app.errors import ConfigRefused, Refused


@dataclass(frozen=True, slots=True)
class Places:
    """The directories and files of one installation of placet for one account."""

    state: Path
    config_file: Path

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> "Places":
        """The places that the environment names; nothing is created and nothing of the current directory is used.

        Raises `ConfigRefused` for a PLACET_HOME that is not absolute. XDG variables that are not absolute are ignored,
        as the XDG base directory specification demands.
        """
        home = environ.get("PLACET_HOME", "")
        if home:
            root = Path(home)
            if not root.is_absolute():
                raise ConfigRefused(
                    f"PLACET_HOME is {home!r}",
                    why="It must be absolute, so that the folder you stand in never decides where placet's state lies",
                    hint="Write the whole path",
                    code=2,
                )
            return cls(root / "state", root / "config.toml")
        account_home = _account_home(environ)
        state = _xdg(environ, "XDG_STATE_HOME", account_home / ".local" / "state")
        config = _xdg(environ, "XDG_CONFIG_HOME", account_home / ".config")
        return cls(state / "placet", config / "placet" / "config.toml")

    @property
    def database(self) -> Path:
        """The store."""
        return self.state / "placet.db"

    @property
    def socket(self) -> Path:
        """The Unix socket of the running server."""
        return self.state / "placet.sock"

    @property
    def bells(self) -> Path:
        """Where doorbells of local processes lie."""
        return self.state / "bells"

    @property
    def temp(self) -> Path:
        """The parent of the sessions' private temp directories."""
        return self.state / "tmp"

    @property
    def spill(self) -> Path:
        """The parent of the sessions' spill files."""
        return self.state / "spill"

    @property
    def server_key(self) -> Path:
        """The server's private key."""
        return self.state / "server.key"

    @property
    def processes(self) -> Path:
        """Where running placet processes register."""
        return self.state / "processes"

    @property
    def logs(self) -> Path:
        """Where unexpected errors are written in full."""
        return self.state / "errors"

    def prepare(self) -> None:
        """Create what is missing, for this account only, and refuse a state directory that is not ours.

        Raises `Refused` with one line.
        """
        try:
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            facts = self.state.stat()
            if facts.st_uid != os.geteuid():
                me = account_name(os.geteuid())
                raise Refused(
                    f"The state directory {self.state} belongs to {account_name(facts.st_uid)}",
                    why=f"placet runs as {me} and keeps its secrets only where nobody else can reach them",
                    hint="Start placet as that account, or set PLACET_HOME to a folder of your own",
                )
            if stat.S_IMODE(facts.st_mode) & 0o077:
                self.state.chmod(0o700)
            for folder in (self.bells, self.temp, self.spill, self.processes, self.logs):
                folder.mkdir(mode=0o700, exist_ok=True)
            if not os.access(self.state, os.W_OK):
                raise PermissionError(None, "It, or the file system that it lies on, is read-only")
        except OSError as error:
            raise Refused(
                f"The state directory {self.state} cannot be used",
                why=error.strerror or str(error),
                hint="Free it, or set PLACET_HOME to a folder of your own",
            ) from error


def account_name(uid: int) -> str:
    """The name of an account, or its number where the system knows no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def _account_home(environ: Mapping[str, str]) -> Path:
    named = environ.get("HOME", "")
    if named and Path(named).is_absolute():
        return Path(named)
    try:
        return Path(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError as error:
        raise ConfigRefused(
            "This account has no home directory", hint="Set PLACET_HOME to an absolute path", code=2
        ) from error


def _xdg(environ: Mapping[str, str], name: str, default: Path) -> Path:
    value = environ.get(name, "")
    return Path(value) if value and Path(value).is_absolute() else default
