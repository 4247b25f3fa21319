"""Surveys: what is there, for people who look around: classes, facets, text, names (M9).

Every question has a bound, so that looking around costs the same on a store of any size; what is cut off is told.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from triplewire.algebra.taxonomy import Taxonomy
from triplewire.engine.graphs import terms_of
from triplewire.model import RDF, RDFS, Term, parse_term
from triplewire.store import Reader

MOST_CLASSES = 500
MOST_COUNTED = 10_000
"""Instances of a class are counted up to here."""
MOST_RESOURCES = 1_000
"""So many resources of a selection are looked at."""
MOST_VALUES = 12
"""So many values of a property are told, those that most resources have."""
MOST_HITS = 50
MOST_BELOW = 200
_LOOKED_AT = 50_000
_TRIPLES_LOOKED_AT = 50_000
_TERMS_LOOKED_AT = 200_000
_KEYS_LOOKED_AT = 20_000
_MOST_WORDS = 8
TYPE = f"<{RDF}type>"

_NAMES = tuple(
    f"<{iri}>"
    for iri in (
        "http://www.w3.org/2004/02/skos/core#prefLabel",
        f"{RDFS}label",
        "http://purl.org/dc/terms/title",
        "http://purl.org/dc/elements/1.1/title",
        "http://purl.org/rss/1.0/title",
        "http://xmlns.com/foaf/0.1/name",
        "https://schema.org/name",
        "http://schema.org/name",
        "http://www.w3.org/2006/vcard/ns#fn",
    )
)
"""Properties that say what a resource is called, the most telling first."""


@dataclass(frozen=True, slots=True)
class ClassFound:
    """A class of resources, or a node of the taxonomy.

    `instances` counts resources that are stated to be of it, `uses` every other triple with it as the value; both are
    counted up to MOST_COUNTED. `used_by` is the property of most of these uses.
    """

    iri: Term
    instances: int
    uses: int
    used_by: Term | None
    parents: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Facet:
    """A property, how many resources of a selection have it, and its most frequent values of `values_in_all`."""

    property: Term
    resources: int
    values: tuple[tuple[Term, int], ...]
    values_in_all: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Resources that have something in common; `has_more` says that there are others, which were not looked at."""

    resources: tuple[Term, ...]
    facets: tuple[Facet, ...]
    has_more: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A resource that a text was found of: in the value of a property, or, without one, in its IRI."""

    resource: Term
    property: Term | None = None
    value: Term | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A narrowing: a property with this value; with `is_a`, or with one that is below it in the taxonomy."""

    property: str
    value: str
    is_a: bool = False


def classes(reader: Reader, taxonomy: Taxonomy) -> tuple[list[ClassFound], bool]:
    """The classes that resources are of, and the nodes of the taxonomy; and whether there are more."""
    (kind,) = reader.terms.find([TYPE])
    numbers = reader.surveys.values(kind, MOST_CLASSES + 1) if kind else []
    broad = dict.fromkeys(node for pair in islice(taxonomy.below(), MOST_CLASSES) for node in pair)
    nodes = [number for number in reader.terms.find([str(node) for node in broad]) if number]
    found = list(dict.fromkeys([*numbers[:MOST_CLASSES], *nodes]))
    terms = terms_of(reader, found)
    instances = dict(zip(found, reader.triples.degrees([(kind, n) for n in found], MOST_COUNTED), strict=True))
    uses = _uses(reader, [number for number in nodes if not instances[number]], kind)
    properties = terms_of(reader, (uses[number].most_common(1)[0][0] for number in uses))
    told = []
    for number in found:
        used = uses.get(number, Counter())
        by = properties[used.most_common(1)[0][0]] if used else None
        total = min(MOST_COUNTED, used.total())
        told.append(ClassFound(terms[number], instances[number], total, by, taxonomy.parents(terms[number])))
    known = {*terms.values()}
    told += [ClassFound(node, 0, 0, None, taxonomy.parents(node)) for node in broad if node not in known]
    return told, len(numbers) > MOST_CLASSES


def _uses(reader: Reader, numbers: Sequence[int], kind: int) -> dict[int, Counter[int]]:
    """How many triples of each property have each as the value, besides those that the taxonomy is made of."""
    structure = {kind, *reader.terms.find([f"<{RDFS}subClassOf>", f"<{RDFS}subPropertyOf>"])}
    predicates = [predicate for predicate in reader.triples.predicates() if predicate not in structure]
    keys = list(islice(((p, number) for number in numbers for p in predicates), _KEYS_LOOKED_AT))
    found: dict[int, Counter[int]] = {}
    for (p, number), count in zip(keys, reader.triples.degrees(keys, MOST_COUNTED) if keys else (), strict=True):
        if count:
            found.setdefault(number, Counter())[p] = count
    return found


