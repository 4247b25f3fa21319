"""The hub's taxonomy: the one that it was given, and what documents state of classes and properties (G3, X3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pyoxigraph import Literal, Triple

from triplewire.algebra.pattern import IS_A, Call, Expression, Pattern, TriplePattern, variables_of
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.engine.batch.revisions import Revision
from triplewire.engine.inspect.graphs import numbers_of, spelled_triples
from triplewire.engine.inspect.surveys import NAMES, preference
from triplewire.model import RDFS, Document, Term, parse_triple
from triplewire.store import EVERYBODY, Reader, Writer

BELOW = (f"<{RDFS}subClassOf>", f"<{RDFS}subPropertyOf>")
_GIVEN, _NUMBER, _PLACES = "hub.taxonomy", "hub.taxonomy.number", "hub.taxonomy.places"
_NAMES = "hub.taxonomy.names"
NUMBERED = _NUMBER
"""The setting that differs after every change."""

Place = tuple[str, bool]
"""A predicate ("" for any), and whether it is the object (or the subject) that an is-a condition tests."""


def number_of(reader: Reader) -> int:
    """Grows with every change of the taxonomy."""
    return int(reader.settings.get(_NUMBER, 0))


def read(reader: Reader) -> Taxonomy:
    """The taxonomy as it is in the store."""
    return Taxonomy.from_triples([*_given(reader), *spelled_triples(reader, _stated(reader))])


def _given(reader: Reader) -> list[Triple]:
    return [parse_triple(*spelled) for spelled in reader.settings.get(_GIVEN, [])]


def everything(reader: Reader) -> list[list[str]]:
    """The taxonomy as it is in the store, in the form in which one can be given."""
    stated = ([str(t.subject), str(t.predicate), str(t.object)] for t in spelled_triples(reader, _stated(reader)))
    return sorted({tuple(each): each for each in [*reader.settings.get(_GIVEN, []), *stated]}.values())


def stored(reader: Reader) -> tuple[list[list[str]], dict[str, list[str]]]:
    """The given taxonomy and its names, as they are stored."""
    return reader.settings.get(_GIVEN, []), names(reader)


def given(triples: Iterable[Triple]) -> list[list[str]]:
    """The taxonomy to be given, in the form that is stored; triples that say nothing of a taxonomy are left out."""
    kept = []
    for triple in triples:
        if Taxonomy.from_triples([triple]).parents(triple.subject):  # type: ignore[arg-type]  # no triple terms
            kept.append([str(triple.subject), str(triple.predicate), str(triple.object)])
    return kept


def called(triples: Iterable[Triple]) -> dict[str, list[str]]:
    """What triples call their subjects, in the form that is stored: for each the names, the one to be shown first."""
    found: dict[str, list[tuple[int, Literal]]] = {}
    for triple in triples:
        place = NAMES.index(str(triple.predicate)) if str(triple.predicate) in NAMES else -1
        if place >= 0 and isinstance(triple.object, Literal):
            found.setdefault(str(triple.subject), []).append((place, triple.object))
    return {
        node: [name.value for _, name in sorted(names, key=lambda each: (each[0], *preference(each[1])))]
        for node, names in found.items()
    }


def save(writer: Writer, spelled: list[list[str]], names: Mapping[str, Sequence[str]]) -> None:
    """Remember the given taxonomy, and what it calls its nodes."""
    writer.settings.set(_GIVEN, spelled)
    writer.settings.set(_NAMES, names)


def names(reader: Reader) -> dict[str, list[str]]:
    """What the given taxonomy calls its nodes, as `called` has it."""
    found: dict[str, list[str]] = reader.settings.get(_NAMES, {})
    return found


def note_change(writer: Writer) -> int:
    """Number a change of the taxonomy, so that other processes see it."""
    number = number_of(writer) + 1
    writer.settings.set(_NUMBER, number)
    return number


def _stated(reader: Reader) -> list[tuple[int, int, int]]:
    """What documents that are for everybody state: the taxonomy is everybody's, and tells nothing of the others."""
    predicates = [number for number in reader.terms.find(BELOW) if number]
    found = reader.seen_by(EVERYBODY).triples.scan(predicates)
    return list(dict.fromkeys(triple for triples in found for triple in triples))


def states_taxonomy(document: Document) -> bool:
    """Whether a document says something of classes and properties, so that it may be refused for a cycle of them."""
    return any(f" {predicate} ".encode() in document.ntriples for predicate in BELOW)


