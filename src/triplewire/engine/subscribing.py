"""Subscribing: a text becomes a query that stands, and what answers it already is told first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import uuid4

from triplewire.algebra.lint import parts_of
from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Conjunction, Pattern
from triplewire.algebra.wording import word_triple
from triplewire.engine import taxonomies
from triplewire.engine.differences import document_rows, spelled
from triplewire.engine.lookups import StoreLookups
from triplewire.engine.neighbourhoods import Neighbourhoods, Rows
from triplewire.engine.reasons import Touched
from triplewire.engine.standing import GRAPH, Standing
from triplewire.errors import MatchLimitExceeded, SubscriptionError, UnsupportedQuery
from triplewire.languages import compile
from triplewire.matching import Index
from triplewire.matching.incremental import atoms_of, dump_pattern, load_pattern, shape_of, solve, unanchored
from triplewire.model import Subscription
from triplewire.store import MATCHED, AtomUse, NewEvent, NewRow, QueryRecord, Reader, SubscriptionRecord, Writer

_NAME = re.compile(r"[^\W\d][\w.-]*")


def compiled(reader: Reader, text: str | Pattern, language: str, prefixes: Mapping[str, str] | None) -> Pattern:
    """The pattern of a text; a rule may name a subscription in the language of rules as its extension (M3)."""
    if isinstance(text, Pattern):
        return normalize(text)
    if language != "rules":
        return compile(text, language=language, prefixes=prefixes)
    names = list(dict.fromkeys(_NAME.findall(text)))
    known = [record for record in reader.subscriptions.find(names) if record is not None and record.language == "rules"]
    queries = reader.queries.by_ids([record.query for record in known])
    rules = {
        record.id: load_pattern(query.pattern)
        for record, query in zip(known, queries, strict=True)
        if query is not None
    }
    return compile(text, language=language, prefixes=prefixes, named=rules)


def refuse_unserved(pattern: Pattern, scope: str, language: str) -> None:
    """UnsupportedQuery for what could only be answered by combining everything with everything."""
    if scope != GRAPH:
        return
    for branch in pattern.branches:
        parts = parts_of(branch)
        if len(parts) > 1:
            named = " / ".join(f"`{word_triple(part[0])}`" for part in parts)
            reason = (
                f"its parts share no variable ({named}), so it would combine every match of one with all of the other"
            )
            hint = 'Join them with a variable, subscribe to each alone, or use scope="document".'
            raise UnsupportedQuery(reason, language=language, hint=hint)
        loose = unanchored(branch)
        if loose:
            reason = f"the optional part with `{word_triple(loose[0].triples[0])}` hangs from no required variable"
            raise UnsupportedQuery(
                reason, language=language, hint="Put it inside the optional part that it hangs from."
            )


def register(writer: Writer, wanted: Subscription, pattern: Pattern) -> tuple[SubscriptionRecord, bool]:
    """Write a subscription, and its query if no other one has it: then it is new, which is told."""
    start = writer.batches.last() if wanted.start == "now" else 0
    text = dump_pattern(pattern)
    known = writer.queries.find(wanted.scope, start, text)
    query = known or _new_query(writer, wanted.scope, start, text, pattern)
    record = writer.subscriptions.add(
        wanted.id,
        query=query.id,
        text=wanted.text,
        language=wanted.language,
        owner=wanted.owner,
        columns=pattern.answer,
        first_cursor=writer.log.last_cursor(),
        created=writer.batches.last(),
        start=wanted.start,
    )
    return record, known is None


def _new_query(writer: Writer, scope: str, start: int, text: str, pattern: Pattern) -> QueryRecord:
    constants = sorted({str(term) for branch in pattern.branches for term in _constants(branch)})
    query = writer.queries.add(scope, start, text, writer.terms.ids(constants))
    taxonomies.note_places(writer, pattern)
    if scope == GRAPH:
        uses = []
        for number, branch in enumerate(pattern.branches):
            (shape,) = writer.atoms.shape_ids([shape_of(branch).shape.encode()])
            uses += [AtomUse(number, shape, atom.position, dump_pattern(atom.pattern)) for atom in atoms_of(branch)]
        writer.atoms.attach(query.id, uses)
    return query


def _constants(branch: Conjunction) -> list[object]:
    """All that may stand in a row or in a key: constants of triples, and fixed bindings."""
    triples = [*branch.triples, *(triple for part in branch.optionals for triple in part.triples)]
    return [
        *(node for triple in triples for node in triple if not str(node).startswith("?")),
        *(term for _, term in branch.bindings),
    ]


def unregister(writer: Writer, id: str) -> SubscriptionRecord:
    """Take a subscription out, and its query if nobody else has it."""
    record = writer.subscriptions.remove(id)
    (others,) = writer.subscriptions.of_queries([record.query])
    if not others:
        writer.queries.remove(record.query)
    return record


# -- what answers it already


def answers_now(
    reader: Reader, standing: Standing, pattern: Pattern, scope: str, start: int, query: int = 0
) -> dict[int, Rows]:
    """The rows of a pattern in the current metadata, by document (0 for the graph); MatchLimitExceeded if too many."""
    index = Index(standing.taxonomy)
    index.add(str(query), pattern)
    gathered = solve([(branch, {}) for branch in pattern.branches], StoreLookups(reader, start))
    if gathered.refused:
        raise MatchLimitExceeded(next(iter(gathered.refused.values())), subscription=str(query))
    errors: dict[int, SubscriptionError] = {}
    if scope == GRAPH:
        rows = {0: Neighbourhoods(reader, standing, errors).rows_in(gathered.triples, index)}
    else:
        rows = _document_rows(reader, index, gathered.triples, start, errors)
    for error in errors.values():
        raise error
    return rows


def _document_rows(
    reader: Reader, index: Index, triples: set[tuple[int, int, int]], start: int, errors: dict[int, SubscriptionError]
) -> dict[int, Rows]:
    """Only a document that states some of the triples can give a row."""
    ids = sorted({id for stating in reader.triples.stated_by(list(triples)) for id in stating})
    found: dict[int, Rows] = {}
    for first in range(0, len(ids), 1000):
        records = [r for r in reader.documents.by_ids(ids[first : first + 1000]) if r.published > start]
        contents = reader.documents.contents([(record.id, record.version) for record in records])
        documents = {
            record.id: spelled(record.id, record.uri, content or b"")
            for record, content in zip(records, contents, strict=True)
        }
        found |= document_rows(index, documents, reader, errors)
    return found


def tell_existing(
    writer: Writer, standing: Standing, record: SubscriptionRecord, pattern: Pattern, scope: str, is_new: bool
) -> int:
    """Put what answers already on record, and tell this one subscriber; gives the number of the batch.

    The events belong to the subscription alone: others with the same query have heard of these rows.
    """
    found = answers_now(writer, standing, pattern, scope, 0, record.query)
    if is_new:
        terms = list({term for rows in found.values() for _, row in rows for term in row if term})
        texts = writer.terms.texts(terms)
        resources = {term for term, text in zip(terms, texts, strict=True) if not text.startswith('"')}
        writer.rows.insert(
            [
                NewRow(query, document, row, tuple(dict.fromkeys(term for term in row if term in resources)))
                for document, rows in found.items()
                for query, row in rows
            ]
        )
    distinct: Rows = {}
    for rows in found.values():
        for key, derivation in rows.items():
            distinct.setdefault(key, derivation)
    behind = Touched(writer, (), ()).documents_behind(distinct)
    events = [NewEvent(-record.number, MATCHED, key[1], why, behind[key]) for key, why in distinct.items()]
    number = writer.batches.next()
    writer.log.append(number, events)
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    writer.batches.add(f"subscribe-{uuid4()}", committed=now, documents=0, events=len(events))
    return number
