"""Preview: what a subscription would get and cost, before it is made (X5).

Nothing is written. The answers are those of the current metadata, however it started. How often it would have fired is
estimated, because knowing would mean to apply the whole history again. Which other subscriptions cover it is asked only
of those that can: they match an example of what it asks for, which the indexes find at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import islice, product
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple, Variable

from triplewire.algebra.covering import Budget, covers
from triplewire.algebra.evaluate import substitute
from triplewire.algebra.expressions import holds
from triplewire.algebra.lint import Finding, lint
from triplewire.algebra.pattern import IS_A, Call, Conjunction, Expression, Pattern, variables_of
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.algebra.wording import readable, word_condition, word_list, word_triple
from triplewire.engine.backfill.answers import answers_of
from triplewire.engine.batch.differences import stored_documents
from triplewire.engine.inspect.costs import MOST_COUNTED, Cost, cost_of, selected
from triplewire.engine.inspect.graphs import row_of, spelled_triples, terms_of
from triplewire.engine.lookups import StoreLookups
from triplewire.engine.standing import GRAPH, Standing, StandingQuery
from triplewire.errors import MatchLimitExceeded
from triplewire.matching import Index
from triplewire.matching.explanation import conditions_on
from triplewire.matching.finder.finder import Derivation
from triplewire.matching.incremental import dump_pattern
from triplewire.matching.pages import Terms
from triplewire.model import XSD, Document, Row, Scope, Start, Term
from triplewire.store import QueryRecord, Reader

MOST_SAMPLED = 500
"""So many answers are followed through their documents' histories; the estimate is scaled up from them."""
MOST_COMPARED = 200
"""So many other queries are compared with it."""
_MOST_STEPS = 500_000
"""And so far, all of them together: about two seconds."""
_MOST_BRANCHES_TRIED = 8
_MOST_TRIED = 256
_MOST_SHOWN = 5
_DAY, _HOUR = 86_400, 3_600


_Asked = tuple[Scope, Start, str | None]
"""The scope, the start and the viewer of the subscription."""
_Found = tuple[tuple[Row, ...], int, str | None, "Frequency", tuple[str, ...], tuple[str, ...]]
"""What a preview tells of the rows of now: the first, how many, a problem; how often; what has the same, and more."""


@dataclass(frozen=True, slots=True)
class Frequency:
    """How often it would have fired: an estimate, made as `how` says, over the history from `since` to `until`.

    There is no rate for a day where the history is shorter than an hour.
    """

    events: int
    batches: int
    since: str
    until: str
    per_day: float | None
    how: str

    def __str__(self) -> str:
        if not self.batches:
            return "no history yet, so nothing to estimate from"
        rate = ", too short a time for a rate" if self.per_day is None else f", {self.per_day:,.1f} a day"
        return f"about {self.events:,} events from {self.since} to {self.until}{rate} (an estimate: {self.how})"


@dataclass(frozen=True, slots=True)
class AtomCost:
    """One triple pattern with its own conditions: how many triples its constants leave now, and which others have it.

    `triples` is counted up to MOST_COUNTED. `shared_with` counts queries that stand already; each may serve several
    subscriptions.
    """

    text: str
    triples: int
    shared_with: int

    def __str__(self) -> str:
        many = f"over {MOST_COUNTED:,}" if self.triples >= MOST_COUNTED else f"{self.triples:,}"
        others = "1 other query" if self.shared_with == 1 else f"{self.shared_with:,} other queries"
        return f"{self.text}  ({many} triples now; shared with {others})"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a subscription would get and cost.

    `rows` are the first of its `count` answers now; `problem` says why they are not known, when they are too many.
    """

    rows: tuple[Row, ...]
    count: int
    problem: str | None
    scope: Scope
    start: Start
    frequency: Frequency
    atoms: tuple[AtomCost, ...]
    cost: Cost
    equal_to: tuple[str, ...]
    covered_by: tuple[str, ...]
    findings: tuple[Finding, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, terms in their N-Triples spelling."""
        plain = asdict(replace(self, rows=()))
        return {
            **{name: [*value] if isinstance(value, tuple) else value for name, value in plain.items()},
            "rows": [{name: str(term) for name, term in row.items()} for row in self.rows],
        }

    def __str__(self) -> str:
        lines = [f"answers now: {self.problem or format(self.count, ',')}"]
        lines += [f"  {row}" for row in self.rows[:_MOST_SHOWN]]
        if self.count > len(self.rows[:_MOST_SHOWN]):
            lines.append(f"  and {self.count - len(self.rows[:_MOST_SHOWN]):,} more")
        if self.start == "now" and self.count:
            lines.append("  (with start now these are not told; start ever tells them first)")
        lines += [f"history: {self.frequency}", "atoms:", *(f"  {atom}" for atom in self.atoms)]
        lines.append(f"cost: {self.cost.total:,} (an estimate: lookups, if all that is there came again)")
        if self.equal_to:
            lines.append(f"the same as: {word_list(self.equal_to)}")
        if self.covered_by:
            lines.append(f"all of its answers are answers of: {word_list(self.covered_by)}")
        return "\n".join([*lines, *map(str, self.findings)])


