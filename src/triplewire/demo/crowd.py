"""A hundred thousand made-up subscribers, for the last scene. The same crowd every time."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from pyoxigraph import Literal, NamedNode, Variable

from triplewire import Pattern
from triplewire.algebra.pattern import Call, Conjunction, TriplePattern

DCAT = "http://www.w3.org/ns/dcat#"
DCTERMS = "http://purl.org/dc/terms/"
THEME = "https://data.lindhaven.example/theme/"

_DATASET, _FILE, _SIZE, _TITLE = (Variable(name) for name in ("dataset", "file", "size", "title"))
_THEMES = (
    "BathingWater",
    "Floods",
    "AirQuality",
    "Noise",
    "Trees",
    "Cycling",
    "Parking",
    "Budget",
    "Schools",
    "Libraries",
)
_SYLLABLES = ("ba", "der", "fin", "gu", "hal", "ja", "kor", "lin", "mo", "nar", "pel", "ru", "sta", "ti", "vel", "zo")


def crowd(size: int) -> Iterator[tuple[str, Pattern]]:
    """Ids and patterns: keywords, words in titles, and large files of a theme, in equal parts."""
    random = Random(2025)
    kinds = (_keyword, _word, _large_file)
    for number in range(size):
        yield f"citizen-{number}", kinds[number % len(kinds)](random)


def _name(random: Random) -> str:
    return "".join(random.choices(_SYLLABLES, k=4))


def _property(namespace: str, name: str) -> NamedNode:
    return NamedNode(namespace + name)


def _keyword(random: Random) -> Pattern:
    """Datasets with a keyword and a theme."""
    theme = NamedNode(THEME + random.choice(_THEMES))
    triples = (
        TriplePattern(_DATASET, _property(DCAT, "keyword"), Literal(_name(random))),
        TriplePattern(_DATASET, _property(DCAT, "theme"), theme),
    )
    return Pattern(("dataset",), (Conjunction(triples),))


def _word(random: Random) -> Pattern:
    """Datasets with a word in the title."""
    triples = (TriplePattern(_DATASET, _property(DCTERMS, "title"), _TITLE),)
    return Pattern(("dataset",), (Conjunction(triples, (Call("contains", (_TITLE, Literal(_name(random)))),)),))


def _large_file(random: Random) -> Pattern:
    """Datasets of a theme with a file over a size, from tens of kilobytes to a gigabyte, the small ones oftener."""
    size = Literal(int(10 ** random.uniform(4.5, 9)))
    triples = (
        TriplePattern(_DATASET, _property(DCAT, "theme"), NamedNode(THEME + random.choice(_THEMES))),
        TriplePattern(_DATASET, _property(DCAT, "distribution"), _FILE),
        TriplePattern(_FILE, _property(DCAT, "byteSize"), _SIZE),
    )
    return Pattern(("dataset",), (Conjunction(triples, (Call(">", (_SIZE, size)),)),))
