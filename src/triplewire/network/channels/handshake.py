"""The handshake: both ends of a new channel prove who they are, before either listens to anything else.

    the one that dials                          the one that is dialled
    ── hello: version, name, key, nonce ──────>
                                                is the version known, does the name carry the key's fingerprint?
    <── hello: the same of its own, and proof ──
    is it the hub that was dialled, and is the proof right?
    ── proof ─────────────────────────────────>
                                                is the proof right, may this hub come in?
    <── welcome, or refused and why ───────────

A proof is a signature over both hellos, what the channel is for, and the role of the one that signs. Both nonces are in
it: nothing of an old handshake is of use in a new one, and what one end signs is of use in no other role, for no other
pair of hubs, and for no other purpose. An edge shakes hands as a hub does, with the key of its account; if this has a
token instead, the token goes with its proof: to nobody who has not proved to be the hub that was dialled. What
is signed is never chosen by the other end alone. A hub that serves TLS itself names its certificate in its hello (as
RFC 5929's tls-server-end-point does), and the one that dials compares it with the one that it sees: a machine between
the two, with a certificate of its own, is noticed. Behind a proxy that ends TLS there is none to name.

It does no IO: the ends are handed what came, and say what to send. ChannelRefused says why an end goes no further.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from triplewire.errors import ChannelRefused
from triplewire.network.channels.identities import HubIdentity, is_name_of, is_signed
from triplewire.network.link.frames import VERSION

_END = "-----END CERTIFICATE-----"
NETWORK_CHANNEL, EDGE_CHANNEL = "triplewire network channel", "triplewire edge channel"
BACKBONE_CHANNEL = "triplewire backbone channel"
"""What a channel is for."""
DIALS, IS_DIALLED = "dials", "is dialled"


@dataclass(frozen=True, slots=True)
class ChannelHello:
    """Which hub is at an end of a channel, as it says: still to be proved."""

    version: int
    name: str
    key: str
    nonce: str
    certificate: str = ""

    @classmethod
    def read(cls, told: Any) -> ChannelHello:
        """What the other end says of itself; ChannelRefused if that cannot be."""
        given = told.get("hello") if isinstance(told, dict) else None
        if not isinstance(given, dict) or "version" not in given:
            raise ChannelRefused("it did not say hello as a hub of a network does")
        if given["version"] != VERSION:
            raise ChannelRefused(
                f"it speaks version {str(given['version'])[:20]} of the protocol, and this hub version {VERSION}: "
                "update the older one"
            )
        try:
            found = cls(**given)
        except TypeError:
            raise ChannelRefused("its hello is not that of a hub of a network") from None
        if not all(
            isinstance(each, str) and len(each) <= 200
            for each in (found.name, found.key, found.nonce, found.certificate)
        ):
            raise ChannelRefused("its hello is not that of a hub of a network")
        if len(found.nonce) < 32:
            raise ChannelRefused("its nonce is too short")
        if not is_name_of(found.name, found.key):
            raise ChannelRefused(f"it says that it is {found.name!r}, which is not the name of the key that it has")
        return found


@dataclass(frozen=True, slots=True)
class ChannelGuest:
    """Who dials, proved by its key; with the account that it names, and the token of that, if it has one."""

    name: str
    key: str
    account: str = ""
    token: str = field(default="", repr=False)

    @classmethod
    def of(cls, hello: ChannelHello, told: Mapping[str, Any]) -> ChannelGuest:
        """The one that has said hello, with what it told beside its proof."""
        account, token = told.get("account", ""), told.get("token", "")
        if not isinstance(account, str) or not isinstance(token, str):
            raise ChannelRefused("its account, or its token, is no text")
        return cls(hello.name, hello.key, account, token)


class HandshakeEnd:
    """One end of a handshake.

    `certificate` is the fingerprint of the one that the server has: for the end that dials, as it sees it.
    """

    def __init__(
        self, identity: HubIdentity, nonce: str, role: str, *, certificate: str = "", purpose: str = NETWORK_CHANNEL
    ) -> None:
        self._identity, self._role, self._certificate, self._purpose = identity, role, certificate, purpose
        named = certificate if role == IS_DIALLED else ""
        self.own = ChannelHello(VERSION, identity.name, identity.public_key, nonce, named)
        self.other: ChannelHello | None = None

    @property
    def hello(self) -> dict[str, Any]:
        """What this end says first."""
        return {"hello": asdict(self.own)}

    def meet(self, told: Any, *, expected: str | None = None) -> ChannelHello:
        """Hear what the other end says of itself; ChannelRefused if it is not the hub that was `expected`."""
        other = ChannelHello.read(told)
        if other.name == self.own.name:
            raise ChannelRefused("it says that it is this hub itself")
        if expected is not None and other.name != expected:
            raise ChannelRefused(f"{expected} was expected there, and {other.name} answered")
        if self._role == DIALS and other.certificate and other.certificate != self._certificate:
            raise ChannelRefused(f"{other.name} has another certificate than the one seen here: something is between")
        self.other = other
        return other

    def proof(self) -> str:
        """The proof that this end is who it says."""
        return self._identity.sign(self._signed(self._role))

    def check(self, told: Any) -> None:
        """ChannelRefused unless the other end has proved who it is."""
        proof = told.get("proof") if isinstance(told, dict) else None
        role = DIALS if self._role == IS_DIALLED else IS_DIALLED
        assert self.other is not None, "it said hello before"
        if not isinstance(proof, str) or not is_signed(self._signed(role), proof, self.other.key):
            raise ChannelRefused(f"it says that it is {self.other.name}, and does not prove it")

    def _signed(self, role: str) -> bytes:
        assert self.other is not None, "it said hello before"
        ends = [self.own, self.other] if self._role == DIALS else [self.other, self.own]
        said = [self._purpose, role, *(asdict(end) for end in ends)]
        return json.dumps(said, sort_keys=True).encode()


def fingerprint_of(certificate: str | None) -> str:
    """The fingerprint of the certificate in a file, the first one there; nothing without a file."""
    if certificate is None:
        return ""
    text = Path(certificate).read_text(encoding="ascii", errors="ignore")
    first = text[: text.index(_END) + len(_END)] if _END in text else text
    return sha256(ssl.PEM_cert_to_DER_cert(first[first.index("-----BEGIN") :])).hexdigest()


def welcomed(told: Mapping[str, Any] | Any) -> None:
    """ChannelRefused, with the reason that the other end gives, unless it lets this one in."""
    if isinstance(told, dict) and told.get("welcome") is True:
        return
    reason = str(told.get("refused", ""))[:500] if isinstance(told, dict) else ""
    raise ChannelRefused(f"it refuses this hub: {reason or 'it does not say why'}")
