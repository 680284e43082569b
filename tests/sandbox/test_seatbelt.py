"""The profile for macOS says in its own language what a profile says; nothing is run with it yet."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from placet.sandbox import Network, Profile, SandboxMode, Selection, Workdir
from placet.sandbox.backends.seatbelt import Seatbelt, profile_text
from placet.session.ids import SessionId


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    (tmp_path / 'ws "x"' / ".git").mkdir(parents=True)
    return Profile(
        mode=SandboxMode.WORKSPACE_WRITE,
        session=SessionId("s-1"),
        workspace=Workdir.of(tmp_path / 'ws "x"'),
        temp=tmp_path / "temp",
        hidden=(Path("/home/a/.ssh"),),
        protected=(tmp_path / "ws" / "own",),
    )


def test_only_the_roots_are_writable_and_what_is_kept_in_them_is_not(profile: Profile) -> None:
    rules = profile_text(profile).splitlines()
    root = str(profile.workspace.path).replace('"', '\\"')
    order = [
        "(deny file-write*)",
        f'(allow file-write* (subpath "{root}"))',
        f'(deny file-write* (subpath "{root}/.git/hooks"))',
        '(deny file-read* file-write* (subpath "/home/a/.ssh"))',
    ]
    assert [rules.index(rule) for rule in order] == sorted(rules.index(rule) for rule in order)
    assert f'(deny file-write* (subpath "{profile.protected[0]}"))' in rules
    assert f'(allow file-write* (subpath "{profile.temp}"))' in rules
    assert rules[:2] == ["(version 1)", "(allow default)"]
    assert all(rule.count("(") == rule.count(")") for rule in rules)


def test_read_only_leaves_the_temp_directory_alone_writable(profile: Profile) -> None:
    text = profile_text(replace(profile, mode=SandboxMode.READ_ONLY))
    assert [line for line in text.splitlines() if line.startswith("(allow file-write*")] == [
        f'(allow file-write* (subpath "{profile.temp}"))'
    ]


def test_sockets_and_network_follow_the_settings(profile: Profile) -> None:
    assert "(deny network* (remote unix-socket))" in profile_text(profile)
    assert "(deny network*)\n" not in profile_text(profile)
    assert "(deny network*)\n" in profile_text(replace(profile, network=Network.NONE))
    assert "unix-socket" not in profile_text(replace(profile, unix_sockets=True))


def test_it_is_listed_as_untested_and_never_chosen() -> None:
    report = Selection([Seatbelt()], {}).report()
    (row,) = report["backends"]
    assert (report["chosen"], row["usable"], row["enforcement"]) == (None, False, "untested")
    assert row["why"] == ("it is a part of macOS" if sys.platform != "darwin" else row["why"])
