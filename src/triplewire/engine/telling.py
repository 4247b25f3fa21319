"""Telling: from the numbers of the log to events and rows that people read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pyoxigraph import Triple

from triplewire.algebra.content import contents
from triplewire.algebra.xpath.evaluate import tree_of
from triplewire.algebra.xpath.places import ROOT_PLACE, Places
from triplewire.engine.inspect.graphs import row_of, terms_of
from triplewire.errors import BadRequest
from triplewire.model import EVENTS, Behind, Event, Excerpt, Row, Term, moment, parse_triple
from triplewire.model.event import DOCUMENT, NODE
from triplewire.model.foreign import uri_at_origin
from triplewire.store import CHANGED, MATCHED, UNMATCHED, BatchRecord, EventRecord, Hearer, Reader, Store, triples_of
from triplewire.tables import RowPage

_KINDS = {MATCHED: EVENTS["matched"], CHANGED: EVENTS["changed"], UNMATCHED: EVENTS["unmatched"]}

Versions = tuple[tuple[int, int], ...]
"""Documents by number, each with a version."""


class Teller:
    """Makes events of records; terms and documents are looked up for all of them together.

    Versions of documents are read of the store when an event's content is asked for.
    """

    def __init__(self, reader: Reader, strong: frozenset[str], store: Store) -> None:
        self._reader, self._strong, self._store = reader, strong, store

    def events(self, told: Sequence[tuple[EventRecord, Hearer]]) -> list[Event]:
        """The events, each for the subscription that hears it."""
        records = [record for record, _ in told]
        terms = terms_of(self._reader, (number for record in records for number in record.terms))
        texts = self._texts(number for record in records for triple in record.triples for number in triple)
        documents = {document for record in records for document, _, _ in record.documents}
        uris = {record.id: record.uri for record in self._reader.documents.by_ids(list(documents))}
        batches = self._reader.batches.by_numbers({record.batch for record in records})
        return [self._event(record, hearer, terms, texts, uris, batches) for record, hearer in told]

    def rows(self, columns: Sequence[str], rows: Sequence[tuple[int, ...]]) -> list[Row]:
        """Rows by the names of their columns; one without a value is left out."""
        terms = terms_of(self._reader, (number for row in rows for number in row))
        return [row_of(columns, row, terms) for row in rows]

    def row_page(self, query: int, columns: Sequence[str], after: str, limit: int) -> RowPage:
        """The rows of a query that follow a cursor, "" being the beginning, so that an answer need not be held whole.

        Pages are in the order of what rows hold (of its digest), not of when they came: a row has the same place
        whatever else comes and goes. Invariant: who follows `next` to the end gets every row that was an answer all the
        time, and no row twice; of one that came or went meanwhile, nothing is promised.
        """
        try:
            key = bytes.fromhex(after)
        except ValueError:
            raise BadRequest(f"{after!r} is no cursor of rows; send the `next` of a page, or nothing") from None
        found = self._reader.rows.page(query, key, limit)
        rows = self.rows(columns, [terms for _, terms in found])
        return RowPage(rows, found[-1][0].hex() if len(found) == limit else None)

    def values(self, numbers: Iterable[int]) -> dict[int, str]:
        """What people see of terms: the text of a literal, the address of a resource."""
        return {number: getattr(term, "value", str(term)) for number, term in terms_of(self._reader, numbers).items()}

    def _texts(self, numbers: Iterable[int]) -> dict[int, str]:
        wanted = list({number for number in numbers if number})
        return dict(zip(wanted, self._reader.terms.texts(wanted), strict=True))

    def _event(
        self,
        record: EventRecord,
        hearer: Hearer,
        terms: Mapping[int, Term],
        texts: Mapping[int, str],
        uris: Mapping[int, str],
        batches: Mapping[int, BatchRecord],
    ) -> Event:
        row, batch = row_of(hearer.columns, record.terms, terms), batches[record.batch]
        behind = tuple(
            Behind(uri_at_origin(uris[id]), before or None, after or None) for id, before, after in record.documents
        )
        old = tuple((id, before) for id, before, _ in record.documents if before)
        new = tuple((id, after) for id, _, after in record.documents if after)
        state = self._state_of(row) if record.triples or DOCUMENT not in row else self._state_of_xml(row)
        return _KINDS[record.kind](
            hearer.id,
            row,
            batch.id,
            record.cursor,
            moment(batch.committed),
            lambda: tuple([parse_triple(texts[s], texts[p], texts[o]) for s, p, o in record.triples]),
            behind,
            lambda: state(old),
            lambda: state(new),
        )

    def _state_of_xml(self, row: Row) -> Callable[[Versions], Excerpt | None]:
        """Only rows of XPath have no triples behind them; they name the one document that they are from."""
        store, place = self._store, row[NODE].value if NODE in row else ROOT_PLACE

        def state(versions: Versions) -> Excerpt | None:
            """What these versions have where the row's node is."""
            with store.reading() as reader:
                read = [xml for xml in reader.documents.xml(versions) if xml]
            return Places(tree_of(read[0])).excerpt(place) if read else None

        return state

    def _state_of(self, row: Row) -> Callable[[Versions], tuple[Triple, ...] | None]:
        store, strong = self._store, self._strong

        def state(versions: Versions) -> tuple[Triple, ...] | None:
            """What these versions say about the row's resources."""
            with store.reading() as reader:
                read = zip(versions, reader.documents.contents(versions), strict=True)
            stated = dict.fromkeys(triple for (id, _), content in read for triple in triples_of(id, content or b""))
            if not stated:
                return None
            by_subject: dict[object, list[Triple]] = {}
            for spelled in stated:
                triple = parse_triple(*spelled)
                by_subject.setdefault(triple.subject, []).append(triple)
            return contents(row.values(), lambda nodes: [t for n in nodes for t in by_subject.get(n, ())], strong)

        return state
