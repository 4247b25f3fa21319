"""Forwarding: what a document costs a hub that passes it on, next to matching it in the index alone.

A hub of a cube has the interests of its neighbours, overlapping ones, and is sent documents by one of them: each is
taken off the link, matched, kept, and sent on to those that want it, as frames, with the hub's durable state changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import median
from time import perf_counter

from benchmarks.measure import undisturbed
from triplewire import Index, compile, parse
from triplewire.model import Document
from triplewire.network.hypercube import CubeTopology, corner, neighbours
from triplewire.network.link import LogEntry, Timing
from triplewire.network.routing import Advertise, Advertisement, DocumentSent, RoutingHub, RoutingState, Subscribe
from triplewire.network.routing.interests import interest_of

DOCUMENTS = 200
DIMENSIONS = 8
PROPERTIES = 50


@dataclass(frozen=True, slots=True)
class Forwarding:
    """What a document costs, the median in microseconds: to forward it, and to match it alone."""

    part: str = field(default="forwarding", init=False)
    interests: int
    sent: float
    """To how many neighbours a document went, on average."""
    forwarding: float
    matching: float


def measure_forwarding(interests: int, seed: int, tell: Callable[[str], None]) -> Forwarding:
    """The hub at corner 0; documents come over the first dimension, interests over the others."""
    chance = Random(seed)
    texts = [
        f"SELECT ?d {{ ?d <urn:p/{chance.randrange(PROPERTIES)}> ?x FILTER(?x > {chance.randrange(10_000)}) }}"
        for _ in range(interests)
    ]
    patterns = [interest_of(compile(text, language="sparql")) for text in texts]
    hub, index = _hub(), Index()
    others = [corner(position) for position in neighbours(0, DIMENSIONS)]
    for number, interest in enumerate(patterns):
        hub.hear(others[1 + number % (DIMENSIONS - 1)], Subscribe(((interest, 0.0),), ()), 0.0)
        index.add(str(number), interest.pattern)
        if number % 1000 == 0:
            tell(f"{number:,} interests")
    documents = [_document(number, chance) for number in range(2 * DOCUMENTS)]
    sizes: list[int] = []
    with undisturbed():
        matching = list(_matched(index, documents))
        forwarding = list(_forwarded(hub, others[0], documents, sizes))
    return Forwarding(interests, sum(sizes) / len(sizes), median(forwarding[DOCUMENTS:]), median(matching[DOCUMENTS:]))


def _hub() -> RoutingHub:
    hub = RoutingHub(RoutingState(corner(0), "epoch"), CubeTopology(0), timing=Timing(heartbeat=None))
    for position in neighbours(0, DIMENSIONS):
        hub.connect(corner(position), 0.0)
        state = hub.state.links[corner(position)]
        state.peer = "other"
    items = Advertisement(schemas=["urn:p/"]).items
    hub.hear(corner(1), Advertise(items, frozenset()), 0.0)
    return hub


def _document(number: int, chance: Random) -> Document:
    said = " ; ".join(f"<urn:p/{p}> {chance.randrange(10_000)}" for p in chance.sample(range(PROPERTIES), 3))
    return parse(f"<urn:d/{number}> {said} .", uri=f"urn:document/{number}")


def _matched(index: Index, documents: Sequence[Document]) -> Iterator[float]:
    for document in documents:
        before = perf_counter()
        matches = index.match(document)
        matches.subscriptions  # noqa: B018  # finding them is what is timed
        yield (perf_counter() - before) * 1e6


def _forwarded(hub: RoutingHub, came: str, documents: Sequence[Document], sizes: list[int]) -> Iterator[float]:
    for link in hub._links.values():  # the greeting is not what is measured
        link.is_connected = link.is_open = True
    _acknowledge(hub)
    for number, document in enumerate(documents, 1):
        frame = LogEntry("other", number, DocumentSent(came, document.uri, 1, 1.0, document))
        before = perf_counter()
        sent = hub.receive(came, frame, 1.0)
        yield (perf_counter() - before) * 1e6
        assert sent, "the sender is told that it has arrived"
        sizes.append(sum(isinstance(each, LogEntry) for _, each in sent))
        _acknowledge(hub)


def _acknowledge(hub: RoutingHub) -> None:
    for state in hub.state.links.values():
        state.acknowledge(state.newest)
