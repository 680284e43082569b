"""The two texts that are signed between the page and placet, and the check of a signature (ECDSA P-256, SHA-256)."""

from __future__ import annotations

import base64
import binascii
import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

POINT = 65  # an uncompressed P-256 point, SEC 1 section 2.3.3
SIGNATURE = 64  # r and s, 32 bytes each, IEEE P1363 as WebCrypto gives it

_ECDSA = ec.ECDSA(hashes.SHA256())


def request_text(method: str, target: str, body: bytes, instance: str, counter: int) -> bytes:
    """Return what a page signs for one request; `target` is the path with its query, as sent."""
    digest = hashlib.sha256(body).hexdigest()
    return f"placet-request-v1\n{method}\n{target}\n{digest}\n{instance}\n{counter}".encode()


def hello_text(nonce: str, instance: str) -> bytes:
    """Return what the server signs to prove itself to a page."""
    return f"placet-hello-v1\n{nonce}\n{instance}".encode()


def key_id(point: bytes) -> str:
    """Return the name of a public key."""
    return hashlib.sha256(point).hexdigest()[:32]


def public_key(point: bytes) -> ec.EllipticCurvePublicKey | None:
    """Return the key, or None when the bytes are no point of the curve."""
    try:
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError:
        return None


def sign(key: ec.EllipticCurvePrivateKey, text: bytes) -> bytes:
    """Return the raw signature r || s."""
    r, s = decode_dss_signature(key.sign(text, _ECDSA))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def signed_by(key: ec.EllipticCurvePublicKey, signature: str, text: bytes) -> bool:
    """Return whether the base64url signature is this key's over exactly this text."""
    raw = from_b64url(signature, length=SIGNATURE)
    if raw is None:
        return False
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    try:
        key.verify(encode_dss_signature(r, s), text, _ECDSA)
    except InvalidSignature:
        return False
    return True


def b64url(raw: bytes) -> str:
    """Return the bytes as base64url text without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def from_b64url(text: str, *, length: int) -> bytes | None:
    """Return the bytes of the text, or None unless it is the one spelling of exactly that many bytes."""
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return None
    return raw if len(raw) == length and b64url(raw) == text else None
