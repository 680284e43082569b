"""The key by which this server proves itself to its pages: made at first start, never taken over from somebody else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from placet.session.event import Draft
from placet.session.ids import HOUSE
from placet.session.store import Refused, Store
from placet.web.errors import PlantedKey
from placet.web.security.signature import b64url, hello_text, key_id, sign

NAME = "server.key"
CODE = "server-key"


class ServerKey:
    """The private half; pages pin the public one."""

    def __init__(self, key: ec.EllipticCurvePrivateKey) -> None:
        self._key = key
        encoding, form = serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        self.point = key.public_key().public_bytes(encoding, form)

    @property
    def id(self) -> str:
        """The name of the key."""
        return key_id(self.point)

    @property
    def public(self) -> str:
        """The public half as pages pin it: the raw point, base64url."""
        return b64url(self.point)

    def proof(self, nonce: str, instance: str) -> str:
        """Return the signature that proves to the sender of the nonce that this is placet."""
        return b64url(sign(self._key, hello_text(nonce, instance)))


async def open_server_key(state: Path, store: Store) -> ServerKey:
    """Return the server's key, made with O_EXCL at the first start.

    The house log names every key that placet made, before the file exists. A file whose key it does not name was put
    there by somebody else: PlantedKey. A file that is gone is replaced, and every page has to be linked again.
    """
    path = state / NAME
    found = _read(path)
    if found is None:
        return await _make(path, store)
    if await store.lookup(HOUSE, _key_of(found)) is None:
        raise PlantedKey(f"{path} was not made by placet; remove it, and look who put it there")
    return found


async def _make(path: Path, store: Store) -> ServerKey:
    made = ServerKey(ec.generate_private_key(ec.SECP256R1()))
    data: Mapping[str, object] = {
        "level": "info",
        "code": CODE,
        "text": f"This server proves itself with the key {made.id}.",
    }
    refused = await store.append(HOUSE, [Draft("notice", dict(data), _key_of(made))])
    assert not isinstance(refused, Refused), "a new key has a name of its own"
    pem = made._key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise PlantedKey(f"{path} appeared while placet started; remove it, and look who put it there") from None
    with os.fdopen(file, "wb") as out:
        out.write(pem)
        out.flush()
        os.fsync(out.fileno())
    return made


def _read(path: Path) -> ServerKey | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PlantedKey(f"{path} cannot be read as a plain file ({error.strerror}); remove it") from error
    with os.fdopen(file, "rb") as source:
        facts = os.fstat(source.fileno())
        if facts.st_uid != os.geteuid() or facts.st_mode & 0o177:
            raise PlantedKey(f"{path} is not a file of yours alone (mode 0600); remove it, and look who put it there")
        return _parse(path, source.read(4096))


def _parse(path: Path, pem: bytes) -> ServerKey:
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except ValueError:
        raise PlantedKey(f"{path} holds no key; remove it, and look who put it there") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.curve.name != "secp256r1":
        raise PlantedKey(f"{path} holds another kind of key; remove it, and look who put it there")
    return ServerKey(key)


def _key_of(key: ServerKey) -> str:
    return f"notice:{CODE}:{key.id}"
