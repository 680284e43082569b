"""The environment of a command: built from a short list, never the server's own."""

from __future__ import annotations

import functools
import os
import pwd
import shutil
from collections.abc import Mapping

from placet.sandbox.policy import Profile

FIXED_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The search path of escalated calls: no directory that a confined command can write in."""

_PASSED = ("TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
_QUIET = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    # An editor that accepts what is there lets `rebase --continue` go on; one for the list of a rebase must fail,
    # or an interactive rebase would rewrite history with the list that nobody looked at.
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "false",
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PLACET_SHELL": "1",
}


@functools.cache
def shell() -> str:
    """The system's bash, or whichever the command's search path leads to."""
    return shutil.which("bash", path=FIXED_PATH) or "bash"


def build(profile: Profile, temp: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment for one call; `temp` is where the call finds its temp directory."""
    account = pwd.getpwuid(os.geteuid()) if _known() else None
    name = account.pw_name if account else str(os.geteuid())
    home = environ.get("HOME", "") or (account.pw_dir if account else "/")
    env = dict(_QUIET)
    env |= {"HOME": home, "USER": name, "LOGNAME": name, "SHELL": "/bin/bash", "PLACET_SESSION": profile.session}
    env |= {"TMPDIR": temp, "PATH": FIXED_PATH if profile.escalated else _search_path(environ)}
    env |= {key: environ[key] for key in _PASSED if environ.get(key)}
    for key in _PROXIES:
        for spelling in (key, key.upper()):
            if environ.get(spelling) and "@" not in environ[spelling]:  # a proxy with a password in it is a key
                env[spelling] = environ[spelling]
    return env


def _search_path(environ: Mapping[str, str]) -> str:
    """The server's search path without relative entries, which would name folders of the workspace."""
    entries = [entry for entry in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
    return os.pathsep.join(entries) or FIXED_PATH


def _known() -> bool:
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return True
