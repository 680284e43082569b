"""How this very program is called from where somebody stands; every hint that names a verb of it says it this way."""

import os
import shlex
import shutil
import sys
from pathlib import Path

NAME = "placet"
_FURTHEST_UP = 1


def program(*, anywhere: bool = False) -> str:
    """The words before the verb: `placet` where the search path leads to us, else a path that a shell takes.

    The path is relative to the current directory if it lies close; with `anywhere` it is always absolute, for a text
    that is read elsewhere.
    """
    own = Path(sys.prefix) / "bin" / NAME
    if not own.exists():
        return f"{_path(Path(sys.executable), anywhere=anywhere)} -m {NAME}"
    found = shutil.which(NAME)
    if found is not None and os.path.isabs(found) and os.path.realpath(found) == os.path.realpath(own):
        return NAME
    return _path(own, anywhere=anywhere)


def _path(file: Path, *, anywhere: bool) -> str:
    try:
        near = os.path.relpath(file)
    except OSError:  # the current directory is gone
        anywhere, near = True, ""
    far = anywhere or near.split(os.sep).count(os.pardir) > _FURTHEST_UP
    return shlex.quote(str(file) if far else near if os.sep in near else f".{os.sep}{near}")
