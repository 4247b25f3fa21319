"""The memory of a live peer: its store, in which it finds its key, its place, and all that it has promised again.

A store is a hub's, or a peer's of a ring that works by certain settings, and stays so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from triplewire.engine.names import NETWORK
from triplewire.errors import NetworkError
from triplewire.network.channels.identities import HubIdentity, kept_identity
from triplewire.network.live.ring.addresses import PeerAddress
from triplewire.network.live.ring.records import PeerRecords
from triplewire.network.live.ring.states import PeerBook, PeerChanges, digest
from triplewire.network.ring import RingPeer, RingSettings
from triplewire.store import Lease, Reader, Store

RING = "ring"
"""The setting of a store that is a peer's: what all peers of its ring agree on."""
_RUNNING = "ring peer"


@dataclass(frozen=True, slots=True)
class PeerSubscription:
    """A subscription as its subscriber wrote it, for lists and for who asks what it was."""

    id: str
    text: str
    language: str
    owner: str | None
    title: str | None
    description: str | None
    created: float


def agreed(settings: RingSettings) -> list[Any]:
    """What all peers of a ring must have in common."""
    return [settings.algorithm, settings.scope, settings.replicas, settings.is_wide]


def is_peer(reader: Reader) -> bool:
    """Whether a store is a peer's of a ring."""
    return reader.settings.get(RING) is not None


class PeerMemory:
    """The store of one peer, for one process at a time; NetworkError if it is a hub's, or another process has it."""

    def __init__(self, store: Store, settings: RingSettings, *, label: str = "peer") -> None:
        self.store, self.settings = store, settings
        self._lease: Lease = store.lease(_RUNNING)
        if not self._lease.hold():
            raise NetworkError("another process runs the peer of this store; stop it first, or name another store")
        try:
            self._claim()
            self.identity: HubIdentity = kept_identity(store, label)
        except BaseException:
            self._lease.release()
            raise

    def _claim(self) -> None:
        with self.store.writing() as writer:
            known = writer.settings.get(RING)
            if known is None:
                _refuse_hub(writer)
                writer.settings.set(RING, agreed(self.settings))
            elif known != agreed(self.settings):
                raise NetworkError(
                    f"the peer of this store is of a ring that works by {known}, and not by {agreed(self.settings)}: "
                    "say --algorithm, --scope and --replicas as then, or name another store"
                )

    def close(self) -> None:
        """Let another process have it."""
        self._lease.release()

    # -- reading

    def peer(self) -> tuple[RingPeer, PeerBook]:
        """The peer as it was when it was last written, and the book of what is written of it."""
        with self.store.reading() as reader:
            state, messages = PeerRecords(reader.network).read(self.identity.name, self.settings)
        peer = RingPeer(state, self.settings, lambda amount: None)
        return peer, PeerBook(peer, messages)

    def addresses(self) -> list[PeerAddress]:
        """The addresses of other peers, as they were told."""
        with self.store.reading() as reader:
            return [PeerAddress(*json.loads(text)) for _, text in reader.network.state_in("address")]

    def registrations(self) -> dict[str, PeerSubscription]:
        """The subscriptions as they were written, by id."""
        with self.store.reading() as reader:
            found = [PeerSubscription(**json.loads(text)) for _, text in reader.network.state_in("registration")]
        return {each.id: each for each in found}

    def events(self, id: str, after: int, limit: int) -> list[dict[str, Any]]:
        """What a subscription was told after a cursor, ready for JSON."""
        name = digest(id)
        with self.store.reading() as reader:
            rows = reader.network.state_from("event", f"{name} {after:015}", f"{name}!", limit)
        return [json.loads(text) for _, text in rows]

    # -- writing

    def write(self, changes: PeerChanges) -> None:
        """Make a step durable, or several."""
        with self.store.writing() as writer:
            changes.write(writer.network)

    def forget_ring(self) -> None:
        """The peer has left: what it knew of the ring and kept for it is gone. It stays who it is, and counts on."""
        with self.store.writing() as writer:
            for part in ("key", "kept", "cause", "address", "content"):
                writer.network.clear_state(part, "", "\U0010ffff")
            writer.network.set_state({("peer", "view"): None})


def put_addresses(changes: PeerChanges, addresses: Iterable[PeerAddress]) -> None:
    """Addresses of peers are new."""
    for each in addresses:
        changes.put("address", each.name, each.plain())


def put_registration(changes: PeerChanges, id: str, known: PeerSubscription | None) -> None:
    """A subscription was registered, or has ended."""
    if known is None:
        changes.drop("registration", digest(id))
    else:
        changes.put("registration", digest(id), asdict(known))


def _refuse_hub(reader: Reader) -> None:
    is_used = reader.settings.get(NETWORK) is not None or reader.surveys.documents(1) or reader.surveys.subscriptions(1)
    if is_used:
        raise NetworkError("this store is a hub's, with documents or subscriptions: name another one for the peer")
