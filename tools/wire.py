"""`python -m tools.wire` writes the page's types from the OpenAPI document; `--check` says if they are stale."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from hatch_build import shipped_node
from placet.web.app import openapi_document

UI = Path(__file__).resolve().parents[1] / "ui"


def main(arguments: list[str]) -> int:
    """Hand the document to the page's own generator and return its exit code."""
    node, _ = shipped_node()
    document = json.dumps(openapi_document())
    return subprocess.run(
        [str(node), "scripts/types.mjs", *arguments], cwd=UI, input=document, text=True, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
