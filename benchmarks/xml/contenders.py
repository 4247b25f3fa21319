"""Ways to find the expressions that a document matches, and what parsing alone costs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from lxml import etree

from benchmarks.alternatives.alternative import Alternative, Timed
from benchmarks.xml.workload import DESTINATIONS, Workload
from triplewire import Index, compile
from triplewire.model import Document


class ParseXml(Alternative):
    """lxml builds the tree of the document, and nothing else."""

    name = "parse"

    def ready(self, batch: Sequence[Document]) -> Timed:
        texts = [document.xml for document in batch]
        return lambda: [etree.fromstring(text) for text in texts]


class LxmlEach(Alternative):
    """One compiled XPath for each subscription, on a tree that is parsed once; a sample of them, scaled."""

    name = "lxml-each"

    def __init__(self, workload: Workload, sample: int) -> None:
        step = max(1, workload.subscriptions // sample)
        chosen = range(0, workload.subscriptions, step)
        self._workload = workload
        self._compiled = {number: _compiled(workload, number) for number in chosen}
        if len(self._compiled) < workload.subscriptions:
            self.sampled = len(self._compiled)
            self.share = len(self._compiled) / workload.subscriptions

    def ready(self, batch: Sequence[Document]) -> Timed:
        tests = list(self._compiled.values())
        texts = [document.xml for document in batch]

        def run() -> list[list[Any]]:
            found = []
            for text in texts:
                tree = etree.fromstring(text).getroottree()
                found.append([test for test in tests if test(tree)])
            return found

        return run

    def answers(self, document: Document, asked: Collection[int]) -> set[int]:
        tree = etree.fromstring(document.xml).getroottree()
        return {number for number in asked if _compiled(self._workload, number)(tree)}


class Destinations(Alternative):
    """The paper's short-cut (section 5.2): a profile is not looked at once its destination has one that matches.

    It tells destinations, not subscriptions, and looks at all of them where few match: nothing can be sampled.
    """

    name = "destinations"

    def __init__(self, workload: Workload) -> None:
        numbers = range(workload.subscriptions)
        self._profiles = [(1 << number % DESTINATIONS, _compiled(workload, number)) for number in numbers]

    def ready(self, batch: Sequence[Document]) -> Timed:
        texts, profiles = [document.xml for document in batch], self._profiles

        def run() -> list[int]:
            return [_destinations(etree.fromstring(text).getroottree(), profiles) for text in texts]

        return run


def _destinations(tree: Any, profiles: Sequence[tuple[int, Callable[[Any], Any]]]) -> int:
    computed = 0
    for destination, test in profiles:
        if not computed & destination and test(tree):
            computed |= destination
    return computed


class IndexedXml(Alternative):
    """All expressions together: the matches are found, and told when they are asked for."""

    name = "triplewire"

    def __init__(self, index: Index) -> None:
        self._index = index

    def ready(self, batch: Sequence[Document]) -> Timed:
        if len(batch) == 1:
            (document,) = batch
            return lambda: self._index.match(document)
        return lambda: self._index.match_many(batch)

    def answers(self, document: Document, asked: Collection[int]) -> set[int]:
        return {int(id) for id in self._index.match(document).subscriptions} & set(asked)

    def matches(self, document: Document) -> set[int]:
        """All subscriptions that match."""
        return {int(id) for id in self._index.match(document).subscriptions}


def build(workload: Workload, tell: Callable[[int], None]) -> Index:
    """The index of a workload."""
    index = Index()
    for number, expression in enumerate(workload.expressions):
        index.add(str(number), compile(expression, language="xpath", prefixes=workload.prefixes))
        if number % 1000 == 0:
            tell(number)
    return index


def _compiled(workload: Workload, number: int) -> Callable[[Any], Any]:
    return etree.XPath(workload.expressions[number], namespaces=dict(workload.prefixes))
