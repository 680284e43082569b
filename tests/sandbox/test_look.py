"""The look inside bubblewrap, right before a command, leaves no trace in the command."""

from __future__ import annotations

import importlib
import os
import subprocess
from pathlib import Path

import pytest

from placet.kernel.scope import Scope
from placet.sandbox import Bubblewrap, Command
from placet.sandbox.backends.look import Look
from placet.sandbox.execution.environment import shell
from placet.testing.backends import FULL, WORKSPACE_WRITE, Rig

pytestmark = pytest.mark.anyio


async def test_a_script_sees_nothing_of_the_look(bubblewrap: Rig) -> None:
    said = await bubblewrap.run(
        'echo "[$?][$LINENO][${BASH_ENV-unset}][${m-unset}][$0][$#]"\n'
        "for fd in {0..99}; do [ -e /proc/$$/fd/$fd ] && echo $fd; done\n"
        'nothing-of-that-name; [ "${BASH_EXECUTION_STRING:0:6}" = "echo \\"" ]; env | grep BASH_ENV'
    )
    assert said.stdout.text.splitlines() == ["[0][1][unset][unset][bash][0]", "0", "1", "2"]
    assert said.stderr.text == "bash: line 3: nothing-of-that-name: command not found\n"
    assert (await bubblewrap.run("echo )")).stderr.text.splitlines() == (
        (await bubblewrap.run("echo )", FULL)).stderr.text.splitlines()
    )


async def test_the_shell_of_a_script_is_given_the_script_and_nothing_else(bubblewrap: Rig) -> None:
    script = "tr '\\0' '\\n' </proc/$$/cmdline"
    said = await bubblewrap.run(f"{script}\n:")
    assert said.stdout.text == f"{shell()}\n-c\n{script}\n:\nbash\n"


async def test_a_program_that_is_no_shell_comes_after_the_look_too(bubblewrap: Rig) -> None:
    profile = bubblewrap.sandbox.profile(bubblewrap.session, bubblewrap.workspace, WORKSPACE_WRITE)
    done = await bubblewrap.sandbox.run(Command(profile=profile, argv=("ls", "/proc/self/fd")))
    assert (done.exit_code, done.stdout.text.split()) == (0, ["0", "1", "2", "3"])


@pytest.mark.parametrize("argv", [(shell(), "-c", "echo ran"), ("echo", "ran")])
def test_another_directory_than_the_signed_one_starts_nothing(tmp_path: Path, argv: tuple[str, ...]) -> None:
    (tmp_path / "signed").mkdir()
    read, told = os.pipe()
    handle = os.open(tmp_path / "signed", os.O_PATH)
    for where, expected in (("signed", b"same\n"), (".", b"moved\n")):
        with Scope("look") as opened:
            keep = [handle, told]
            words, options = Look(handle, [], told).before(argv, opened, keep)
            env = {options[1]: options[2]} if options else {}
            done = subprocess.run(
                words, env={**os.environ, **env}, cwd=tmp_path / where, pass_fds=keep, capture_output=True, check=False
            )
        assert os.read(read, 100) == expected
        assert (done.returncode, done.stdout) == ((0, b"ran\n") if where == "signed" else (125, b""))
    for descriptor in (read, told, handle):
        os.close(descriptor)


def test_a_shell_that_does_not_read_the_look_is_not_used(
    tmp_path: Path, needs_bubblewrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = Path.home() / f".placet-deaf-{os.getpid()}"
    deaf.write_text('#!/bin/sh\nunset BASH_ENV\nexec bash "$@"\n')
    deaf.chmod(0o700)
    try:
        monkeypatch.setattr(importlib.import_module("placet.sandbox.backends.trial"), "shell", lambda: str(deaf))
        found = Bubblewrap(tmp_path / "state", needs_bubblewrap).probe()
    finally:
        deaf.unlink()
    assert not found.usable and "BASH_ENV" in found.why
