"""Signing: web hooks as Standard Webhooks 1.0 has it, WebSub as the W3C has it."""

from __future__ import annotations

import binascii
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

_PREFIX = "whsec_"
_SHORTEST, _LONGEST = 24, 64


def new_secret() -> str:
    """A secret for web hooks."""
    return _PREFIX + b64encode(secrets.token_bytes(32)).decode()


def key_of(secret: str) -> bytes:
    """The key that a secret spells; ValueError if it is none.

    >>> len(key_of(new_secret()))
    32
    """
    if not secret.startswith(_PREFIX):
        raise ValueError(f"a secret begins with {_PREFIX}")
    try:
        key = b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        raise ValueError(f"after {_PREFIX} a secret is base64") from None
    if not _SHORTEST <= len(key) <= _LONGEST:
        raise ValueError(f"a secret has between {_SHORTEST} and {_LONGEST} bytes, and this has {len(key)}")
    return key


def webhook_headers(id: str, body: bytes, known: Sequence[Mapping[str, Any]], now: float) -> dict[str, str]:
    """The headers that prove a message: a signature for each secret that counts now.

    The time is that of this attempt: a receiver that refuses old messages refuses a copy that an attacker kept, and not
    one that was tried again.
    """
    at = str(int(now))
    signed = f"{id}.{at}.".encode() + body
    keys = [key_of(each["secret"]) for each in known if each.get("until") is None or each["until"] > now * 1000]
    signatures = [b64encode(hmac.digest(key, signed, sha256)).decode() for key in keys]
    return {
        "webhook-id": id,
        "webhook-timestamp": at,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def hub_signature(secret: str, body: bytes) -> str:
    """The value of X-Hub-Signature (WebSub, section 7.1)."""
    return f"sha256={hmac.digest(secret.encode(), body, sha256).hex()}"
