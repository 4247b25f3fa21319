"""Surveys: what is there, for people who look around: classes, facets, text, names (M9).

Every question has a bound, so that looking around costs the same on a store of any size; what is cut off is told.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from triplewire.algebra.taxonomy import Taxonomy
from triplewire.engine.inspect.graphs import numbers_of, terms_of
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
_TERMS_LOOKED_AT = 200_000
_KEYS_LOOKED_AT = 20_000
_MOST_PREDICATES = 1_000
"""Properties by which a text is looked for; as many for each term, so that hidden terms take nothing from others."""
_MOST_WORDS = 8
TYPE = f"<{RDF}type>"
NAMES = tuple(
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

Found = tuple[int, str]
"""A term: its number, and its spelling."""
Called = Mapping[str, Sequence[str]]
"""What the given taxonomy calls its nodes, by their spelling: names, the one to be shown first."""


@dataclass(frozen=True, slots=True)
class ClassFound:
    """A class of resources, or a node of the taxonomy.

    `instances` counts resources that are stated to be of it, `uses` every other triple with it as the value; both are
    counted up to MOST_COUNTED. `used_by` is the property of most of these uses, or of those of what is below it.
    `resources` are those that have the node, or one below it: by their class where it has instances, else by
    `used_by`. So many does `select` find, counted up to MOST_RESOURCES.
    """

    iri: Term
    instances: int
    uses: int
    used_by: Term | None
    parents: tuple[Term, ...]
    resources: int = 0


@dataclass(frozen=True, slots=True)
class TaxonomyPlace:
    """A node in the taxonomy, with those one step above and one step below it."""

    node: ClassFound
    parents: tuple[ClassFound, ...]
    children: tuple[ClassFound, ...]


@dataclass(frozen=True, slots=True)
class Facet:
    """A property, how many resources of a selection have it, and its most frequent values of `values_in_all`."""

    property: Term
    resources: int
    values: tuple[tuple[Term, int], ...]
    values_in_all: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Resources that have something in common; `has_more` says that there are others, which were not looked at.

    `count` is how many there are, counted up to MOST_RESOURCES.
    """

    resources: tuple[Term, ...]
    facets: tuple[Facet, ...]
    has_more: bool
    count: int = 0


@dataclass(frozen=True, slots=True)
class TextHit:
    """A resource that a text was found of: in the value of a property, or, without one, in its IRI."""

    resource: Term
    property: Term | None = None
    value: Term | None = None


@dataclass(frozen=True, slots=True)
class FacetChoice:
    """A narrowing: a property with this value; with `is_a`, or with one that is below it in the taxonomy."""

    property: str
    value: str
    is_a: bool = False


def classes(reader: Reader, taxonomy: Taxonomy) -> tuple[list[ClassFound], bool]:
    """The classes that resources are of, and the nodes of the taxonomy; and whether there are more."""
    (kind,) = reader.terms.find([TYPE])
    numbers = reader.surveys.values(kind, MOST_CLASSES + 1) if kind else []
    broad = dict.fromkeys(node for pair in islice(taxonomy.below(), MOST_CLASSES) for node in pair)
    stated = terms_of(reader, numbers[:MOST_CLASSES])
    found = dict.fromkeys([*(stated[number] for number in numbers[:MOST_CLASSES]), *broad])
    return _described(reader, taxonomy, list(found)), len(numbers) > MOST_CLASSES


def place(reader: Reader, taxonomy: Taxonomy, node: Term) -> TaxonomyPlace:
    """Where a node stands in the taxonomy; one that is not in it stands alone."""
    above, below = taxonomy.parents(node), tuple(islice(taxonomy.children(node), MOST_BELOW))
    told = {each.iri: each for each in _described(reader, taxonomy, [*dict.fromkeys((node, *above, *below))])}
    return TaxonomyPlace(told[node], tuple(told[each] for each in above), tuple(told[each] for each in below))


