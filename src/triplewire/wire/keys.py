"""Keys: Ed25519 key pairs, kept as PEM, that prove who a client is (P8)."""

from __future__ import annotations

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


def _loaded(pem: bytes) -> Ed25519PrivateKey:
    key = load_pem_private_key(pem, password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("it is a key of another kind")
    return key
