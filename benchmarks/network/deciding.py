"""Deciding where a document goes, at a controller with profiles in 32 sub-units; next to finding all that match."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import median
from time import perf_counter

from benchmarks.measure import undisturbed
from benchmarks.xml import menu
from benchmarks.xml.workload import DESTINATIONS
from triplewire import compile, parse
from triplewire.model import Document
from triplewire.network.routing.interests import interest_of
from triplewire.network.routing.messages import DocumentSent
from triplewire.network.routing.watches import WatchIndex

DOCUMENTS = 50
PAPER_MILLISECONDS = "120 to 170"
"""Figure 2 of the brokering paper with the short-cut, on a machine of 2003; without it, 3 for each profile."""


@dataclass(frozen=True, slots=True)
class Deciding:
    """What a document costs a controller, the median: to find the sub-units that want it."""

    part: str = field(default="deciding", init=False)
    workload: str
    profiles: int
    reached: float
    """Sub-units, on average."""
    deciding: float
    """Microseconds with the short-cut."""
    finding: float
    """Microseconds to find all profiles that match, and their sub-units."""


def prices(count: int, seed: int) -> tuple[str, list[str], list[Document]]:
    """The paper's profiles, asked of triples."""
    chance = Random(seed)
    texts = [f"SELECT ?d {{ ?d <urn:price> ?x FILTER(?x > {chance.uniform(0, 5.5):.4f}) }}" for _ in range(count)]
    said = [f"<urn:d{n}> <urn:price> {chance.uniform(0.5, 5):.2f} ." for n in range(DOCUMENTS)]
    return "sparql", texts, [parse(text, uri=f"urn:doc{n}") for n, text in enumerate(said)]


def menus(count: int, seed: int) -> tuple[str, list[str], list[Document]]:
    """The paper's profiles and documents (figure 4)."""
    workload = menu.profiles(count, seed)
    return "xpath", [*workload.expressions], [*workload.documents[:DOCUMENTS]]


WORKLOADS: dict[str, Callable[[int, int], tuple[str, list[str], list[Document]]]] = {"MENU": menus, "PRICES": prices}


def measure_deciding(name: str, profiles: int, seed: int, tell: Callable[[str], None]) -> Deciding:
    """Both ways must reach the same."""
    language, texts, documents = WORKLOADS[name](profiles, seed)
    ways = [WatchIndex(lambda peer: 1 << int(peer), short_cut=short_cut) for short_cut in (True, False)]
    for number, text in enumerate(texts):
        interest = interest_of(compile(text, language=language))
        for way in ways:
            way.watch(str(number % DESTINATIONS), interest, 0.0)
        if number % 1000 == 0:
            tell(f"{number:,} profiles")
    sent = [DocumentSent("origin", document.uri, 1, 1.0, document) for document in documents]
    reached = [[len(peers) for peers in _reached(way, sent)] for way in ways]
    if reached[0] != reached[1]:
        raise AssertionError(f"{name}: the short-cut reaches other sub-units")
    with undisturbed():
        times = [median(_times(way, sent)) for way in ways]
    return Deciding(name, profiles, sum(reached[0]) / len(sent), *times)


def _reached(way: WatchIndex, sent: Sequence[DocumentSent]) -> Iterator[set[str]]:
    return (way.found(each, "", 0)[0] for each in sent)


def _times(way: WatchIndex, sent: Sequence[DocumentSent]) -> Iterator[float]:
    for each in sent:
        before = perf_counter()
        way.found(each, "", 0)
        yield (perf_counter() - before) * 1e6