def preview(
    reader: Reader,
    standing: Standing,
    pattern: Pattern,
    scope: Scope,
    start: Start,
    limit: int,
    viewer: str | None = None,
) -> Preview:
    """Look ahead; see the module. Documents that the viewer may not read count nowhere."""
    reader = reader.seen_by(viewer)
    find = _found_in_xml if pattern.asks_xml else _found
    rows, count, problem, frequency, equal, covering = find(reader, standing, pattern, (scope, start, viewer), limit)
    return Preview(
        rows,
        count,
        problem,
        scope,
        start,
        frequency,
        tuple(_atoms(reader, standing.graph if scope == GRAPH else standing.documents, readable(pattern))),
        cost_of(pattern, reader),
        equal,
        covering,
        tuple(lint(readable(pattern), taxonomy=standing.taxonomy)),
    )


def _found(reader: Reader, standing: Standing, pattern: Pattern, asked: _Asked, limit: int) -> _Found:
    rows: dict[Terms, Derivation] = {}
    problem = None
    try:
        for found in answers_of(reader, standing, [StandingQuery(0, asked[0], 0, pattern)]).values():
            for (_, terms), derivation in found.items():
                rows.setdefault(terms, derivation)
    except MatchLimitExceeded as error:
        problem = error.reason
    example = _example(reader, pattern, rows, standing.taxonomy)
    shown = list(islice(rows, limit))
    spelled = terms_of(reader, (number for row in shown for number in row))
    told = tuple(row_of(pattern.answer, row, spelled) for row in shown)
    return told, len(rows), problem, _frequency(reader, rows), *_compared(reader, standing, pattern, asked, example)


def _found_in_xml(reader: Reader, standing: Standing, pattern: Pattern, asked: _Asked, limit: int) -> _Found:
    """What an XPath subscription would get from the documents of now; their versions are its history."""
    index = Index()
    index.add("asked", pattern)
    rows: list[Row] = []
    matching: list[int] = []
    problem = None
    ids = reader.documents.with_xml()
    for first in range(0, len(ids), MOST_COMPARED):
        documents = stored_documents(reader, reader.documents.by_ids(ids[first : first + MOST_COMPARED]))
        for id, matches in zip(documents, index.match_many(list(documents.values())), strict=True):
            problem = next((error.reason for error in matches.errors.values()), problem)
            if matches:
                matching.append(id)
                rows += [Row(row) for match in matches for row in match.rows]
    how = "each version of a document that matches now counts as one event; documents that match no more do not count"
    versions = [len(reader.documents.history(id)) for id in matching[:MOST_SAMPLED]]
    frequency = _estimated(reader, versions, len(matching), how)
    return tuple(rows[:limit]), len(rows), problem, frequency, _equal(reader, pattern, asked), ()


def _equal(reader: Reader, pattern: Pattern, asked: _Asked) -> tuple[str, ...]:
    """Subscriptions with the same expression, whenever they started."""
    scope, _, viewer = asked
    wanted = scope, dump_pattern(pattern), viewer
    every = reader.queries.everything()
    same = [record for record in every if (record.scope, record.pattern, record.viewer) == wanted]
    return tuple(sorted(_subscribers(reader, same)))


# -- how often