def is_revised(revisions: Sequence[Revision]) -> bool:
    """True if a document's new version says something else of classes and properties."""
    for revision in revisions:
        if revision.removed or revision.added or revision.is_relisted:
            old = {triple for triple in revision.old if triple[1] in BELOW and revision.list_before is None}
            if old != {triple for triple in revision.new if triple[1] in BELOW and revision.list_after is None}:
                return True
    return False


def revised(reader: Reader, revisions: Sequence[Revision]) -> Taxonomy:
    """The taxonomy with the revisions; TaxonomyError if they close a cycle."""
    ids = {revision.id for revision in revisions}
    triples = _stated(reader)
    stating = reader.seen_by(EVERYBODY).triples.stated_by(triples)
    kept = spelled_triples(reader, [t for t, by in zip(triples, stating, strict=True) if set(by) - ids])
    new = [triple for revision in revisions if revision.list_after is None for triple in revision.new]
    stated = [parse_triple(*triple) for triple in new if triple[1] in BELOW]
    return Taxonomy.from_triples([*_given(reader), *dict.fromkeys([*kept, *stated])])


# -- what a change of the taxonomy touches


def places_of(pattern: Pattern) -> set[Place]:
    """Where the terms stand that the pattern's is-a conditions test."""
    found: set[Place] = set()
    for branch in pattern.branches:
        conditions = [*branch.conditions, *(c for part in branch.optionals for c in part.conditions)]
        triples = [*branch.triples, *(t for part in branch.optionals for t in part.triples)]
        tested = {name for condition in conditions for name in _tested(condition)}
        found |= {place for triple in triples for place in _places(triple, tested)}
    return found


def _tested(condition: Expression) -> frozenset[str]:
    if not isinstance(condition, Call):
        return frozenset()
    if condition.function in IS_A:
        return variables_of(condition)
    return frozenset().union(*map(_tested, condition.arguments))


def _places(triple: TriplePattern, tested: set[str]) -> set[Place]:
    predicate = str(triple.predicate) if not str(triple.predicate).startswith("?") else ""
    found = set()
    if str(triple.subject)[1:] in tested:
        found.add((predicate, False))
    if str(triple.object)[1:] in tested:
        found.add((predicate, True))
    if not predicate and str(triple.predicate)[1:] in tested:
        found |= {("", False), ("", True)}
    return found


def note_places(writer: Writer, patterns: Iterable[Pattern]) -> None:
    """Remember the places of new queries' is-a conditions."""
    places = {place for pattern in patterns for place in places_of(pattern)}
    if places:
        known = {(p, o) for p, o in writer.settings.get(_PLACES, [])}
        if not places <= known:
            writer.settings.set(_PLACES, sorted(known | places))


def touched(reader: Reader, before: Taxonomy, after: Taxonomy) -> list[tuple[int, int, int]]:
    """The stored triples whose meaning for some query may differ: an is-a condition tests a term of theirs."""
    places = [(predicate, is_object) for predicate, is_object in reader.settings.get(_PLACES, [])]
    terms = [str(term) for term in moved(before, after)] if places else []
    numbers = [number for number in reader.terms.find(terms) if number]
    predicates = numbers_of(reader, (p for p, _ in places))
    wanted = [(predicates[p] if p else 0, is_object) for p, is_object in places if not p or predicates[p]]
    back = [(predicate, number) for predicate, is_object in wanted if is_object for number in numbers]
    forth = [(number, predicate) for predicate, is_object in wanted if not is_object for number in numbers]
    found = [*(reader.triples.backward(back) if back else ()), *(reader.triples.forward(forth) if forth else ())]
    own = [number for number in numbers if any(not predicate for predicate, _ in wanted)]
    found += reader.triples.scan(own) if own else []
    return list(dict.fromkeys(triple for triples in found for triple in triples))


def moved(before: Taxonomy, after: Taxonomy) -> set[Term]:
    """The nodes that are below something else now, and those that have something else below them."""
    nodes = {*before.nodes(), *after.nodes()}
    changed = {node for node in nodes if set(before.parents(node)) != set(after.parents(node))}
    found = set(changed)
    for taxonomy in (before, after):
        for node in changed:
            found.update(taxonomy.descendants(node))
            found.update(taxonomy.ancestors(node))
    return found
