"""What a package is: two halves of code under one digest, immutable from the moment in which it is defined."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from placet.cordis.vocabulary import PREFIX, PackageId, PluginId
from placet.session.codec import canonical, escape, unescape

LARGEST = 512 * 1024
"""Bytes that both halves may have together."""
LONGEST_NAME, LONGEST_PURPOSE = 120, 2_000
PLUGINS, PACKAGES = 50, 200
"""Plugins that a session may have at once, and packages of one plugin."""


@dataclass(frozen=True, slots=True)
class Code:
    """Both halves in the escaped form; at least one is there."""

    host: str | None
    client: str | None

    @classmethod
    def of(cls, host: str | None, client: str | None) -> Code:
        """Take up code as the agent wrote it."""
        return cls(None if host is None else escape(host), None if client is None else escape(client))

    @property
    def digest(self) -> str:
        """SHA-256 over the RFC 8785 form of both halves: what a consent covers."""
        return sha256(canonical({"host": self.host, "client": self.client})).hexdigest()

    @property
    def plain_host(self) -> str | None:
        """The host half as the agent wrote it."""
        return None if self.host is None else unescape(self.host)

    @property
    def plain_client(self) -> str | None:
        """The client half as the agent wrote it."""
        return None if self.client is None else unescape(self.client)


@dataclass(frozen=True, slots=True)
class Definition:
    """What `cordis_define` is given. Exactly one of `prefix` and `plugin` is set; code as the agent wrote it."""

    name: str
    purpose: str
    host: str | None = None
    client: str | None = None
    prefix: str | None = None
    plugin: PluginId | None = None

    def trimmed(self) -> Definition:
        """Return it without the blanks around prefix, name and purpose (H3, H5)."""
        prefix = None if self.prefix is None else self.prefix.strip()
        return Definition(self.name.strip(), self.purpose.strip(), self.host, self.client, prefix, self.plugin)

    def complaint(self) -> str | None:
        """Return what is wrong with it before anybody looks at the code, or None. It is trimmed already."""
        if (self.prefix is None) == (self.plugin is None):
            return "give either a prefix for a new plugin or the id of an existing one"
        if self.prefix is not None and not PREFIX.fullmatch(self.prefix):
            return f"the prefix {self.prefix[:40]!r} is not made of 3 to 6 lowercase letters (a to z)"
        for what, text, longest in (
            ("name", self.name, LONGEST_NAME),
            ("purpose", self.purpose, LONGEST_PURPOSE),
        ):
            if not text:
                return f"the {what} is empty: say in a few words what this is for"
            if len(text) > longest:
                return f"the {what} has {len(text)} characters; {longest} are allowed"
        return self._code_complaint()

    def _code_complaint(self) -> str | None:
        halves = {"host": self.host, "client": self.client}
        if all(text is None for text in halves.values()):
            return "there is no code: give a host half, a client half, or both"
        for half, text in halves.items():
            if text is not None and not text.strip():
                return f"the {half} half is empty: leave it out, or give it code"
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in halves.values() if text is not None)
        if size > LARGEST:
            return f"both halves together have {size} bytes; {LARGEST} are allowed"
        return None


@dataclass(frozen=True, slots=True)
class Package:
    """One version of a plugin, without its code; `seq` is where the session's log holds that."""

    id: PackageId
    plugin: PluginId
    name: str
    purpose: str
    has_host: bool
    has_client: bool
    digest: str
    seq: int
    defined_at: int
    call: str