def select(reader: Reader, taxonomy: Taxonomy, wanted: Sequence[Wanted], *, limit: int) -> Selection:
    """The resources that have all that is wanted, and the facets by which they can be narrowed further."""
    narrowings = [_narrowing(reader, taxonomy, each) for each in wanted]
    if not narrowings or not all(predicate and values for predicate, values in narrowings):
        return Selection((), (), False)
    costs = [sum(reader.triples.degrees([(p, v) for v in vs], _LOOKED_AT)) for p, vs in narrowings]
    ordered = [narrowing for _, narrowing in sorted(zip(costs, narrowings, strict=True), key=lambda pair: pair[0])]
    subjects = reader.surveys.subjects(ordered, looked_at=_LOOKED_AT, most=MOST_RESOURCES + 1)
    has_more = len(subjects) > MOST_RESOURCES or min(costs) >= _LOOKED_AT
    subjects = subjects[:MOST_RESOURCES]
    triples = reader.surveys.about(subjects, _TRIPLES_LOOKED_AT)
    terms = terms_of(reader, subjects[:limit])
    return Selection(tuple(terms[n] for n in subjects[:limit]), tuple(_facets(reader, triples)), has_more)


def _narrowing(reader: Reader, taxonomy: Taxonomy, wanted: Wanted) -> tuple[int, list[int]]:
    values = [wanted.value]
    if wanted.is_a:
        below = taxonomy.descendants(parse_term(wanted.value))
        values += [str(node) for node in islice(below, MOST_BELOW)]
    predicate, *numbers = reader.terms.find([wanted.property, *values])
    return predicate, [number for number in numbers if number]


def _facets(reader: Reader, triples: Iterable[tuple[int, int, int]]) -> Iterable[Facet]:
    """By how many resources have the property, the most first."""
    values: defaultdict[int, Counter[int]] = defaultdict(Counter)
    owners: defaultdict[int, set[int]] = defaultdict(set)
    for s, p, o in triples:
        values[p][o] += 1
        owners[p].add(s)
    top = {p: counted.most_common(MOST_VALUES) for p, counted in values.items()}
    terms = terms_of(reader, [*top, *(value for told in top.values() for value, _ in told)])
    for p in sorted(top, key=lambda p: (-len(owners[p]), str(terms[p]))):
        told = tuple((terms[value], count) for value, count in top[p])
        yield Facet(terms[p], len(owners[p]), told, len(values[p]))


def search(reader: Reader, text: str, *, before: int | None = None) -> tuple[list[Hit], int | None]:
    """Resources with all words of a text in their IRI or in one value, newest first; and where to go on.

    There is no index of words: a question looks at so many terms, and the next one goes on from there.
    """
    words = [_spellings(word) for word in text.split()[:_MOST_WORDS]]
    if not words:
        return [], None
    found = reader.surveys.terms_with(
        words,
        before=before if before is not None else 1 << 60,
        looked_at=_TERMS_LOOKED_AT,
        most=_TERMS_LOOKED_AT if reader.is_partial else MOST_HITS,
    )
    until, hits = found.until, list[Hit]()
    for first in range(0, len(found.terms), MOST_HITS):
        some = found.terms[first : first + MOST_HITS]
        more, seen = _hits(reader, some)
        hits += more
        if len(hits) >= MOST_HITS and first + MOST_HITS < len(found.terms):
            until = min(seen)  # of what is seen: where a hidden term is must not be told
            break
    return list({hit.resource: hit for hit in reversed(hits)}.values())[::-1], until if until > 1 else None


def _hits(reader: Reader, found: Sequence[tuple[int, str]]) -> tuple[list[Hit], set[int]]:
    """The resources that terms are of, and those of the terms that are seen."""
    literals = [number for number, spelled in found if spelled.startswith('"')]
    named = reader.surveys.present([number for number, spelled in found if spelled.startswith("<")])
    predicates = list(reader.triples.predicates())
    keys = [(predicate, number) for number in literals for predicate in predicates]
    triples = reader.surveys.uses(keys[:_KEYS_LOOKED_AT], 2 * MOST_HITS) if keys else []
    terms = terms_of(reader, [*named, *(number for triple in triples for number in triple)])
    hits = [Hit(terms[s], terms[p], terms[o]) for s, p, o in sorted(triples, key=lambda triple: -triple[2])]
    hits += [Hit(terms[number]) for number in sorted(named, reverse=True)]
    return hits, {*named, *(o for _, _, o in triples)}


def _spellings(word: str) -> list[str]:
    """A word as it may stand in a text that a database made small: SQLite leaves letters beyond ASCII as they are."""
    forms = (word.lower(), word.upper(), word.capitalize())
    return list(dict.fromkeys("".join(c.lower() if c.isascii() else c for c in form) for form in forms))


def names(reader: Reader, terms: Sequence[str]) -> dict[str, str]:
    """What resources are called, by their spelling; those that are called nothing are left out.

    Of several names of one property, one without a language or in English goes first.
    """
    numbers = dict(zip(terms, reader.terms.find(terms), strict=True))
    properties = [number for number in reader.terms.find(_NAMES) if number]
    keys = [(number, property) for number in {*numbers.values()} - {0} for property in properties]
    found = dict(zip(keys, reader.triples.forward(keys), strict=True)) if keys else {}
    values = terms_of(reader, [o for triples in found.values() for _, _, o in triples])
    told: dict[str, str] = {}
    for spelled, number in numbers.items():
        for property in properties:
            here = sorted((values[o] for _, _, o in found.get((number, property), ())), key=_preference)
            if here and spelled not in told:
                told[spelled] = here[0].value
    return told


def _preference(term: Term) -> tuple[bool, str, str]:
    language = getattr(term, "language", None) or ""
    return language not in ("", "en"), language, term.value