def _described(reader: Reader, taxonomy: Taxonomy, nodes: Sequence[Term]) -> list[ClassFound]:
    families = {node: [node, *islice(taxonomy.descendants(node), MOST_BELOW)] for node in nodes}
    spelled = [*dict.fromkeys(str(member) for family in families.values() for member in family)]
    kind, *found = reader.terms.find([TYPE, *spelled])
    numbers = dict(zip(spelled, found, strict=True))
    known = [number for number in found if number]
    degrees = reader.triples.degrees([(kind, number) for number in known], MOST_COUNTED) if kind else []
    instances = {number: degree for number, degree in zip(known, degrees, strict=False) if degree}
    uses = _uses(reader, [number for number in known if number not in instances], kind)
    narrowings = list[tuple[int, list[int]]]()
    for family in families.values():
        members = [number for member in family if (number := numbers[str(member)])]
        narrowings.append((_property_of(members, numbers[str(family[0])], instances, uses, kind), members))
    extents = reader.surveys.extents([(by, some if by else []) for by, some in narrowings], MOST_RESOURCES)
    properties = terms_of(reader, {by for by, _ in narrowings if by})
    told = []
    for node, (by, _), extent in zip(nodes, narrowings, extents, strict=True):
        number = numbers[str(node)]
        own, used = instances.get(number, 0), min(MOST_COUNTED, uses.get(number, Counter[int]()).total())
        used_by = None if own or not by else properties[by]
        told.append(ClassFound(node, own, used, used_by, taxonomy.parents(node), extent))
    return told


def _property_of(
    members: Sequence[int], own: int, instances: Mapping[int, int], uses: Mapping[int, Counter[int]], kind: int
) -> int:
    """The property by which resources have a node, or else those below it; 0 if none has any of them."""
    if own in instances or (own not in uses and any(member in instances for member in members)):
        return kind
    used = uses.get(own) or sum((uses[member] for member in members if member in uses), Counter[int]())
    return used.most_common(1)[0][0] if used else 0


def _uses(reader: Reader, numbers: Sequence[int], kind: int) -> dict[int, Counter[int]]:
    """How many triples of each property have each as the value, besides those that the taxonomy is made of."""
    structure = {kind, *reader.terms.find([f"<{RDFS}subClassOf>", f"<{RDFS}subPropertyOf>"])}
    seen = reader.surveys.predicates(_KEYS_LOOKED_AT + len(structure))
    predicates = [predicate for predicate in seen if predicate not in structure]
    keys = list(islice(((p, number) for number in numbers for p in predicates), _KEYS_LOOKED_AT))
    found: dict[int, Counter[int]] = {}
    for (p, number), count in zip(keys, reader.triples.degrees(keys, MOST_COUNTED) if keys else (), strict=True):
        if count:
            found.setdefault(number, Counter())[p] = count
    return found


def select(reader: Reader, taxonomy: Taxonomy, wanted: Sequence[FacetChoice], *, limit: int) -> Selection:
    """The resources that have all that is wanted, and the facets by which they can be narrowed further."""
    narrowings = [_narrowing(reader, taxonomy, each) for each in wanted]
    if not narrowings or not all(predicate and values for predicate, values in narrowings):
        return Selection((), (), False)
    costs = [sum(reader.triples.degrees([(p, v) for v in vs], _LOOKED_AT)) for p, vs in narrowings]
    ordered = [narrowing for _, narrowing in sorted(zip(costs, narrowings, strict=True), key=lambda pair: pair[0])]
    subjects = reader.surveys.subjects(ordered, looked_at=_LOOKED_AT, most=MOST_RESOURCES + 1)
    has_more = len(subjects) > MOST_RESOURCES or min(costs) >= _LOOKED_AT
    subjects = subjects[:MOST_RESOURCES]
    triples = reader.surveys.about(subjects, _LOOKED_AT)
    terms = terms_of(reader, subjects[:limit])
    resources = tuple(terms[n] for n in subjects[:limit])
    return Selection(resources, tuple(_facets(reader, triples)), has_more, len(subjects))


def _narrowing(reader: Reader, taxonomy: Taxonomy, wanted: FacetChoice) -> tuple[int, list[int]]:
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


