"""Addresses: where peers of a ring are found. Each peer signs its own, and passes those of others on as they are.

On a ring any peer may have to speak to any other, of which it has only heard the name. A name carries the fingerprint
of its key, so a signed address can be checked by whoever gets it, from whomever. Every peer knows all of them: there
are as many as peers, and they change when one begins.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any

from triplewire.errors import ChannelRefused, NetworkError
from triplewire.network.channels.dialling import address_of
from triplewire.network.channels.identities import HubIdentity, is_name_of, is_signed
from triplewire.network.channels.spelling import UNREADABLE, text_of

_PURPOSE = "triplewire address of a peer"
_MOST_URL = 500
_MOST = 10_000
"""So many peers are known."""


@dataclass(frozen=True, slots=True)
class PeerAddress:
    """Where a peer is found, signed by it."""

    name: str
    key: str
    url: str
    signature: str

    @classmethod
    def own(cls, identity: HubIdentity, url: str) -> PeerAddress:
        """The address of the peer with this identity."""
        return cls(identity.name, identity.public_key, url, identity.sign(_signed(identity.name, url)))

    @classmethod
    def read(cls, told: Any) -> PeerAddress:
        """An address that somebody tells; ChannelRefused if its peer has not signed it."""
        try:
            name, key, url, signature = map(text_of, told)
            address_of(url)
        except (*UNREADABLE, NetworkError):
            raise ChannelRefused("it told an address that is none") from None
        found = cls(name, key, url, signature)
        if len(url) > _MOST_URL or not is_name_of(name, key) or not is_signed(_signed(name, url), signature, key):
            raise ChannelRefused("it told an address that its peer has not signed")
        return found

    def plain(self) -> list[str]:
        """The address as JSON."""
        return [*astuple(self)]


def _signed(name: str, url: str) -> bytes:
    return json.dumps([_PURPOSE, name, url]).encode()


class AddressBook:
    """The addresses that a peer knows, its own among them."""

    def __init__(self, own: PeerAddress) -> None:
        self._known = {own.name: own}

    def learn(self, told: Any) -> list[PeerAddress]:
        """Addresses that somebody tells; gives those that are new. A peer has one for as long as it lives."""
        if not isinstance(told, list) or len(told) > _MOST:
            raise ChannelRefused("it told addresses that are none")
        news = [each for each in map(PeerAddress.read, told) if each.name not in self._known]
        if len(self._known) + len(news) > _MOST:
            raise ChannelRefused(f"it told of more than {_MOST:,} peers")
        self._known.update((each.name, each) for each in news)
        return news

    def url_of(self, name: str) -> str | None:
        """Where a peer is found; None if nobody has told."""
        found = self._known.get(name)
        return None if found is None else found.url

    def all(self) -> Iterable[PeerAddress]:
        """All of them."""
        return self._known.values()
