"""The subscriptions of CATALOGUE: five shapes, each as a pattern, as SPARQL and as MDV's atomic rules."""

from __future__ import annotations

import random
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from benchmarks.engine.filter_rules import Reference, Rule, Same, Trigger
from triplewire.algebra.pattern import Call, Conjunction, Expression, Pattern, TriplePattern, variable
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.model import RDF, RDFS

DCAT = "http://www.w3.org/ns/dcat#"
DCTERMS = "http://purl.org/dc/terms/"
FOAF = "http://xmlns.com/foaf/0.1/"

SHAPES = ("theme", "publisher", "title", "format", "combination")
"""A fifth of the subscriptions each: below a theme; of a publisher with a name; with a word in the title; of a theme
exactly and in a format; and below a theme, of a publisher with a name, in a format."""

_FORMATS = 40
_CHILDREN = 8
_SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "wo", "xu", "za")


@dataclass(frozen=True, slots=True)
class Wish:
    """What one subscription asks for; None where it does not care."""

    below: NamedNode | None = None
    theme: NamedNode | None = None
    name: str | None = None
    word: str | None = None
    format: str | None = None


class Vocabulary:
    """Themes, names, words and formats for so many subscriptions."""

    def __init__(self, subscriptions: int, seed: int) -> None:
        self.seed = seed
        self.themes = max(_CHILDREN + 1, subscriptions // 10)
        self.names = max(10, subscriptions // 10)
        self.words = max(20, subscriptions // 2)
        below = [(self.theme(i), self.theme((i - 1) // _CHILDREN)) for i in range(1, self.themes)]
        self.taxonomy = Taxonomy(below)

    @staticmethod
    def theme(number: int) -> NamedNode:
        """0 is above all others."""
        return NamedNode(f"http://themes.example/t{number}")

    @staticmethod
    def name(number: int) -> str:
        """A publisher's."""
        return f"Office of {_word(number)} affairs"

    @staticmethod
    def word(number: int) -> str:
        """One that no other word contains, because all of them begin and end alike."""
        return _word(number)

    @staticmethod
    def format(chance: random.Random) -> str:
        """The first ones are the popular ones."""
        return f"format-{int(_FORMATS ** chance.random())}"


def _word(number: int) -> str:
    """The number in syllables: `Qbaruq`. The ends mark it, so that it is part of no other."""
    digits: list[str] = []
    while number or not digits:
        number, digit = divmod(number, len(_SYLLABLES))
        digits.append(_SYLLABLES[digit])
    return f"Q{''.join(digits)}q"


def wish_of(vocabulary: Vocabulary, i: int) -> Wish:
    """What the subscription of a number asks for."""
    chance = random.Random(f"wish {vocabulary.seed} {i}")
    kind = SHAPES[i % len(SHAPES)]
    theme = vocabulary.theme(chance.randrange(1, vocabulary.themes))
    name = vocabulary.name(chance.randrange(vocabulary.names))
    if kind == "theme":
        return Wish(below=theme)
    if kind == "publisher":
        return Wish(name=name)
    if kind == "title":
        return Wish(word=vocabulary.word(chance.randrange(vocabulary.words)))
    if kind == "format":
        return Wish(theme=theme, format=vocabulary.format(chance))
    broad = vocabulary.theme(chance.randint(1, _CHILDREN))
    return Wish(below=broad, name=name, format=vocabulary.format(chance))


_D, _T, _P, _F, _X = map(variable, ("d", "t", "p", "f", "x"))


def pattern(wish: Wish) -> Pattern:
    """The triples in a fixed order, so that wishes of one shape are patterns of one shape."""
    triples = [TriplePattern(_D, NamedNode(RDF + "type"), NamedNode(DCAT + "Dataset"))]
    conditions: list[Expression] = []
    if wish.word is not None:
        triples.append(TriplePattern(_D, NamedNode(DCTERMS + "title"), _X))
        conditions.append(Call("contains", (_X, Literal(wish.word))))
    if wish.theme is not None:
        triples.append(TriplePattern(_D, NamedNode(DCAT + "theme"), wish.theme))
    if wish.below is not None:
        triples.append(TriplePattern(_D, NamedNode(DCAT + "theme"), _T))
        conditions.append(Call("descendant-or-self", (_T, wish.below)))
    if wish.name is not None:
        triples.append(TriplePattern(_D, NamedNode(DCTERMS + "publisher"), _P))
        triples.append(TriplePattern(_P, NamedNode(FOAF + "name"), Literal(wish.name)))
    if wish.format is not None:
        triples.append(TriplePattern(_D, NamedNode(DCAT + "distribution"), _F))
        triples.append(TriplePattern(_F, NamedNode(DCTERMS + "format"), Literal(wish.format)))
    return Pattern(("d",), (Conjunction(tuple(triples), tuple(conditions)),), is_normal=True)


def query(wish: Wish) -> str:
    """In the order and the form that pyoxigraph answers fastest: the class, which every dataset has, is only tested."""
    parts = []
    if wish.name is not None:
        parts.append(f'?p <{FOAF}name> "{wish.name}" . ?d <{DCTERMS}publisher> ?p .')
    if wish.theme is not None:
        parts.append(f"?d <{DCAT}theme> {wish.theme} .")
    if wish.format is not None:
        parts.append(f'?d <{DCAT}distribution> ?f . ?f <{DCTERMS}format> "{wish.format}" .')
    if wish.below is not None:
        parts.append(f"{wish.below} (^<{RDFS}subClassOf>)*/^<{DCAT}theme> ?d .")
    if wish.word is not None:
        parts.append(f'?d <{DCTERMS}title> ?x FILTER(CONTAINS(?x, "{wish.word}"))')
    return f"SELECT DISTINCT ?d {{ {' '.join(parts)} FILTER EXISTS {{ ?d a <{DCAT}Dataset> }} }}"


def rule(wish: Wish) -> Rule:
    """Conditions on the dataset first, joined by being the same; then what it refers to."""
    own: list[Rule] = []
    if wish.word is not None:
        own.append(Trigger(DCAT + "Dataset", DCTERMS + "title", "contains", wish.word))
    if wish.theme is not None:
        own.append(Trigger(DCAT + "Dataset", DCAT + "theme", "=", wish.theme.value))
    if wish.below is not None:
        own.append(Trigger(DCAT + "Dataset", DCAT + "theme", "is-a", wish.below.value))
    found = own[0] if own else Trigger(DCAT + "Dataset")
    for other in own[1:]:
        found = Same(found, other)
    if wish.name is not None:
        publisher = Trigger(FOAF + "Organization", FOAF + "name", "=", wish.name)
        found = Reference(found, DCTERMS + "publisher", publisher)
    if wish.format is not None:
        file = Trigger(DCAT + "Distribution", DCTERMS + "format", "=", wish.format)
        found = Reference(found, DCAT + "distribution", file)
    return found
