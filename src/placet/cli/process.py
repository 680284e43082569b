"""What a verb needs to know about its own process: the configuration with its flags, and the umask it was born with."""

import os
from typing import TYPE_CHECKING

from placet.app.places import Places

if TYPE_CHECKING:
    from placet.app.config import Config

UMASK = 0o022
"""The umask before `harden`; commands of the agent get it back."""


def places() -> Places:
    """The places of this account; quick, for verbs that only talk to the server."""
    return Places.find(os.environ)


def configuration(**flags: object) -> "Config":
    """The whole configuration; a flag of value None was not given."""
    from placet.app.config import load

    return load(os.environ, flags, umask=UMASK)
