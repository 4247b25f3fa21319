"""The workload: providers with a strong reference to what their servers are, and edges that want some of them.

Each document describes a provider and its server, as in the MDV paper's figure 1. A rule registers the providers of one
key; each edge follows rules for a share of all keys. A change gives a server more memory: so the provider stays as it
is, and what must move to the edges that want it is the description of the server alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from triplewire import Document, Publish, Schema, parse

TRIPLES = 10
"""Of one document."""

SCHEMA = "<urn:v#server> <urn:triplewire:schema#strongReference> true ."
QUESTION = "SELECT ?p ?m { ?p <urn:v#key> 'KEY' ; <urn:v#server>/<urn:v#memory> ?m }"


@dataclass(frozen=True)
class EdgeWorkload:
    """So many documents, edges, and rules of each; `seed` decides who wants what and what changes."""

    documents: int
    edges: int
    rules: int
    seed: int = 7
    _wanted: list[frozenset[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        drawn = random.Random(self.seed)
        wanted = [frozenset(drawn.sample(range(self.documents), self.rules)) for _ in range(self.edges)]
        object.__setattr__(self, "_wanted", wanted)

    @property
    def schema(self) -> Schema:
        """In which the reference to a server is strong."""
        return Schema.from_triples(parse(SCHEMA, uri="urn:schema").triples)

    def document(self, number: int, memory: int = 64) -> Document:
        """A document, with so much memory."""
        server = "\n".join([*_server_lines(number, memory)])
        return Document.from_lines(f"urn:doc/{number}", f"{_provider(number)}\n{server}".encode())

    def all_documents(self) -> Iterator[Publish]:
        """Every document, as it is first."""
        return (Publish(self.document(number)) for number in range(self.documents))

    def rules_of(self, edge: int) -> Iterator[tuple[str, str]]:
        """The rules of an edge: id and text."""
        for key in sorted(self._wanted[edge]):
            yield f"key{key}", f"SELECT ?p {{ ?p <urn:v#key> 'k{key}' }}"

    def changes(self, batch: int, size: int) -> list[int]:
        """The documents that a batch changes."""
        return random.Random(f"{self.seed} {batch}").sample(range(self.documents), size)

    def question(self, edge: int, turn: int) -> str:
        """A query that an edge can answer."""
        keys = sorted(self._wanted[edge])
        return QUESTION.replace("KEY", f"k{keys[turn % len(keys)]}")

    def content_of(self, edge: int, changed: Sequence[int], memory: int) -> int:
        """How many bytes of content must move to an edge: the servers that it holds and that changed."""
        moved = self._wanted[edge].intersection(changed)
        return sum(len(line) + 1 for number in moved for line in _server_lines(number, memory))


def _provider(number: int) -> str:
    about = f"<urn:p/{number}>"
    return "\n".join(
        [
            f"{about} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:v#CycleProvider> .",
            f'{about} <urn:v#key> "k{number}" .',
            f'{about} <urn:v#serverHost> "host{number}.uni-passau.de" .',
            f'{about} <urn:v#serverPort> "{5000 + number % 1000}" .',
            f"{about} <urn:v#server> <urn:s/{number}> .",
        ]
    )


def _server_lines(number: int, memory: int) -> Iterator[str]:
    about = f"<urn:s/{number}>"
    yield f"{about} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:v#ServerInformation> ."
    yield f'{about} <urn:v#memory> "{memory}"^^<http://www.w3.org/2001/XMLSchema#integer> .'
    yield f'{about} <urn:v#cpu> "{600 + number % 7}"^^<http://www.w3.org/2001/XMLSchema#integer> .'
    yield f'{about} <urn:v#system> "system {number % 5}" .'
    yield f'{about} <urn:v#rack> "rack {number % 97}" .'
