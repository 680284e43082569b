"""The page's types are those of the server's own document."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_pages_types_are_generated_from_todays_openapi_document() -> None:
    from placet.web.app import openapi_document

    hatch_build = pytest.importorskip("hatch_build", reason="needs the build requirements")
    node, _ = hatch_build.shipped_node()
    done = subprocess.run(
        [str(node), str(ROOT / "ui" / "scripts" / "types.mjs"), "--check"],
        input=json.dumps(openapi_document()),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
