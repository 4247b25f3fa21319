"""CATALOGUE: an open-data catalogue, as its subscribers see it.

Datasets have a title, a publisher, a theme and distributions; publishers and distributions are documents of their own,
so that most subscriptions are answered across documents, in whatever order these come. Themes form a taxonomy.
Vocabularies (themes, names, words) grow with the number of subscriptions, as interests do: a document matches about as
many of 10,000 subscriptions as of 100,000. The number of publishers grows with the catalogue, except that one of them
has every twentieth dataset. Formats are few and popular, so that no plan may begin with them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from benchmarks.engine.catalogue_subscriptions import (
    DCAT,
    DCTERMS,
    FOAF,
    Vocabulary,
    pattern,
    query,
    rule,
    wish_of,
)
from benchmarks.engine.workload import Change, History, Workload
from triplewire.model import RDF, Document

NEW, UPDATED = 0.7, 0.2
"""The shares of a history's changes; the others are retractions."""

_DATASETS_OF_A_PUBLISHER = 20
_GREAT_PUBLISHER_SHARE = 0.05
_RECENT = 100
_WORDS_IN_A_TITLE = 6
_SITE = "http://catalogue.example/"


def generate(name: str, subscriptions: int, seed: int = 1) -> Workload:
    """The workload with so many subscriptions."""
    vocabulary = Vocabulary(subscriptions, seed)
    return Workload(
        name=name,
        subscriptions=subscriptions,
        pattern=lambda i: pattern(wish_of(vocabulary, i)),
        query=lambda i: query(wish_of(vocabulary, i)),
        rule=lambda i: rule(wish_of(vocabulary, i)),
        history=lambda: Catalogue(vocabulary, random.Random(f"catalogue {subscriptions} {seed}")),
        matches=10,
        taxonomy=vocabulary.taxonomy,
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """What a document of the catalogue says; which fields count depends on its kind."""

    kind: str
    number: int
    words: str = ""
    """The title of a dataset, the name of a publisher, the format of a distribution."""
    publisher: int = 0
    theme: int = 0
    distributions: tuple[int, ...] = ()
    revision: int = 1

    @property
    def uri(self) -> str:
        return f"{_SITE}{self.kind}/{self.number}"

    def document(self) -> Document:
        """The document, with one resource of the same name."""
        me = f"<{self.uri}>"
        lines = [f"{me} <{predicate}> {object} ." for predicate, object in self._statements()]
        return Document.from_lines(self.uri, "\n".join(lines).encode())

    def _statements(self) -> Iterable[tuple[str, str]]:
        if self.kind == "publisher":
            yield RDF + "type", f"<{FOAF}Organization>"
            yield FOAF + "name", f'"{self.words}"'
            yield FOAF + "homepage", f"<http://publisher{self.number}.example/{self.revision}>"
        elif self.kind == "distribution":
            yield RDF + "type", f"<{DCAT}Distribution>"
            yield DCTERMS + "format", f'"{self.words}"'
            yield DCAT + "downloadURL", f"<{_SITE}files/{self.number}/{self.revision}>"
        else:
            yield RDF + "type", f"<{DCAT}Dataset>"
            yield DCTERMS + "title", f'"{self.words}"'
            yield DCTERMS + "publisher", f"<{_SITE}publisher/{self.publisher}>"
            yield DCTERMS + "identifier", f'"{self.number}-{self.revision}"'
            yield DCAT + "theme", f"{Vocabulary.theme(self.theme)}"
            for number in self.distributions:
                yield DCAT + "distribution", f"<{_SITE}distribution/{number}>"


class Catalogue(History):
    """New entries, updates and retractions in a random order; entries that refer to each other come in any order."""

    def __init__(self, vocabulary: Vocabulary, chance: random.Random) -> None:
        self._vocabulary, self._chance = vocabulary, chance
        self._counts = {"publisher": 0, "dataset": 0, "distribution": 0}
        self._coming: list[Entry] = []
        self._live: list[Entry] = []

    def background(self, triples: int) -> Iterator[Document]:
        held = 0
        while held < triples:
            entry = self._new()
            self._live.append(entry)
            document = entry.document()
            held += len(document)
            yield document

    def batch(self, size: int) -> list[Change]:
        """Only what was there before the batch is changed by it, so that no document changes twice in it."""
        before, fresh, found = len(self._live), [], []
        for _ in range(size):
            drawn = self._chance.random()
            if drawn < NEW or not before:
                fresh.append(self._new())
                found.append(_published(fresh[-1]))
                continue
            before -= 1
            entry = self._take(before)
            if drawn < NEW + UPDATED or entry.uri == f"{_SITE}publisher/0":
                fresh.append(self._updated(entry))
                found.append(_published(fresh[-1]))
            else:
                found.append(Change(entry.uri, None))
        self._live += fresh
        return found

    def _take(self, last: int) -> Entry:
        """Take any one of the first entries out; `last` is the place of the last of those."""
        place = self._chance.randint(0, last)
        self._live[place], self._live[last] = self._live[last], self._live[place]
        return self._live.pop(last)

    def _new(self) -> Entry:
        if not self._coming:
            self._coming = self._newcomers()
        return self._coming.pop()

    def _newcomers(self) -> list[Entry]:
        """A dataset and its distributions, now and then with a publisher, in any order."""
        chance, found = self._chance, []
        if self._counts["dataset"] % _DATASETS_OF_A_PUBLISHER == 0:
            name = self._vocabulary.name(chance.randrange(self._vocabulary.names))
            found.append(Entry("publisher", self._next("publisher"), name))
        files = [
            Entry("distribution", self._next("distribution"), self._vocabulary.format(chance))
            for _ in range(chance.randint(1, 2))
        ]
        dataset = Entry(
            kind="dataset",
            number=self._next("dataset"),
            words=self._title(),
            publisher=self._publisher(),
            theme=chance.randrange(self._vocabulary.themes),
            distributions=tuple(file.number for file in files),
        )
        found += [dataset, *files]
        chance.shuffle(found)
        return found

    def _next(self, kind: str) -> int:
        self._counts[kind] += 1
        return self._counts[kind] - 1

    def _publisher(self) -> int:
        """The great one, one of the last hundred, or any."""
        count, drawn = self._counts["publisher"], self._chance.random()
        if drawn < _GREAT_PUBLISHER_SHARE:
            return 0
        return self._chance.randrange(max(0, count - _RECENT) if drawn < 0.5 else 0, count)

    def _title(self) -> str:
        words = (
            self._vocabulary.word(self._chance.randrange(self._vocabulary.words)) for _ in range(_WORDS_IN_A_TITLE)
        )
        return " ".join(words)

    def _updated(self, entry: Entry) -> Entry:
        """Half of the updates touch what subscriptions ask for."""
        chance, new = self._chance, replace(entry, revision=entry.revision + 1)
        if chance.random() < 0.5:
            return new
        if entry.kind == "distribution":
            return replace(new, words=self._vocabulary.format(chance))
        if entry.kind == "dataset":
            return replace(new, words=self._title(), theme=chance.randrange(self._vocabulary.themes))
        if entry.number == 0:
            return new
        return replace(new, words=self._vocabulary.name(chance.randrange(self._vocabulary.names)))


def _published(entry: Entry) -> Change:
    return Change(entry.uri, entry.document())
