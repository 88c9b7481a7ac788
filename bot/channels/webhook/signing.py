"""Signatures of bodies: a receiver that has the key sees that a body is ours, whole, and not an old one again."""

import hmac
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256

TIMESTAMP = "X-Yardmaster-Timestamp"
SIGNATURE = "X-Yardmaster-Signature"


def signed(body: bytes, key: str, now: datetime) -> Mapping[str, str]:
    """Return the headers: when it was signed, in seconds since 1970, and `v1=` with 64 hex digits.

    They are the HMAC with SHA-256 of the timestamp, a dot and the body.
    """
    at = str(int(now.timestamp()))
    digest = hmac.new(key.encode(), at.encode() + b"." + body, sha256).hexdigest()
    return {TIMESTAMP: at, SIGNATURE: f"v1={digest}"}
