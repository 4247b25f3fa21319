"""Keys: Ed25519 key pairs, kept as PEM, that prove who a client is (P8)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

_SIGNED = b"triplewire challenge "


def new_private_key() -> bytes:
    """A new private key, as PEM."""
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public_key_of(pem: bytes) -> str:
    """The public key to a private one, in hexadecimal; ValueError if it is no such key."""
    return _loaded(pem).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def signature(pem: bytes, challenge: str) -> str:
    """The signature of a challenge, in hexadecimal."""
    return _loaded(pem).sign(signed_text(challenge)).hex()


def signed_text(challenge: str) -> bytes:
    """What the owner of a key signs: the challenge, with a word in front so that it is of no use elsewhere."""
    return _SIGNED + challenge.encode()


def signature_of(pem: bytes, text: bytes) -> str:
    """The signature of a text that says itself what it is for, in hexadecimal."""
    return _loaded(pem).sign(text).hex()


def move_text(
    old: str,
    new: str,
    public_key: str,
    generation: int,
    nonce: str,
    subscriptions: Sequence[str] = (),
    after: Mapping[str, int] | None = None,
) -> bytes:
    """What the owner of a key signs to move from one hub of a network to another (P7).

    It names both hubs, the key and what is to move, so that it is of no use between others; the nonce is the old
    hub's, has the time in it, and counts for one `generation`.
    """
    wanted = [sorted(subscriptions), sorted((after or {}).items())]
    return json.dumps(["triplewire move", old, new, public_key, generation, nonce, *wanted]).encode()


def _loaded(pem: bytes) -> Ed25519PrivateKey:
    key = load_pem_private_key(pem, password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("it is a key of another kind")
    return key