def _estimated(reader: Reader, sampled: Sequence[int], count: int, how: str) -> Frequency:
    """As many events for each of so many as the sampled ones had, over the batches that there were.

    Where some documents are hidden, over those of the others: what happened to a hidden one is hidden as well.
    """
    events = round(sum(sampled) * count / len(sampled)) if sampled else 0
    batches, first, last = reader.documents.published_by()
    if not batches:
        return Frequency(0, 0, "", "", None, "")
    ends = reader.batches.by_numbers({first, last})
    since, until = ends[first].committed, ends[last].committed
    seconds = (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
    return Frequency(events, batches, since, until, events * _DAY / seconds if seconds >= _HOUR else None, how)


def _frequency(reader: Reader, rows: dict[Terms, Derivation]) -> Frequency:
    sampled = list(islice(rows.values(), MOST_SAMPLED))
    stating = reader.triples.stated_by([triple for derivation in sampled for triple in derivation])
    versions = {id: [v.batch for v in reader.documents.history(id)] for id in {id for ids in stating for id in ids}}
    left = iter(stating)
    behind = [{id for ids in islice(left, len(derivation)) for id in ids} for derivation in sampled]
    events = [len({batch for id in ids for batch in versions[id]}) for ids in behind]
    how = "each version of a document behind an answer of now counts as one event; answers that have ended do not count"
    if len(sampled) < len(rows):
        how += f"; scaled up from {len(sampled):,} of {len(rows):,} answers"
    return _estimated(reader, events, len(rows), how)


# -- what it costs


def _atoms(reader: Reader, index: Index, pattern: Pattern) -> Iterator[AtomCost]:
    lookups = StoreLookups(reader)
    seen = set()
    for branch in pattern.branches:
        for triple in branch.triples:
            own = conditions_on(triple, branch)
            text = " with ".join([word_triple(triple), *map(word_condition, own)])
            if text not in seen:
                seen.add(text)
                yield AtomCost(text, selected(reader, lookups, triple), _sharers(index, Conjunction((triple,), own)))


def _sharers(index: Index, atom: Conjunction) -> int:
    """How many standing queries have an atom: it stands for a moment itself, and the index counts."""
    id = "preview"
    index.add(id, Pattern((), (atom,)))
    try:
        atoms = index.explain(id).atoms
        return atoms[0].shared_with if atoms else 0
    finally:
        index.remove(id)


# -- who has it already


def _compared(
    reader: Reader,
    standing: Standing,
    pattern: Pattern,
    asked: _Asked,
    example: Sequence[Triple],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The subscriptions that have the same answers, and those that have all of them and more."""
    if not example:
        return (), ()
    document = Document.from_triples("urn:triplewire:example", example)
    ids = sorted(
        int(match.subscription) for index in (standing.documents, standing.graph) for match in index.match(document)
    )
    queries = [query for query in standing.queries(reader, ids).values() if _sees_as_much(query, *asked)]
    alike = [query for query in queries if set(query.pattern.answer) == set(pattern.answer)][:MOST_COMPARED]
    budget = Budget(_MOST_STEPS)
    wider = [query for query in alike if covers(query.pattern, pattern, standing.taxonomy, budget)]
    alike = [query for query in wider if (query.scope, query.viewer) == (asked[0], asked[2])]
    equal = [query for query in alike if covers(pattern, query.pattern, standing.taxonomy, budget)]
    return _subscribers(reader, equal), _subscribers(reader, [query for query in wider if query not in equal])


def _sees_as_much(query: StandingQuery, scope: Scope, start: Start, viewer: str | None) -> bool:
    """The graph has what each document has; one that started earlier sees what comes; one without viewer sees all."""
    return query.scope in (scope, GRAPH) and (start == "now" or not query.start) and query.viewer in (None, viewer)


def _subscribers(reader: Reader, queries: Sequence[StandingQuery | QueryRecord]) -> tuple[str, ...]:
    found = reader.subscriptions.of_queries([query.id for query in queries])
    return tuple(record.id for records in found for record in records)


def _example(reader: Reader, pattern: Pattern, rows: dict[Terms, Derivation], taxonomy: Taxonomy) -> Sequence[Triple]:
    """Triples that the pattern matches: those of an answer, or made up; none if that does not succeed.

    Whatever covers the pattern matches them too, so others need not be compared.
    """
    for derivation in rows.values():
        return spelled_triples(reader, derivation)
    for branch in pattern.branches[:_MOST_BRANCHES_TRIED]:
        triples = _made_up(branch, taxonomy)
        if triples:  # and all conditions hold, so that they are an answer: to evaluate could take for ever
            return triples
    return ()


def _made_up(branch: Conjunction, taxonomy: Taxonomy) -> list[Triple] | None:
    """Put values in place of the variables, such that the conditions hold."""
    names = sorted(branch.variables)
    choices = [_values(name, branch, taxonomy) for name in names]
    for values in islice(product(*choices), _MOST_TRIED):
        row: dict[str, Term] = {**dict(branch.bindings), **dict(zip(names, values, strict=True))}
        if all(holds(condition, row, taxonomy) for condition in branch.conditions):
            try:
                return [Triple(*substitute(triple, row)) for triple in branch.triples]  # type: ignore[arg-type]  # no variables are left
            except TypeError:  # a literal as a subject
                continue
    return None


def _values(name: str, branch: Conjunction, taxonomy: Taxonomy) -> list[Term]:
    """Values for a variable to try: near the constants that it is compared with, if these pass its own tests."""
    own = [condition for condition in branch.conditions if variables_of(condition) == {name}]
    tried: list[Term] = [value for condition in own for value in _near(condition, taxonomy)]
    tried += [NamedNode(f"urn:triplewire:example:{name}"), Literal(name), Literal(1)]
    return [value for value in tried if all(holds(condition, {name: value}, taxonomy) for condition in own)] or tried


def _near(condition: Expression, taxonomy: Taxonomy) -> Iterator[Term]:
    if isinstance(condition, Call):
        for argument in condition.arguments:
            yield from _near(argument, taxonomy)
            if condition.function in IS_A and not isinstance(argument, Call | Variable):
                yield from islice(taxonomy.descendants(argument), 1)
                yield from islice(taxonomy.ancestors(argument), 1)
    elif not isinstance(condition, Variable):
        yield condition
        if isinstance(condition, Literal) and condition.datatype.value.startswith(XSD):
            yield from _neighbours(condition)


def _neighbours(literal: Literal) -> Iterator[Term]:
    try:
        number = int(literal.value)
    except ValueError:
        return
    yield Literal(str(number + 1), datatype=literal.datatype)
    yield Literal(str(number - 1), datatype=literal.datatype)
