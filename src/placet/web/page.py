"""The built page: files that are the ones that were built, the shell for every address of the page itself."""

from __future__ import annotations

import hashlib
import json
import mimetypes
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from starlette.responses import Response

from placet.web.errors import NotFound, PageDamaged
from placet.web.security.headers import frame_headers

SHELL = "index.html"
FRAME = "half-frame.html"
NONCE = b"HALF-FRAME-NONCE"
"""What stands in the frame's file where each response puts a nonce of its own."""
LIST = "assets.json"
BUILD = "Build it with `make page`."

_KINDS = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
_KINDS |= {".woff2": "font/woff2", ".webmanifest": "application/manifest+json"}


@dataclass(frozen=True, slots=True)
class Asset:
    """One file of the page, held in memory so that nobody can change it after the check."""

    content: bytes
    kind: str
    etag: str
    lasting: bool


class Page:
    """The page's files by path; `missing` says in one line how to get a page that is not there."""

    def __init__(self, assets: dict[str, Asset], missing: str | None = None) -> None:
        self._assets = assets
        self.missing = missing

    @classmethod
    def load(cls, static: Path) -> Page:
        """Read the files that `assets.json` names and compare their hashes. Raises PageDamaged for any difference."""
        if not (static / LIST).is_file():
            return cls({}, f"The page is not built. {BUILD}")
        try:
            wanted = json.loads((static / LIST).read_bytes())["files"]
            return cls({name: _asset(static, name, digest) for name, digest in wanted.items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise PageDamaged(f"The page in {static} cannot be read ({type(error).__name__}). {BUILD}") from error

    def file(self, path: str) -> Response | None:
        """Return the file of that path, None if there is none."""
        asset = self._assets.get(path)
        return None if asset is None else _response(asset)

    def frame(self, nonce: str) -> Response:
        """Return the hidden frame for halves; only its own script carries the nonce. Raises NotFound if not built."""
        asset = self._assets.get(FRAME)
        if asset is None or NONCE not in asset.content:
            raise NotFound(self.missing or "the page has no frame for halves", code="no-page")
        content = asset.content.replace(NONCE, nonce.encode())
        return Response(content, media_type=asset.kind, headers=frame_headers(nonce))

    def shell(self) -> Response:
        """Return the empty shell that draws whatever the address names. Raises NotFound when the page is not built."""
        found = self.file(SHELL)
        if found is None:
            raise NotFound(self.missing or "the page has no shell", code="no-page")
        return found


def _asset(static: Path, name: str, digest: str) -> Asset:
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or name.startswith("/"):
        raise PageDamaged(f"The page names a file outside of itself: {name!r}. {BUILD}")
    content = (static / name).read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise PageDamaged(f"{static / name} is not the file that was built. {BUILD}")
    suffix = PurePosixPath(name).suffix
    kind = _KINDS.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Asset(content, kind, f'"{digest[:32]}"', lasting=name.startswith("assets/"))


def _response(asset: Asset) -> Response:
    # names below assets/ hold a hash of their content, so they may be kept for ever; the shell is asked for each time
    keep = "public, max-age=31536000, immutable" if asset.lasting else "no-cache"
    return Response(asset.content, media_type=asset.kind, headers={"cache-control": keep, "etag": asset.etag})
