"""Blank nodes and what each is surrounded by, read from N-Triples lines.

Works on the lines, not on terms: a split at two spaces is all the parsing that canonical N-Triples need, and
lines without blank nodes cost nothing more than a look at both ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

Edge = tuple[bytes, int]
"""A predicate, marked with the side that the neighbour is on, and the neighbour."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Blank nodes, numbered from 0, each with its digest, its neighbours that are blank nodes, and the bytes it is in.

    A digest is what RDFC-1.0 (4.6) calls the first degree hash: of the triples that a node is in, blank nodes unnamed.
    """

    names: list[bytes]
    digests: list[str]
    edges: list[list[Edge]]
    weights: list[int]

    def __len__(self) -> int:
        return len(self.names)


def surroundings(lines: bytes) -> Surroundings:
    """The surroundings of all blank nodes in these lines."""
    numbers: dict[bytes, int] = {}
    statements: defaultdict[int, list[bytes]] = defaultdict(list)
    edges: defaultdict[int, list[Edge]] = defaultdict(list)
    for subject, predicate, value in blank_statements(lines):
        head = numbers.setdefault(subject, len(numbers)) if subject.startswith(b"_:") else None
        tail = numbers.setdefault(value, len(numbers)) if value.startswith(b"_:") else None
        if head is not None:
            seen = value if tail is None else b"_:a" if tail == head else b"_:z"
            statements[head].append(b"_:a %b %b .\n" % (predicate, seen))
        if tail is not None and tail != head:
            seen = subject if head is None else b"_:z"
            statements[tail].append(b"%b %b _:a .\n" % (seen, predicate))
        if head is not None and tail is not None and head != tail:
            edges[head].append((b"o" + predicate, tail))
            edges[tail].append((b"s" + predicate, head))
    nodes = range(len(numbers))
    texts = [b"".join(sorted(statements[node])) for node in nodes]
    return Surroundings(
        names=list(numbers),
        digests=[sha256(text).hexdigest() for text in texts],
        edges=[edges[node] for node in nodes],
        weights=[len(text) for text in texts],
    )


def blank_statements(lines: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Subject, predicate and object of each distinct line that has a blank node."""
    for line in set(lines.split(b"\n")):
        if line.startswith(b"_:") or line.rfind(b" _:", 0, -2) == line.rfind(b" ", 0, -2) > 0:
            subject, predicate, value = line[:-2].split(b" ", 2)
            yield subject, predicate, value
