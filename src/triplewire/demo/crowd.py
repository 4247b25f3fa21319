"""A hundred thousand made-up subscribers, for one scene. The same crowd every time.

Their patterns are built in the normal form that `compile` gives, because to compile a hundred thousand texts would take
a minute, and the scene is about the index.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from pyoxigraph import Literal, NamedNode, Variable

from triplewire import Pattern
from triplewire.algebra.pattern import Call, Conjunction, TriplePattern

DCAT = "http://www.w3.org/ns/dcat#"
DCTERMS = "http://purl.org/dc/terms/"
THEME = "https://data.lindhaven.example/theme/"

_DATASET, _FIRST, _SECOND = (Variable(name) for name in ("dataset", "_0", "_1"))
_KEYWORD, _THEME, _DISTRIBUTION, _BYTES = (
    NamedNode(DCAT + name) for name in ("keyword", "theme", "distribution", "byteSize")
)
_TITLE = NamedNode(DCTERMS + "title")
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


def _pattern(*triples: TriplePattern, conditions: tuple[Call, ...] = ()) -> Pattern:
    return Pattern(("dataset",), (Conjunction(triples, conditions),), is_normal=True)


def _keyword(random: Random) -> Pattern:
    theme = NamedNode(THEME + random.choice(_THEMES))
    keyword = TriplePattern(_DATASET, _KEYWORD, Literal(_name(random)))
    return _pattern(keyword, TriplePattern(_DATASET, _THEME, theme))


def _word(random: Random) -> Pattern:
    contains = Call("contains", (_FIRST, Literal(_name(random))))
    return _pattern(TriplePattern(_DATASET, _TITLE, _FIRST), conditions=(contains,))


def _large_file(random: Random) -> Pattern:
    """Datasets of a theme with a file over a size, from tens of kilobytes to a gigabyte, the small ones oftener."""
    size = Literal(int(10 ** random.uniform(4.5, 9)))
    return _pattern(
        TriplePattern(_SECOND, _BYTES, _FIRST),
        TriplePattern(_DATASET, _DISTRIBUTION, _SECOND),
        TriplePattern(_DATASET, _THEME, NamedNode(THEME + random.choice(_THEMES))),
        conditions=(Call(">", (_FIRST, size)),),
    )
