"""Identities: each end of a channel has a key pair, and a name that carries the fingerprint of its public key.

A hub of a network has one from its beginning, any other hub or edge when it first needs it; an edge may have that of
its account instead.

Why the fingerprint: then nobody has to be asked which key belongs to a name. A hub that claims the name of another one
must have its private key, whoever tells the list of members, and however old that list is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from triplewire.engine.names import NETWORK
from triplewire.errors import NetworkError
from triplewire.store import Reader, Store
from triplewire.wire.keys import new_private_key, public_key_of

IDENTITY = "identity"
"""The setting of a store with the identity of its hub or edge."""

_LABEL = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_LETTERS = 24
"""Hexadecimal digits of a fingerprint: 96 bits, so that nobody finds another key with the same."""


def name_of(label: str, public_key: str) -> str:
    """The name of a hub: what its operator calls it, and the fingerprint of its public key."""
    return f"{label}-{sha256(bytes.fromhex(public_key)).hexdigest()[:_LETTERS]}"


def is_name_of(name: str, public_key: str) -> bool:
    """Whether a name carries the fingerprint of a key."""
    try:
        label = name.rpartition("-")[0]
        return bool(_LABEL.fullmatch(label)) and name_of(label, public_key) == name and len(public_key) == 64
    except ValueError:
        return False


@dataclass(frozen=True)
class HubIdentity:
    """The name of a hub of a network, and its private key."""

    name: str
    pem: str = field(repr=False)

    @classmethod
    def new(cls, label: str = "hub") -> HubIdentity:
        """A new one; NetworkError for a label that is none."""
        return cls.of_key(new_private_key(), label)

    @classmethod
    def of_key(cls, pem: bytes, label: str) -> HubIdentity:
        """The one that a private key gives; ValueError if that is none of Ed25519."""
        if not _LABEL.fullmatch(label):
            raise NetworkError(
                f"{label!r} is no name for a hub of a network: use small letters, digits and -, at most 40 of them"
            )
        return cls(name_of(label, public_key_of(pem)), pem.decode())

    def called(self, label: str) -> HubIdentity:
        """The same key under another name."""
        return self.of_key(self.pem.encode(), label)

    @property
    def public_key(self) -> str:
        """The public key, in hexadecimal."""
        return public_key_of(self.pem.encode())

    def sign(self, text: bytes) -> str:
        """The signature of a text that says itself what it is for."""
        key = load_pem_private_key(self.pem.encode(), password=None)
        assert isinstance(key, Ed25519PrivateKey), "it was made here"
        return key.sign(text).hex()


def kept_identity(store: Store, label: str) -> HubIdentity:
    """The identity of a store: that of its hub in a network, or one that is made now, and kept."""
    with store.reading() as reader:
        found = read_identity(reader)
    if found is not None:
        return found
    with store.writing() as writer:
        found = read_identity(writer)  # another process may have been faster
        if found is None:
            found = HubIdentity.new(label)
            writer.settings.set(IDENTITY, {"name": found.name, "key": found.pem})
        return found


def read_identity(reader: Reader) -> HubIdentity | None:
    """The identity that a store has; None if it never needed one."""
    kept = reader.settings.get(NETWORK) or reader.settings.get(IDENTITY)
    return None if kept is None else HubIdentity(kept["name"], kept["key"])


def is_signed(text: bytes, signature: str, public_key: str) -> bool:
    """Whether the owner of a public key has signed a text."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key)).verify(bytes.fromhex(signature), text)
    except (InvalidSignature, ValueError):
        return False
    return True
