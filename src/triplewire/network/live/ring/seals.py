"""Seals: each parcel is signed by the peer that sends it, so that none of those that pass it on can say another thing.

    parcels    {"parcels": [[[text, signature, is_final, hops], …], load]}
    receipts   {"receipts": [[[number, touched], …], load]}

`text` is [sender, number, place, key, body, peer] in JSON, as the sender spelled it; it travels as it is. A frame
comes over a channel whose end has proved who it is: receipts are that peer's own, and so is what is for one peer alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from triplewire.errors import ChannelRefused
from triplewire.network.channels.identities import HubIdentity
from triplewire.network.channels.spelling import UNREADABLE, Json, text_of
from triplewire.network.ring.messages import FindSuccessor
from triplewire.network.ring.notation import each_in, moment_in
from triplewire.network.ring.post import Parcel, Parcels, RingFrame
from triplewire.network.ring.spelling import parcel_in, read_ring_frame, spelled_parcel, spelled_ring_frame

_PURPOSE = "triplewire parcel of a ring\n"


class Sealer:
    """Seals the parcels of one peer."""

    def __init__(self, identity: HubIdentity) -> None:
        key = load_pem_private_key(identity.pem.encode(), password=None)
        assert isinstance(key, Ed25519PrivateKey), "it was made here"
        self._key = key

    def spelled(self, frame: RingFrame) -> Json:
        """A frame as JSON; what is this peer's own is signed, what is others' was."""
        if not isinstance(frame, Parcels):
            return spelled_ring_frame(frame)
        return {"parcels": [[self._sealed(each) for each in frame.parcels], frame.load]}

    def _sealed(self, parcel: Parcel) -> Json:
        text, signature = parcel.seal or self._seal(parcel)
        return [text, signature, parcel.is_final, parcel.hops]

    def _seal(self, parcel: Parcel) -> tuple[str, str]:
        text = json.dumps(spelled_parcel(parcel)[:6], separators=(",", ":"))
        return text, self._key.sign(_signed(text)).hex()


def _signed(text: str) -> bytes:
    return (_PURPOSE + text).encode()


def read_sealed(told: Json, channel: str, to: str, key_of: Callable[[str], str | None]) -> RingFrame | None:
    """The frame that came over a peer's channel to another one; ChannelRefused if it is none, or not signed as it says.

    Parcels of peers whose keys are not known yet are left out: they will be sent again. None: nothing is left.
    """
    if not isinstance(told, dict) or "parcels" not in told:
        return read_ring_frame(told)
    try:
        ((_, (several, load)),) = told.items()
        parcels = [each for each in each_in(lambda one: _parcel(one, key_of), several) if each is not None]
        kinds = {parcel.body.kind for parcel in parcels}
        if len(kinds) > 1:
            raise ValueError("what goes together is of one kind")
        work = moment_in(load)
    except UNREADABLE as error:
        if isinstance(error, ChannelRefused):
            raise
        reason = f"{type(error).__name__}: {error}"[:200]
        raise ChannelRefused(f"it sent what is no frame of a ring: {reason}") from None
    for parcel in parcels:
        _refuse_others(parcel, channel, to)
    return Parcels(kinds.pop(), tuple(parcels), work) if parcels else None


def _parcel(told: Json, key_of: Callable[[str], str | None]) -> Parcel | None:
    text, signature, is_final, hops = told
    parcel = parcel_in([*json.loads(text_of(text)), is_final, hops])
    key = key_of(parcel.sender)
    if key is None:
        return None
    if not _is_signed(text, text_of(signature), key):
        raise ChannelRefused(f"it sent a parcel of {parcel.sender} that this has not signed")
    return parcel._replace(seal=(text, signature))


def _is_signed(text: str, signature: str, key: str) -> bool:
    try:
        _public(key).verify(bytes.fromhex(signature), _signed(text))
    except (InvalidSignature, ValueError):
        return False
    return True


@lru_cache(maxsize=10_000)
def _public(key: str) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))


def _refuse_others(parcel: Parcel, channel: str, to: str) -> None:
    """ChannelRefused for what only another peer could send, or get."""
    if parcel.peer is not None and (parcel.sender, parcel.peer) != (channel, to):
        raise ChannelRefused(f"it passed on what {parcel.sender} has for {parcel.peer} alone")
    if isinstance(parcel.body, FindSuccessor) and parcel.body.asker != parcel.sender:
        raise ChannelRefused(f"it sent what {parcel.sender} asks for another peer")
