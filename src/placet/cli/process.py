"""What a verb needs to know about its own process: the configuration with its flags, and the umask it was born with."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from placet.app.places import Places

if TYPE_CHECKING:
    from placet.app.config import Config

UMASK = 0o022
"""The umask before `harden`; commands of the agent get it back."""


def as_root() -> str | None:
    """The line for whoever runs placet with all rights of the machine; None for an ordinary user."""
    if os.geteuid() != 0:
        return None
    return "placet runs as root: a command with full access can do all that root can. Run it as an ordinary user."


def places() -> Places:
    """The places of this account; quick, for verbs that only talk to the server."""
    return Places.find(os.environ)


def configuration(flags: Mapping[str, object]) -> "Config":
    """The whole configuration; `flags` maps dotted settings to given flags, None where a flag was not given."""
    from placet.app.config import load

    return load(os.environ, flags, umask=UMASK)
