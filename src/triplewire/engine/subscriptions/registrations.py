"""Registrations: a text becomes a query that stands; what answers it already is told first (`backfill.answers`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from pyoxigraph import Variable

from triplewire.algebra.canonical import prepared
from triplewire.algebra.lint import parts_of
from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Conjunction, Pattern
from triplewire.algebra.wording import readable, word_triple
from triplewire.engine import taxonomies
from triplewire.engine.backfill.answers import Untold, tell_existing
from triplewire.engine.names import absence_setting, now, refuse_unstorable
from triplewire.engine.standing import GRAPH, NewQueries, Standing, StandingQuery, seed_id
from triplewire.errors import TriplewireError, UnsupportedQuery
from triplewire.languages import read
from triplewire.matching.incremental import Shape, atoms_of, dump_pattern, load_pattern, shape_of, unanchored
from triplewire.model import Subscription
from triplewire.store import UNHEARD, AtomUse, BackfillRecord, NewQuery, Reader, SubscriptionRecord, Writer
from triplewire.store.backfills import QUEUED

RULES = "rules"
_MANY = 10_000
"""How many subscriptions are told together what answers them already."""

_NAME = re.compile(r"[^\W\d][\w.-]*")


def compiled(
    reader: Reader,
    text: str | Pattern,
    language: str,
    prefixes: Mapping[str, str] | None,
    *,
    besides: str | None = None,
    space: str = "",
) -> Pattern:
    """The pattern of a text; a rule may name a subscription in the language of rules as its extension (M3).

    But not the one `besides`: a rule that is edited does not mean what it meant before. In a `space`, subscriptions
    whose ids begin with it are named without it, before others.
    """
    if isinstance(text, Pattern):
        return normalize(text)
    rules = {name: rule for name, rule in _rules_of(reader, text, language).items() if name != besides}
    if space and language == RULES:
        rules |= named_rules(reader, [text], space)
    return prepared(_read(text, language, prefixes, rules))


def as_written(reader: Reader, text: str, language: str, pattern: Pattern) -> Pattern:
    """The pattern of a subscription with the names of variables that its text has.

    The prefixes that it was subscribed with are not kept. Where the text does not give the pattern without them, the
    variables have names by their use instead (`readable`).
    """
    try:
        written = _read(text, language, None, _rules_of(reader, text, language))
    except TriplewireError:
        return readable(pattern)
    return readable(written if normalize(written) == pattern else pattern)


def read_for_person(
    reader: Reader, text: str, language: str, prefixes: Mapping[str, str] | None
) -> tuple[Pattern, Pattern]:
    """The pattern of a text that a person is writing: in normal form, and with the names that the text has."""
    written = _read(text, language, prefixes, _rules_of(reader, text, language))
    return normalize(written), readable(written)


def _rules_of(reader: Reader, text: str, language: str) -> dict[str, Pattern]:
    return named_rules(reader, [text]) if language == RULES else {}


def _read(text: str, language: str, prefixes: Mapping[str, str] | None, rules: Mapping[str, Pattern]) -> Pattern:
    if language != RULES:
        return read(text, language=language, prefixes=prefixes)
    named = {name: rules[name] for name in _names_in(text) if name in rules}
    return read(text, language=language, prefixes=prefixes, named=named)


def named_rules(reader: Reader, texts: Iterable[str], space: str = "") -> dict[str, Pattern]:
    """The patterns of the registered rules that these texts name, perhaps in a space of names."""
    names = list(dict.fromkeys(name for text in texts for name in _names_in(text)))
    found = reader.subscriptions.find([space + name for name in names])
    known = [record for record in found if record is not None and record.language == RULES]
    queries = reader.queries.by_ids([record.query for record in known])
    return {
        record.id.removeprefix(space): load_pattern(query.pattern)
        for record, query in zip(known, queries, strict=True)
        if query is not None
    }


def _names_in(text: str) -> list[str]:
    return list(dict.fromkeys(_NAME.findall(text)))


def refuse_unserved(pattern: Pattern, scope: str, language: str) -> None:
    """UnsupportedQuery for what could only be answered by combining everything with everything."""
    if scope != GRAPH:
        return
    if pattern.asks_xml:
        reason = "XPath asks one document, and the scope is the graph of all"
        raise UnsupportedQuery(reason, language=language, hint='Use scope="document".')
    for branch in pattern.branches:
        parts = [] if _is_joined(branch) else parts_of(branch)
        if len(parts) > 1:
            named = " / ".join(f"`{word_triple(part[0])}`" for part in parts)
            reason = (
                f"its parts share no variable or resource ({named}), "
                "so it would combine every match of one with all of the other"
            )
            hint = 'Join them with a variable, subscribe to each alone, or use scope="document".'
            raise UnsupportedQuery(reason, language=language, hint=hint)
        loose = unanchored(branch)
        if loose:
            reason = f"the optional part with `{word_triple(loose[0].triples[0])}` hangs from nothing that is required"
            raise UnsupportedQuery(
                reason, language=language, hint="Put it inside the optional part that it hangs from."
            )


def _is_joined(branch: Conjunction) -> bool:
    """True if variables alone join all triple patterns: so it is with most, and it is seen sooner than the parts."""
    waiting = [triple.variables for triple in branch.triples]
    known = set(waiting[0]) if waiting else set()
    while waiting:
        apart = []
        for names in waiting:
            if known.isdisjoint(names):
                apart.append(names)
            else:
                known.update(names)
        if len(apart) == len(waiting):
            return False
        waiting = apart
    return True


class Registration:
    """Registers subscriptions in one transaction, a list at a time: lists of a thousand take the least time for each.

    The indexes know them at once. If the transaction fails, `Standing.forget_uncommitted` takes them back.
    """

    def __init__(self, writer: Writer, standing: Standing, *, later: bool = False, batch: int | None = None) -> None:
        """With `later`, what answers already is not looked for here, and nothing is heard before it is found.

        What starts "now" counts what comes after the last batch, or after another `batch`.
        """
        self._writer, self._standing = writer, standing
        self._batch = writer.batches.last() if batch is None else batch
        self._cursor = writer.log.last_cursor()
        self._has_documents = bool(writer.documents.listing(limit=1))
        self._is_later = later and self._has_documents
        self._shapes: dict[Shape, int] = {}
        self._untold = Untold()

    def add(self, wanted: Sequence[Subscription], prefixes: Mapping[str, str] | None = None) -> list[Pattern]:
        """Register all of them; their patterns."""
        for one in wanted:
            refuse_unstorable(one)
        patterns = self._compiled(wanted, prefixes)
        asked = [
            NewQuery(one.scope, self._batch if one.start == "now" else 0, dump_pattern(pattern), viewer=one.sight)
            for one, pattern in zip(wanted, patterns, strict=True)
        ]
        queries, new = self._queries(asked, patterns)
        records = self._records(wanted, patterns, queries)
        self.learn(records[-1].number, new)
        if self._has_documents:
            self._untold.new.update(query.id for query in new)
            for one, record, pattern in zip(wanted, records, patterns, strict=True):
                if one.start == "ever" and not self._is_later:
                    self._untold.asking.append(record)
                    self._untold.queries[record.query] = StandingQuery(record.query, one.scope, 0, pattern, one.sight)
            if self._is_later:
                self._queue(records)
            if len(self._untold.asking) >= _MANY:
                self.tell()
        return patterns

    def stand(self, asked: NewQuery, pattern: Pattern) -> tuple[int, list[StandingQuery]]:
        """Let a query stand; its number, and itself if it did not before. To be learned when a subscription asks it."""
        (number,), new = self._queries([asked], [pattern])
        return number, new

    def learn(self, number: int, new: Sequence[StandingQuery]) -> None:
        """Let this process know queries that stand since the change with a number."""
        atoms = self._attach([query for query in new if query.scope == GRAPH])
        shapes = {place: shape for shape, place in self._shapes.items()}
        self._standing.learn(NewQueries(number, new, atoms, shapes))

    def tell(self) -> None:
        """Tell those that start "ever" what answers them already; to be called when all are registered."""
        untold, self._untold = self._untold, Untold()
        if untold.asking:
            tell_existing(self._writer, self._standing, untold)

    def _queue(self, records: Sequence[SubscriptionRecord]) -> None:
        asked = now()
        self._writer.backfills.add(
            [
                BackfillRecord(record.number, record.id, record.query, QUEUED, None, 0, asked, None)
                for record in records
                if record.start == "ever"
            ]
        )

    def _compiled(self, wanted: Sequence[Subscription], prefixes: Mapping[str, str] | None) -> list[Pattern]:
        """The patterns; a rule may name one that stands before it."""
        rules = named_rules(self._writer, (one.text for one in wanted if one.language == RULES and one.pattern is None))
        patterns = []
        for one in wanted:
            if one.pattern is not None:
                pattern = normalize(one.pattern)
            else:
                pattern = prepared(_read(one.text, one.language, prefixes, rules))
            refuse_unserved(pattern, one.scope, one.language)
            if one.language == RULES:
                rules[one.id] = pattern
            patterns.append(pattern)
        return patterns

    def _queries(self, asked: Sequence[NewQuery], patterns: Sequence[Pattern]) -> tuple[list[int], list[StandingQuery]]:
        """The number of each query, and those that nobody had."""
        known = zip(asked, self._writer.queries.find_many(asked), strict=True)
        numbers = {query: number for query, number in known if number}
        new = {query: pattern for query, pattern in zip(asked, patterns, strict=True) if query not in numbers}
        made = self._writer.queries.add_many(self._with_terms(new))
        numbers.update(zip(new, made, strict=True))
        taxonomies.note_places(self._writer, new.values())
        return [numbers[query] for query in asked], [
            StandingQuery(numbers[query], query.scope, query.start, pattern, query.viewer)
            for query, pattern in new.items()
        ]

    def _with_terms(self, new: Mapping[NewQuery, Pattern]) -> list[NewQuery]:
        texts = [
            sorted({str(term) for branch in pattern.branches for term in _constants(branch)})
            for pattern in new.values()
        ]
        names = list(dict.fromkeys(text for own in texts for text in own))
        numbers = dict(zip(names, self._writer.terms.ids(names), strict=True))
        return [
            replace(query, terms=tuple([numbers[text] for text in own])) for query, own in zip(new, texts, strict=True)
        ]

    def _records(
        self, wanted: Sequence[Subscription], patterns: Sequence[Pattern], queries: Sequence[int]
    ) -> list[SubscriptionRecord]:
        return self._writer.subscriptions.add_many(
            [
                SubscriptionRecord(
                    one.id,
                    query,
                    one.text,
                    one.language,
                    one.owner,
                    pattern.answer,
                    first_cursor=UNHEARD if self._is_later and one.start == "ever" else self._cursor,
                    created=self._batch,
                    number=0,
                    start=one.start,
                    title=one.title,
                    description=one.description,
                )
                for one, pattern, query in zip(wanted, patterns, queries, strict=True)
            ]
        )

    def _attach(self, queries: Sequence[StandingQuery]) -> dict[str, Pattern]:
        """Write the atoms of graph queries; the patterns that seed them, by name."""
        shaped = [[shape_of(branch).shape for branch in query.pattern.branches] for query in queries]
        fresh = [shape for shape in dict.fromkeys(chain.from_iterable(shaped)) if shape not in self._shapes]
        self._shapes.update(zip(fresh, self._writer.atoms.shape_ids([s.encode() for s in fresh]), strict=True))
        users: list[tuple[int, list[AtomUse]]] = []
        seeding: list[Pattern] = []
        for query, shapes in zip(queries, shaped, strict=True):
            uses: list[AtomUse] = []
            for number, (branch, shape) in enumerate(zip(query.pattern.branches, shapes, strict=True)):
                for atom in atoms_of(branch, is_normal=query.pattern.is_normal):
                    uses.append(AtomUse(number, self._shapes[shape], atom.position, atom.definition))
                    seeding.append(atom.pattern)
            users.append((query.id, uses))
        numbers = chain.from_iterable(self._writer.atoms.attach_many(users))
        used = chain.from_iterable(uses for _, uses in users)
        return {
            seed_id(number, use.shape, use.position): pattern
            for number, use, pattern in zip(numbers, used, seeding, strict=True)
        }


def _constants(branch: Conjunction) -> list[object]:
    """All that may stand in a row or in a key: constants of triples, and fixed bindings."""
    triples = [*branch.triples, *(triple for part in branch.optionals for triple in part.triples)]
    return [
        *(node for triple in triples for node in triple if not isinstance(node, Variable)),
        *(term for _, term in branch.bindings),
    ]


def unregister(writer: Writer, id: str) -> SubscriptionRecord:
    """Take a subscription out with its deliveries, and its query if nobody else has it."""
    record = writer.subscriptions.remove(id)
    writer.backfills.remove(record.number)
    writer.deliveries.remove_of(id)
    writer.network.reach_no_more(id)
    writer.settings.remove(absence_setting(record.number))
    drop_unasked(writer, record.query)
    return record


def drop_unasked(writer: Writer, query: int) -> None:
    """Let go of a query that no subscription asks any more."""
    (asking,) = writer.subscriptions.of_queries([query])
    if not asking:
        writer.queries.remove(query)
