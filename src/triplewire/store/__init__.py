"""The memory of a hub, in SQL: documents with their versions, triples, subscriptions, rows, events.

In come records and numbers, in bulk, inside a transaction; out come the same, by keys, in bulk. The store knows which
database it speaks to (SQLite or PostgreSQL, see `databases` and `dialects`) and nothing of what a pattern means: it
never parses a document, matches a triple or decides what an event is. `schema` has the tables.

What it keeps: `documents`, `access` lists, `terms`, `triples`; `subscriptions`, their `queries`, `atoms` and `crowds`;
`rows`, the `log` of events, `batches`; the `intake`, `backfills`, `deliveries`, `settings` and images; of an edge, its
`registrations`; in a backbone, the `homes` of documents. `surveys` look around in it. A `store` gives `transactions`,
which speak `sql`; `packing` says how values are kept. `urls` name stores; `migrations`, `checking`, `compaction`,
`copying` and `leases` look after one, `files` and a `watchdog` after its files and connections.
"""

from __future__ import annotations

from triplewire.model.access import EVERYBODY
from triplewire.model.spelling import scoped, triples_of
from triplewire.store.atoms import AtomUse
from triplewire.store.backfills import UNHEARD, BackfillRecord
from triplewire.store.batches import BatchRecord, Repeat
from triplewire.store.crowds import Queries
from triplewire.store.deliveries import DeadLetter, DeliveryRecord
from triplewire.store.documents import DocumentRecord, VersionRecord
from triplewire.store.files import sync_folder
from triplewire.store.homes import HomeRecord, ReplicationRecord
from triplewire.store.intake import (
    ELSEWHERE,
    FILE,
    INTAKE,
    JOURNAL,
    READ,
    RESTRICT,
    RETRACT,
    UNREAD,
    NewEntry,
    NewRejection,
    Rejection,
    WaitingEntry,
)
from triplewire.store.leases import Lease
from triplewire.store.log import ALL_EVENTS, CHANGED, MATCHED, UNMATCHED, EventRecord, NewEvent, Only
from triplewire.store.network import OutgoingRecord
from triplewire.store.packing import Triple, digest
from triplewire.store.queries import NewQuery, QueryRecord
from triplewire.store.rows import NewRow, RowRecord
from triplewire.store.sql import is_storable
from triplewire.store.store import Store
from triplewire.store.subscriptions import HEARD_ON, Hearer, RegistryChange, Stretch, SubscriptionRecord
from triplewire.store.transactions import LateReader, Reader, StateMoved, StateStamp, Writer
from triplewire.store.triples import TripleSpan

__all__ = [
    "ALL_EVENTS",
    "CHANGED",
    "ELSEWHERE",
    "EVERYBODY",
    "FILE",
    "HEARD_ON",
    "INTAKE",
    "JOURNAL",
    "MATCHED",
    "READ",
    "RESTRICT",
    "RETRACT",
    "UNHEARD",
    "UNMATCHED",
    "UNREAD",
    "AtomUse",
    "BackfillRecord",
    "BatchRecord",
    "DeadLetter",
    "DeliveryRecord",
    "DocumentRecord",
    "EventRecord",
    "Hearer",
    "HomeRecord",
    "LateReader",
    "Lease",
    "NewEntry",
    "NewEvent",
    "NewQuery",
    "NewRejection",
    "NewRow",
    "Only",
    "OutgoingRecord",
    "Queries",
    "QueryRecord",
    "Reader",
    "RegistryChange",
    "Rejection",
    "Repeat",
    "ReplicationRecord",
    "RowRecord",
    "StateMoved",
    "StateStamp",
    "Store",
    "Stretch",
    "SubscriptionRecord",
    "Triple",
    "TripleSpan",
    "VersionRecord",
    "WaitingEntry",
    "Writer",
    "digest",
    "is_storable",
    "scoped",
    "sync_folder",
    "triples_of",
]
