"""Signatures of webhooks: of those that go out, and of pushes that come in."""

from __future__ import annotations

import hashlib
import hmac
import re

SIGNATURE = "Ordito-Signature"
DELIVERY = "Ordito-Delivery"
TOLERANCE = 300.0
"""Seconds by which the time of a signature may differ from ours."""

_SIGNED = re.compile(r"t=(\d{1,12}),v1=([0-9a-f]{64})")


def signature(secret: bytes, body: bytes, now: float) -> str:
    """The value of ``Ordito-Signature`` for a body: ``t=TIME,v1=HMAC-SHA256(secret, TIME.BODY)``."""
    return f"t={int(now)},v1={_mac(secret, b'%d.%b' % (int(now), body))}"


def is_signed(secret: bytes, body: bytes, given: str, now: float) -> bool:
    """Whether ``Ordito-Signature`` is that of a body, and of these minutes."""
    found = _SIGNED.fullmatch(given)
    if found is None or abs(now - int(found[1])) > TOLERANCE:
        return False
    return hmac.compare_digest(_mac(secret, found[1].encode() + b"." + body), found[2])


def is_mac(secret: bytes, body: bytes, given: str) -> bool:
    """Whether a text is the HMAC-SHA256 of a body, in hex."""
    return hmac.compare_digest(_mac(secret, body).encode(), given.encode())


def _mac(secret: bytes, body: bytes) -> str:
    return hmac.new(secret, body, hashlib.sha256).hexdigest()
