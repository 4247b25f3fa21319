"""What a transaction offers: the parts of the store, for reading or for writing too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from copy import copy
from typing import Any, NamedTuple

from triplewire.store.access import AccessReader, AccessWriter
from triplewire.store.atoms import AtomReader, AtomWriter
from triplewire.store.backfills import BackfillReader, BackfillWriter
from triplewire.store.batches import BatchReader, BatchWriter, RepeatReader, RepeatWriter
from triplewire.store.crowds import CrowdReader, CrowdWriter
from triplewire.store.deliveries import DeliveryReader, DeliveryWriter
from triplewire.store.documents import DocumentReader, DocumentWriter
from triplewire.store.homes import HomeReader, HomeWriter
from triplewire.store.intake import IntakeReader, IntakeWriter
from triplewire.store.log import LogReader, LogWriter, MarkReader, MarkWriter
from triplewire.store.network import NetworkReader, NetworkWriter
from triplewire.store.queries import QueryReader, QueryWriter
from triplewire.store.registrations import RegistrationReader, RegistrationWriter
from triplewire.store.rows import RowReader, RowWriter
from triplewire.store.settings import ImageReader, ImageWriter, SettingReader, SettingWriter
from triplewire.store.sql import Sql
from triplewire.store.subscriptions import SubscriptionReader, SubscriptionWriter
from triplewire.store.surveys import SurveyReader
from triplewire.store.terms import Generations, TermReader, TermWriter
from triplewire.store.triples import TripleReader, TripleWriter

GENERATION = "generation"


class StateStamp(NamedTuple):
    """What tells states apart: the last numbers of everything that is numbered, and some settings."""

    numbers: frozenset[tuple[str, int]]
    settings: frozenset[tuple[str, str]]


class Reader:
    """One state of the store, whatever others write meanwhile.

    `generation` grows when a compaction dropped terms: numbers of terms from an older one are void, except those that
    a query names.
    """

    def __init__(self, sql: Sql, generations: Generations) -> None:
        self._sql = sql
        self.generation = sql.counter(GENERATION)
        self.access = AccessReader(sql)
        self.terms = TermReader(sql, generations.memory(self.generation))
        self.documents = DocumentReader(sql)
        self.triples = TripleReader(sql, self.documents)
        self.queries = QueryReader(sql)
        self.atoms = AtomReader(sql)
        self.subscriptions = SubscriptionReader(sql)
        self.backfills = BackfillReader(sql)
        crowds = CrowdReader(sql)
        self.rows = RowReader(sql, crowds)
        self.log = LogReader(sql, crowds)
        self.batches = BatchReader(sql)
        self.images = ImageReader(sql)
        self.repeats = RepeatReader(sql)
        self.intake = IntakeReader(sql)
        self.deliveries = DeliveryReader(sql)
        self.marks = MarkReader(sql)
        self.settings = SettingReader(sql)
        self.registrations = RegistrationReader(sql)
        self.homes = HomeReader(sql)
        self.network = NetworkReader(sql)
        self.surveys = SurveyReader(sql)

    def stamp(self, settings: Sequence[str]) -> StateStamp:
        """Equal for equal states: it differs after whatever takes a number, and when one of these settings does."""
        wanted = ", ".join("?" * len(settings))
        found = self._sql.rows(f"SELECT key, value FROM settings WHERE key IN ({wanted})", *settings)
        return StateStamp(frozenset(self._sql.counters().items()), frozenset(found))

    def seen_by(self, viewer: str | None) -> Reader:
        """The same state with the documents that a viewer may read, and no others, as if there were no others.

        Of documents, triples and surveys only: rows and events are those of queries, which have viewers of their own.
        """
        sight = self.access.sight_of(viewer)
        if sight is None:
            return self
        found: Reader = copy(self)
        found.documents = DocumentReader(self._sql, sight)
        found.triples = TripleReader(self._sql, found.documents, sight)
        found.surveys = SurveyReader(self._sql, sight)
        return found

    def uris_of(self, documents: Sequence[int]) -> dict[int, str]:
        """The uris of documents by number, whether a viewer may read them or not."""
        return {record.id: record.uri for record in DocumentReader(self._sql).by_ids(documents)}


class StateMoved(Exception):
    """What was to be read is of another state than the one that was known."""


_OF_LATE = "_reading", "_is_same", "_open"


class LateReader(Reader):
    """A state of the store that is opened when something is read of it: where all is known, nothing is."""

    def __init__(
        self, reading: Callable[[], AbstractContextManager[Reader]], is_same: Callable[[Reader], bool]
    ) -> None:
        self._reading, self._is_same = reading, is_same
        self._open: ExitStack | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in _OF_LATE:
            raise AttributeError(name)
        if self._open is None:
            self._open = ExitStack()
            reader = self._open.enter_context(self._reading())
            if not self._is_same(reader):
                raise StateMoved
            self.__dict__.update(vars(reader))
        return self.__dict__[name]

    def close(self) -> None:
        """End the transaction, if there is one."""
        if self._open is not None:
            self._open.close()


class Writer(Reader):
    """The store, for the only one that writes now; it reads what it wrote."""

    def __init__(self, sql: Sql, generations: Generations) -> None:
        self._sql = sql
        self.generation = sql.counter(GENERATION)
        self.access: AccessWriter = AccessWriter(sql)
        self.terms: TermWriter = TermWriter(sql, generations.memory(self.generation))
        self.documents: DocumentWriter = DocumentWriter(sql)
        self.triples: TripleWriter = TripleWriter(sql, self.documents)
        self.atoms: AtomWriter = AtomWriter(sql)
        crowds = CrowdWriter(sql)
        self.rows: RowWriter = RowWriter(sql, crowds, self.terms.last_known)
        self.queries: QueryWriter = QueryWriter(sql, self.atoms, self.rows)
        self.subscriptions: SubscriptionWriter = SubscriptionWriter(sql)
        self.backfills: BackfillWriter = BackfillWriter(sql)
        self.log: LogWriter = LogWriter(sql, crowds)
        self.batches: BatchWriter = BatchWriter(sql)
        self.images: ImageWriter = ImageWriter(sql)
        self.repeats: RepeatWriter = RepeatWriter(sql)
        self.intake: IntakeWriter = IntakeWriter(sql)
        self.deliveries: DeliveryWriter = DeliveryWriter(sql)
        self.marks: MarkWriter = MarkWriter(sql)
        self.settings: SettingWriter = SettingWriter(sql)
        self.registrations: RegistrationWriter = RegistrationWriter(sql)
        self.homes: HomeWriter = HomeWriter(sql)
        self.network: NetworkWriter = NetworkWriter(sql)
        self.surveys = SurveyReader(sql)

    def settle(self) -> None:
        """A batch ends, and another one may follow in the same transaction."""
        self.terms.settle()
        self.rows.settle(self.terms.last_known)
