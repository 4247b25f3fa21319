"""Addresses: where peers of a ring are found. Each peer signs its own, and passes those of others on as they are.

On a ring any peer may have to speak to any other, of which it has only heard the name. A name carries the fingerprint
of its key, so a signed address can be checked by whoever gets it, from whomever. Every peer knows all of them: there
are as many as peers, and they change when one begins at another place. Of several of one peer, the newest counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any

from triplewire.errors import ChannelRefused, NetworkError
from triplewire.network.channels.dialling import address_of
from triplewire.network.channels.identities import HubIdentity, is_name_of, is_signed
from triplewire.network.channels.spelling import UNREADABLE, text_of, whole_of

_PURPOSE = "triplewire address of a peer"
_MOST_URL = 500
_MOST = 10_000
"""So many peers are known."""


@dataclass(frozen=True, slots=True)
class PeerAddress:
    """Where a peer is found since a time (in milliseconds), signed by it."""

    name: str
    key: str
    url: str
    since: int
    signature: str

    @classmethod
    def own(cls, identity: HubIdentity, url: str, since: int) -> PeerAddress:
        """The address of the peer with this identity."""
        signature = identity.sign(_signed(identity.name, url, since))
        return cls(identity.name, identity.public_key, url, since, signature)

    @classmethod
    def read(cls, told: Any) -> PeerAddress:
        """An address that somebody tells; ChannelRefused if its peer has not signed it."""
        try:
            name, key, url, since, signature = told
            found = cls(text_of(name), text_of(key), text_of(url), whole_of(since), text_of(signature))
            address_of(url)
        except (*UNREADABLE, NetworkError):
            raise ChannelRefused("it told an address that is none") from None
        is_own = is_name_of(name, key) and is_signed(_signed(name, url, since), signature, key)
        if len(url) > _MOST_URL or not is_own:
            raise ChannelRefused("it told an address that its peer has not signed")
        return found

    def plain(self) -> list[str | int]:
        """The address as JSON."""
        return [*astuple(self)]


def _signed(name: str, url: str, since: int) -> bytes:
    return json.dumps([_PURPOSE, name, url, since]).encode()


class AddressBook:
    """The addresses that a peer knows, its own among them."""

    def __init__(self, own: PeerAddress, others: Iterable[PeerAddress] = ()) -> None:
        self.own = own
        self._known = {each.name: each for each in (*others, own)}

    def learn(self, told: Any) -> list[PeerAddress]:
        """Addresses that somebody tells; gives those that are news."""
        if not isinstance(told, list) or len(told) > _MOST:
            raise ChannelRefused("it told addresses that are none")
        unknown = [each for each in told if not self._is_known(each)]
        news = [each for each in map(PeerAddress.read, unknown) if self._is_news(each)]
        if len(self._known | {each.name: each for each in news}) > _MOST:
            raise ChannelRefused(f"it told of more than {_MOST:,} peers")
        self._known.update((each.name, each) for each in news)
        return news

    def _is_known(self, told: Any) -> bool:
        """Whether it is one that was told before: then nothing of it has to be proved."""
        name = told[0] if isinstance(told, list) and told else None
        known = self._known.get(name) if isinstance(name, str) else None
        return known is not None and known.plain() == told

    def _is_news(self, address: PeerAddress) -> bool:
        before = self._known.get(address.name)
        return before is None or (before.since < address.since and address.name != self.own.name)

    def key_of(self, name: str) -> str | None:
        """The public key of a peer; None if nobody has told."""
        found = self._known.get(name)
        return None if found is None else found.key

    def forget(self) -> None:
        """Know none but its own."""
        self._known = {self.own.name: self.own}

    def url_of(self, name: str) -> str | None:
        """Where a peer is found; None if nobody has told."""
        found = self._known.get(name)
        return None if found is None else found.url

    def all(self) -> Iterable[PeerAddress]:
        """All of them."""
        return self._known.values()
