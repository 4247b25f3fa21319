"""Capabilities: an address of a subscription's feed that is itself the permission to read it (G4).

Feed readers and subscribers of WebSub cannot send a token. So the owner of a subscription can have an address for its
feed that nobody can guess: TENANT.HANDLE.SECRET, with 256 random bits. The store keeps a hash of the secret. There is
one address for a subscription: another one takes its place, and then the old one leads nowhere. What a feed
reader subscribes to by it (WebSub) lasts as long as the address, and as the account that made it.

Invariant: an address counts for the subscription that it was made for, and for none that gets its id later.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from typing import NamedTuple
from urllib.parse import urlsplit

from triplewire.engine.connection import record_of
from triplewire.errors import UnknownFeed
from triplewire.store import Store

SECRET_FEEDS = "/v1/feeds/"
"""Where a service has the feeds that are read by such an address."""
_KEY = "hub.feed."
_SPELLED = re.compile(r"([a-z0-9][a-z0-9_-]{0,62})\.([0-9a-f]{32})\.([A-Za-z0-9_-]{43})")


class Capability(NamedTuple):
    """An address, taken apart."""

    tenant: str
    handle: str
    secret: str

    def __str__(self) -> str:
        return ".".join(self)


@dataclass(frozen=True, slots=True)
class FeedAddress:
    """There is a secret address for a feed: when it was made is all that is known of it."""

    created: str


def parsed(text: str) -> Capability:
    """The parts of an address; UnknownFeed if it is none."""
    found = _SPELLED.fullmatch(text)
    if found is None:
        raise UnknownFeed
    return Capability(*found.groups())


def in_topic(topic: str) -> Capability | None:
    """The address that a topic of WebSub is; None for one that is asked for with a token.

    >>> in_topic("https://hub.example/v1/subscriptions/maja/feed")
    """
    before, _, last = urlsplit(topic).path.rpartition("/")
    found = _SPELLED.fullmatch(last) if f"{before}/".endswith(SECRET_FEEDS) else None
    return None if found is None else Capability(*found.groups())


class FeedAddresses:
    """The addresses of the feeds in a store."""

    def __init__(self, store: Store, tenant: str) -> None:
        self._store, self._tenant = store, tenant

    def make(self, id: str, by: str | None = None) -> Capability:
        """A new address, made by an account and told this once; one that was there before leads nowhere from now on."""
        made = Capability(self._tenant, _handle(id), secrets.token_urlsafe(32))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._store.writing() as writer:
            number = record_of(writer, id).number
            kept = {"subscription": id, "number": number, "hash": _hash(made.secret), "created": now, "by": by}
            writer.settings.set(_KEY + made.handle, kept)
        return made

    def revoke(self, id: str) -> None:
        """Let the subscription have no address; UnknownFeed if it has none."""
        with self._store.writing() as writer:
            if writer.settings.get(_KEY + _handle(id)) is None:
                raise UnknownFeed
            writer.settings.remove(_KEY + _handle(id))

    def kept(self, id: str) -> FeedAddress:
        """What is known of a subscription's address; UnknownFeed if it has none."""
        with self._store.reading() as reader:
            number = record_of(reader, id).number
            found = reader.settings.get(_KEY + _handle(id))
        if found is None or found["number"] != number:
            raise UnknownFeed
        return FeedAddress(found["created"])

    def subscription(self, capability: Capability) -> tuple[str, str | None]:
        """Whose feed an address is, and which account made the address; UnknownFeed, whatever is wrong with it."""
        with self._store.reading() as reader:
            kept = reader.settings.get(_KEY + capability.handle) or {"hash": "", "subscription": "", "number": -1}
            is_right = compare_digest(_hash(capability.secret), kept["hash"])  # in any case: the time tells nothing
            (record,) = reader.subscriptions.find([kept["subscription"]])
        if not is_right or record is None or record.number != kept["number"]:
            raise UnknownFeed
        return record.id, kept.get("by")


def _handle(id: str) -> str:
    """Where the hash is found: it says nothing of the subscription to a reader who does not know its id."""
    return sha256(f"triplewire feed {id}".encode()).hexdigest()[:32]


def _hash(secret: str) -> str:
    """Of 256 random bits, for which a slow hash would add nothing."""
    return sha256(secret.encode()).hexdigest()
