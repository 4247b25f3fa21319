"""W3: phrases that the description of an item in a feed must contain.

A document is a feed as publishers send it: the 15 newest items (what RSS recommends), each with 30 words in title and
description and the usual Dublin Core properties; a document meets about 255 of 100,000 phrases.
Words follow Zipf's law. Nobody subscribes to the commonest words, so phrases leave these out; among the others popular
ones repeat, so that some subscriptions are equal. Some of the longer phrases come from running text, so they occur.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import accumulate

from pyoxigraph import Literal, NamedNode

from benchmarks.workloads.workload import Query, Workload
from triplewire.algebra.pattern import Call, Conjunction, Pattern, TriplePattern, variable
from triplewire.model import RDF, Document

RSS, DC = "http://purl.org/rss/1.0/", "http://purl.org/dc/elements/1.1/"
DESCRIPTION = RSS + "description"
DOCUMENTS = 100
ITEMS = 15
WORDS_IN_A_TITLE, WORDS_IN_A_DESCRIPTION = 6, 24
_VOCABULARY = 30_000
_TOO_COMMON = 9000
_CONSONANTS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "ch", "st", "tr")
_VOWELS = ("a", "e", "i", "o", "u", "an", "er", "in", "on", "el")
_SYLLABLES = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]


def generate(subscriptions: int, seed: int) -> Workload:
    """The workload W3."""
    words = _Words(seed)

    @cache
    def parameter(i: int) -> str:
        return words.phrase(random.Random(f"phrase {seed} {i}"))

    def query(i: int) -> Query:
        return Query(f'?item <{DESCRIPTION}> ?text FILTER(CONTAINS(?text, "{parameter(i)}"))')

    return Workload(
        name="W3",
        subscriptions=subscriptions,
        documents=[_feed(words, seed, number) for number in range(DOCUMENTS)],
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

    def __init__(self, seed: int) -> None:
        chance = random.Random(f"words {seed}")
        found: dict[str, None] = {}
        while len(found) < _VOCABULARY:
            found["".join(chance.choices(_SYLLABLES, k=chance.choice((2, 2, 3, 3, 4))))] = None
        self.words = list(found)
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(_VOCABULARY)))
        self._rare = list(accumulate(1 / (rank + 3) for rank in range(_TOO_COMMON, _VOCABULARY)))

    def text(self, chance: random.Random, length: int) -> list[str]:
        return chance.choices(self.words, cum_weights=self._weights, k=length)

    def phrase(self, chance: random.Random) -> str:
        length = chance.choice((1, 2, 2, 3))
        if length == 3 and chance.random() < 0.05:
            return " ".join(self.text(chance, length))
        return " ".join(chance.choices(self.words[_TOO_COMMON:], cum_weights=self._rare, k=length))


def _feed(words: _Words, seed: int, number: int) -> Document:
    lines = [line for item in range(ITEMS) for line in _item(words, seed, ITEMS * number + item)]
    return Document.from_lines(f"http://news.example/feeds/{number}", "\n".join(lines).encode())


def _item(words: _Words, seed: int, number: int) -> list[str]:
    chance = random.Random(f"item {seed} {number}")
    link = f"http://news.example/items/{number}"
    title = " ".join(words.text(chance, WORDS_IN_A_TITLE)).capitalize()
    description = " ".join(words.text(chance, WORDS_IN_A_DESCRIPTION))
    return [
        f"<{link}> <{RDF}type> <{RSS}item> .",
        f'<{link}> <{RSS}title> "{title}" .',
        f'<{link}> <{RSS}link> "{link}" .',
        f'<{link}> <{DESCRIPTION}> "{description}" .',
        f'<{link}> <{DC}creator> "{words.text(chance, 1)[0].capitalize()}" .',
        f'<{link}> <{DC}date> "2024-{number % 12 + 1:02}-{number % 28 + 1:02}T08:00:00Z" .',
        f'<{link}> <{DC}subject> "{words.text(chance, 1)[0]}" .',
        f'<{link}> <{DC}subject> "{words.text(chance, 1)[0]}" .',
        f'<{link}> <{DC}publisher> "News Example" .',
        f'<{link}> <{DC}language> "en" .',
        f"<{link}> <{DC}rights> <http://news.example/licence> .",
    ]
