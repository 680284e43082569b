"""Words on the command line that are no UTF-8 text are answered as calmly as others."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from placet.app.errors import Refused
from placet.cli.client import segment
from placet.cli.session import new
from tests.cli.conftest import Cli

OneLine = Callable[["subprocess.CompletedProcess[str]"], str]

NO_TEXT = os.fsdecode(b"s-\xff")


@pytest.mark.parametrize("verb", ["show", "export"])
def test_a_session_id_that_is_no_text_is_no_session(cli: Cli, workspace: Path, one_line: OneLine, verb: str) -> None:
    done = cli("run", "--cwd", str(workspace), "--model", "rehearsal", "$ true")
    assert done.returncode == 0, done.stderr
    done = cli("log", verb, NO_TEXT)
    assert done.returncode == 1
    assert "There is no session" in one_line(done)


def test_an_id_that_is_no_text_travels_as_its_bytes() -> None:
    assert segment(NO_TEXT) == "s-%FF"


def test_a_folder_whose_name_is_no_text_is_one_plain_line() -> None:
    with pytest.raises(Refused, match=r"^The name of the folder .* is not UTF-8 text\. ") as refusal:
        new(cwd=os.fsdecode(b"/tmp/\xff"), message="hello")
    assert "\n" not in refusal.value.line()
