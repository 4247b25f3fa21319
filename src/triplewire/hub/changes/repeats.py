"""Repeats: a request with an `Idempotency-Key` is applied once, and answered alike however often it is sent.

A client that got no answer does not know whether its request arrived, and sends it again. Keys are each account's own:
nobody can take another's, nor see it: the batch has a name that tells nothing of the key. The same key with other
content is a mistake of the client's, and is refused, because to answer it as if it were applied would lose it.

Invariant: that a request was applied is written in the transaction that applies it.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from triplewire.engine import Hub
from triplewire.engine.names import OwnName, new_name
from triplewire.errors import AccessDenied, KeyReused, StoreUnavailable
from triplewire.hub.changes.orders import Order, Receipt
from triplewire.intake.entries import Handled
from triplewire.model import Change, Event
from triplewire.store import Repeat, Writer

LASTS = 7 * 86_400
"""Seconds for which a request is remembered."""
_KEPT = ("uri", "version", "digest", "created", "changed")
"""What is kept of a receipt."""
MOST = 10_000
"""So many requests of an account are remembered, the last ones."""


def digest_of(orders: Sequence[Order]) -> bytes:
    """Tells requests apart by what they would change; not by their conditions, nor by how they want to be told."""
    whole = sha256()
    for order in orders:
        listed = None if order.access is None else [order.access.readers, order.access.writers]
        head = [order.uri, order.media_type, listed, order.restricts, None if order.data is None else len(order.data)]
        head += [] if order.reach is None else [order.reach]
        whole.update(json.dumps(head).encode() + b"\n" + (order.data or b""))
    return whole.digest()


def found(hub: Hub, account: str, key: str | None, orders: Sequence[Order]) -> Repeat | None:
    """The request that came with this key before; KeyReused if it asked for something else."""
    if key is None:
        return None
    with hub.store.reading() as reader:
        known = reader.repeats.find(account, key, _since())
    if known is not None and known.digest != digest_of(orders):
        raise KeyReused(key)
    return known


def receipts_of(repeat: Repeat) -> list[Receipt]:
    """What became of each document, as it was told."""
    return [Receipt(batch=repeat.batch, **told) for told in json.loads(zlib.decompress(repeat.answer))]


def events_of(hub: Hub, repeat: Repeat) -> list[Event]:
    """The events that it caused, as far as they are kept."""
    return list(hub.apply([], batch=OwnName(repeat.batch))) if hub.batch(repeat.batch) is not None else []


def batch_of(key: str | None) -> OwnName | None:
    """A name for the batch of a request with a key: like that of any other, because everybody sees it.

    Why not one that is made of the key: others could guess it, or take the name that another batch will have.
    """
    return None if key is None else new_name()


@dataclass(frozen=True, slots=True)
class Keeping(Handled):
    """Notes a request with the batch that applies it; `before` are the digests that its documents had.

    A document that is not in it is not there for the account, and nothing is told of it.
    """

    account: str = ""
    key: str = ""
    batch: str = ""
    orders: Sequence[Order] = ()
    before: Mapping[str, str | None] = field(default_factory=dict)

    def note(self, writer: Writer) -> None:
        """See `Handled.note`; StoreUnavailable if another service has applied the same request meanwhile."""
        if writer.repeats.find(self.account, self.key, _since()) is not None:
            raise StoreUnavailable("a request with this Idempotency-Key was applied at this moment; send it again")
        known = dict(zip(self.before, writer.documents.current(list(self.before)), strict=True))
        uris = dict.fromkeys(order.uri for order in self.orders)
        receipts = [Receipt.of(uri, self.batch, known.get(uri), self.before.get(uri)) for uri in uris]
        answer = zlib.compress(json.dumps([{name: getattr(one, name) for name in _KEPT} for one in receipts]).encode())
        kept = int(1000 * time.time())
        repeat = Repeat(self.account, self.key, digest_of(self.orders), self.batch, kept, answer)
        writer.repeats.add(repeat, since=_since(), most=MOST)

    def set_aside(self, writer: Writer, refused: Sequence[tuple[Change, AccessDenied]]) -> None:
        """Nothing: the answer tells the client that sent the feed."""


def keeping(
    account: str, key: str | None, batch: str | None, orders: Sequence[Order], before: Mapping[str, str | None]
) -> Keeping | None:
    """What a batch has to note; None for a request without a key."""
    if key is None or batch is None:
        return None
    return Keeping(account=account, key=key, batch=batch, orders=orders, before=before)


def _since() -> int:
    return int(1000 * (time.time() - LASTS))
