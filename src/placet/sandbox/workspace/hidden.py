"""What lies in a home directory and lets its reader act as the person: covered where the backend can."""

from __future__ import annotations

import contextlib
import os
import pwd
from collections.abc import Iterable
from pathlib import Path

_FLATPAKS = (
    "org.mozilla.firefox", "org.mozilla.Thunderbird", "com.google.Chrome", "org.chromium.Chromium", "com.brave.Browser",
    "com.microsoft.Edge", "com.vivaldi.Vivaldi", "com.opera.Opera", "io.gitlab.librewolf-community",
)  # fmt: skip
_SNAPS = ("firefox", "chromium", "brave", "opera", "thunderbird")
_PROFILES = ("google-chrome", "google-chrome-beta", "chromium", "BraveSoftware", "microsoft-edge", "vivaldi", "opera")

BY_DEFAULT = (
    *(f".config/{name}" for name in _PROFILES),
    *(".mozilla", ".librewolf", ".thunderbird"),
    *(f"snap/{name}" for name in _SNAPS),
    *(f".var/app/{name}" for name in _FLATPAKS),
    *(".local/share/keyrings", ".local/share/kwalletd", ".password-store", ".config/op"),
    *(".Xauthority", ".ICEauthority"),
    *(".ssh", ".gnupg", ".netrc", ".pgpass", ".my.cnf", ".git-credentials", ".config/git/credentials", ".config/gh"),
    *(".aws", ".azure", ".boto", ".s3cfg", ".kube", ".docker", ".config/gcloud", ".config/rclone", ".vault-token"),
    *(".terraform.d/credentials.tfrc.json", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml"),
    *(".local/share/jupyter/runtime", ".jupyter"),
)  # fmt: skip
"""Names in a home directory that are hidden from confined commands unless the configuration says otherwise."""


def homes() -> tuple[Path, ...]:
    """The home directories of this account: the one it was given, and the one it was told."""
    found = [os.environ.get("HOME", "")]
    with contextlib.suppress(KeyError):
        found.append(pwd.getpwuid(os.geteuid()).pw_dir)
    real = (Path(os.path.realpath(home)) for home in found if os.path.isabs(home))
    return tuple(dict.fromkeys(path for path in real if path != Path("/")))


def hidden(state: Path, *, names: Iterable[str] = BY_DEFAULT, shown: Iterable[Path] = ()) -> tuple[Path, ...]:
    """What exists now and is to be covered: the state directory, and each name in each home; symlinks resolved.

    `shown` are paths that the configuration leaves readable. No path in the result lies below another.
    """
    candidates = [str(state), *(os.path.join(home, name) for home in homes() for name in names)]
    leave = {os.path.realpath(path) for path in shown}
    real = {os.path.realpath(path) for path in candidates if os.path.lexists(path)}
    found = {Path(path) for path in real if path not in leave and os.path.exists(path)}
    return tuple(sorted(path for path in found if not found.intersection(path.parents)))
