"""What every response carries, whatever it is; and the policy of the one frame that plugins' code runs in."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders

_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'none'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
CSP = "; ".join(_POLICY)

_ALWAYS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "origin-agent-cluster": "?1",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=(), midi=()",
}


FRAME = "/half-frame"
"""The only address whose response brings a policy of its own."""

_FRAME_POLICY = (
    "sandbox allow-scripts",
    "default-src 'none'",
    "script-src 'nonce-{nonce}' 'unsafe-eval'",
    "worker-src blob:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
)


def frame_headers(nonce: str) -> dict[str, str]:
    """Return the headers of the hidden frame: an opaque origin without a network, framed by placet's page only."""
    policy = "; ".join(_FRAME_POLICY).format(nonce=nonce)
    return {
        "content-security-policy": policy,
        "x-frame-options": "SAMEORIGIN",
        "cache-control": "no-store",
        # Firefox counts an opaque origin as another one and would not load the frame; other sites are refused earlier
        "cross-origin-resource-policy": "cross-origin",
        "origin-agent-cluster": "?0",  # an opaque origin has no cluster to ask for; browsers warn of it
    }


def harden(headers: MutableHeaders, path: str) -> None:
    """Set the headers that keep other origins out; `cache-control` only where the response chose none."""
    for name, value in _ALWAYS.items():
        if path == FRAME:
            headers.setdefault(name, value)
        else:
            headers[name] = value
    headers.setdefault("cache-control", "no-store")