def search(
    reader: Reader, taxonomy: Taxonomy, called: Called, text: str, *, before: int | None = None
) -> tuple[list[TextHit], int | None]:
    """Resources with all words of a text in their IRI or in one value, newest first; and where to go on.

    There is no index of words: a question looks at so many terms, and the next one goes on from there. Nodes of the
    taxonomy come with the first one, whether a document speaks of them or not.
    """
    words = [_spellings(word) for word in text.split()[:_MOST_WORDS]]
    if not words:
        return [], None
    nodes = _nodes_with(taxonomy, called, text.split()[:_MOST_WORDS]) if before is None else []
    found = reader.surveys.terms_with(
        words,
        before=before if before is not None else 1 << 60,
        looked_at=_TERMS_LOOKED_AT,
        most=MOST_HITS + 1,
    )
    predicates = reader.surveys.predicates(_MOST_PREDICATES)
    seen = list(islice(_seen(reader, found.terms, predicates), MOST_HITS + 1))
    hits = _hits(reader, seen[:MOST_HITS], predicates)
    until = seen[MOST_HITS - 1][0] if len(seen) > MOST_HITS else found.until  # of what is seen: others are not told
    told = {hit.resource: hit for hit in reversed([*hits, *nodes])}
    return list(told.values())[::-1], until if until > 1 else None


def _nodes_with(taxonomy: Taxonomy, called: Called, words: Sequence[str]) -> list[TextHit]:
    """Nodes of the taxonomy with all words in their IRI, or in one of the names that it gives them."""
    wanted = [word.lower() for word in words]

    def fits(node: Term) -> bool:
        texts = (text.lower() for text in (node.value, *called.get(str(node), ())))
        return any(all(word in text for word in wanted) for text in texts)

    return [TextHit(node) for node in islice(filter(fits, islice(taxonomy.nodes(), _TERMS_LOOKED_AT)), MOST_HITS)]


def _seen(reader: Reader, found: Sequence[Found], predicates: Sequence[int]) -> Iterator[Found]:
    """Those that are the subject or the value of something; they are looked at as far as they are asked for."""
    step = _KEYS_LOOKED_AT // (len(predicates) + 1)
    for first in range(0, len(found), step):
        some = found[first : first + step]
        there = reader.surveys.present([number for number, spelled in some if spelled.startswith("<")])
        there |= _values(reader, [number for number, _ in some if number not in there], predicates)
        yield from (each for each in some if each[0] in there)


def _hits(reader: Reader, seen: Sequence[Found], predicates: Sequence[int]) -> list[TextHit]:
    literals = [number for number, spelled in seen if spelled.startswith('"')]
    named = [number for number, spelled in seen if spelled.startswith("<")]
    keys = [(predicate, number) for number in literals for predicate in predicates]
    triples = reader.surveys.uses(keys, 2 * MOST_HITS) if keys else []
    terms = terms_of(reader, [*named, *(number for triple in triples for number in triple)])
    hits = [TextHit(terms[s], terms[p], terms[o]) for s, p, o in sorted(triples, key=lambda triple: -triple[2])]
    return hits + [TextHit(terms[number]) for number in sorted(named, reverse=True)]


def _values(reader: Reader, numbers: Sequence[int], predicates: Sequence[int]) -> set[int]:
    keys = [(predicate, number) for number in numbers for predicate in predicates]
    degrees = reader.triples.degrees(keys, 1) if keys else []
    return {number for (_, number), count in zip(keys, degrees, strict=True) if count}


def _spellings(word: str) -> list[str]:
    """A word as it may stand in a text that a database made small: SQLite leaves letters beyond ASCII as they are."""
    forms = (word.lower(), word.upper(), word.capitalize())
    return list(dict.fromkeys("".join(c.lower() if c.isascii() else c for c in form) for form in forms))


def names(reader: Reader, called: Called, terms: Sequence[str]) -> dict[str, str]:
    """What resources are called, by their spelling; those that are called nothing are left out.

    Of several names of one property, one without a language or in English goes first. What no document gives a name
    has the one that the taxonomy gives it.
    """
    numbers = numbers_of(reader, terms)
    properties = [number for number in reader.terms.find(NAMES) if number]
    keys = [(number, property) for number in {*numbers.values()} - {0} for property in properties]
    found = dict(zip(keys, reader.triples.forward(keys), strict=True)) if keys else {}
    values = terms_of(reader, [o for triples in found.values() for _, _, o in triples])
    told: dict[str, str] = {}
    for spelled, number in numbers.items():
        for property in properties:
            here = sorted((values[o] for _, _, o in found.get((number, property), ())), key=preference)
            if here and spelled not in told:
                told[spelled] = here[0].value
        if spelled not in told and called.get(spelled):
            told[spelled] = called[spelled][0]
    return told


def preference(name: Term) -> tuple[bool, str, str]:
    """To sort names by: one without a language or in English goes first."""
    language = getattr(name, "language", None) or ""
    return language not in ("", "en"), language, name.value
