"""Phrases that the description of an item in a feed must contain, in two forms.

W3: a document is one item by itself, six triples with 30 words of description; it meets about 170 of 100,000 phrases.
Phrases leave out the 150 commonest words, and half of the longer ones come from running text.

W3-FEED, which is kinder to matching, because there is more to parse for each match: a document is a feed as publishers
send it, the 15 newest items (what RSS recommends), each with 30 words in title and description and the usual Dublin
Core properties. Phrases leave out the 9,000 commonest words, so that a document meets about 255 of 100,000.

Words follow Zipf's law. Popular phrases repeat, so that some subscriptions are equal.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from pyoxigraph import Literal, NamedNode

from benchmarks.workloads.workload import Query, Workload
from triplewire.algebra.pattern import Call, Conjunction, Pattern, TriplePattern, variable
from triplewire.model import RDF, Document

RSS, DC = "http://purl.org/rss/1.0/", "http://purl.org/dc/elements/1.1/"
DESCRIPTION = RSS + "description"
ITEMS = 15
"""How many items a feed has."""

_VOCABULARY = 30_000
_WORDS_IN_A_TITLE = 6
_CONSONANTS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "ch", "st", "tr")
_VOWELS = ("a", "e", "i", "o", "u", "an", "er", "in", "on", "el")
_SYLLABLES = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]


@dataclass(frozen=True, slots=True)
class _Form:
    """What the documents and the phrases of a workload are like."""

    documents: int
    document: Callable[[_Words, int, int], Document]
    too_common: int
    lengths: tuple[int, ...]
    running: Callable[[int], float]
    """The share of the phrases of a length that come from running text."""


def generate(name: str, subscriptions: int, seed: int) -> Workload:
    """The workload of a name: W3 or W3-FEED."""
    form = _FORMS[name]
    words = _Words(seed, form.too_common)

    @cache
    def parameter(i: int) -> str:
        return words.phrase(random.Random(f"phrase {seed} {i}"), form)

    def query(i: int) -> Query:
        return Query(f'?item <{DESCRIPTION}> ?text FILTER(CONTAINS(?text, "{parameter(i)}"))')

    return Workload(
        name=name,
        subscriptions=subscriptions,
        documents=[form.document(words, seed, number) for number in range(form.documents)],
        pattern=lambda i: _pattern(parameter(i)),
        query=query,
        parameter=parameter,
    )


def _pattern(phrase: str) -> Pattern:
    triple = TriplePattern(variable("item"), NamedNode(DESCRIPTION), variable("_0"))
    condition = Call("contains", (variable("_0"), Literal(phrase)))
    return Pattern(("item",), (Conjunction((triple,), (condition,)),), is_normal=True)


class _Words:
    """A vocabulary, the commonest words first."""

    def __init__(self, seed: int, too_common: int) -> None:
        chance = random.Random(f"words {seed}")
        found: dict[str, None] = {}
        while len(found) < _VOCABULARY:
            found["".join(chance.choices(_SYLLABLES, k=chance.choice((2, 2, 3, 3, 4))))] = None
        self.words = list(found)
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(_VOCABULARY)))
        self._wanted = self.words[too_common:]
        self._wanted_weights = list(accumulate(1 / (rank + 3) for rank in range(too_common, _VOCABULARY)))

    def text(self, chance: random.Random, length: int) -> list[str]:
        return chance.choices(self.words, cum_weights=self._weights, k=length)

    def phrase(self, chance: random.Random, form: _Form) -> str:
        length = chance.choice(form.lengths)
        if chance.random() < form.running(length):
            return " ".join(self.text(chance, length))
        return " ".join(chance.choices(self._wanted, cum_weights=self._wanted_weights, k=length))


def _feed(words: _Words, seed: int, number: int) -> Document:
    lines = [line for item in range(ITEMS) for line in _rich_item(words, seed, ITEMS * number + item)]
    return Document.from_lines(f"http://news.example/feeds/{number}", "\n".join(lines).encode())


def _rich_item(words: _Words, seed: int, number: int) -> list[str]:
    link, chance = _link(number), random.Random(f"item {seed} {number}")
    return [
        *_lines(words, chance, number, 24),
        f'<{link}> <{DC}subject> "{words.text(chance, 1)[0]}" .',
        f'<{link}> <{DC}subject> "{words.text(chance, 1)[0]}" .',
        f'<{link}> <{DC}publisher> "News Example" .',
        f'<{link}> <{DC}language> "en" .',
        f"<{link}> <{DC}rights> <http://news.example/licence> .",
    ]


def _item(words: _Words, seed: int, number: int) -> Document:
    lines = _lines(words, random.Random(f"item {seed} {number}"), number, 30)
    return Document.from_lines(_link(number), "\n".join(lines).encode())


def _lines(words: _Words, chance: random.Random, number: int, length: int) -> list[str]:
    """What every item has, with so many words of description."""
    link = _link(number)
    title = " ".join(words.text(chance, _WORDS_IN_A_TITLE)).capitalize()
    description = " ".join(words.text(chance, length))
    return [
        f"<{link}> <{RDF}type> <{RSS}item> .",
        f'<{link}> <{RSS}title> "{title}" .',
        f'<{link}> <{RSS}link> "{link}" .',
        f'<{link}> <{DESCRIPTION}> "{description}" .',
        f'<{link}> <{DC}creator> "{words.text(chance, 1)[0].capitalize()}" .',
        f'<{link}> <{DC}date> "2024-{number % 12 + 1:02}-{number % 28 + 1:02}T08:00:00Z" .',
    ]


def _link(number: int) -> str:
    return f"http://news.example/items/{number}"


_FORMS = {
    "W3": _Form(10_000, _item, 150, (1, 2, 3), running=lambda length: 0.5 if length > 1 else 0.0),
    "W3-FEED": _Form(100, _feed, 9000, (1, 2, 2, 3), running=lambda length: 0.05 if length == 3 else 0.0),
}
KINDS = tuple(_FORMS)
"""The names of the workloads of this module."""
