"""What can stop placet before it begins; each becomes one line and an exit code."""


class Refused(Exception):
    """placet will not go on, and one line says what, why and what to do; the person at the terminal can mend it.

    `code` is the exit code of the process: 1 for a state of the machine, 2 for a wrong word on the command line.
    """

    def __init__(self, what: str, *, why: str = "", hint: str = "", code: int = 1) -> None:
        self.what = what
        self.why = why
        self.hint = hint
        self.code = code
        super().__init__(self.line())

    def line(self) -> str:
        """The whole refusal as one line."""
        parts = [part.strip() for part in (self.what, self.why, self.hint) if part.strip()]
        return " ".join(part if part.endswith((".", "?", ":")) else f"{part}." for part in parts).replace("\n", " ")


class ConfigRefused(Refused):
    """A setting cannot be used; the line names the file (or flag, or variable) and the key."""


class NoServer(Refused):
    """No running placet server answers on the socket."""
