"""A document: a uri and the triples that it states, in one canonical spelling."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from pyoxigraph import Quad, RdfFormat, Triple, serialize

from triplewire.model.flat import triples_in


@dataclass(frozen=True, slots=True)
class Document:
    """What a publisher registers: `uri`, the triples as sorted canonical N-Triples, and the XML if it came as XML.

    Why bytes: equal graphs are equal documents by comparison of bytes, a document crosses a process border for the
    price of a copy, and the compiled matcher reads them without a Python object for each term.

    Invariant: `ntriples` holds each triple once, one to a line, lines in byte order.
    """

    uri: str
    ntriples: bytes
    xml: bytes = b""
    """The XML that XPath subscriptions see; empty for a document that is RDF alone."""

    @classmethod
    def from_triples(cls, uri: str, triples: Iterable[Triple | Quad]) -> Document:
        """A document of these triples; a quad counts without its graph. Blank nodes keep the names they have."""
        plain = [t.triple if isinstance(t, Quad) else t for t in triples]
        return cls.from_lines(uri, serialize(plain, format=RdfFormat.N_TRIPLES) or b"")

    @classmethod
    def from_lines(cls, uri: str, ntriples: bytes) -> Document:
        """A document of canonical N-Triples lines in any order, some of them perhaps twice."""
        lines = ntriples.split(b"\n")
        return cls(uri, b"".join([line + b"\n" for line in sorted(set(lines)) if line]))

    @property
    def triples(self) -> tuple[Triple, ...]:
        """The triples, as pyoxigraph's."""
        return tuple(triples_in(self.ntriples))

    @property
    def parts(self) -> tuple[Document, ...]:
        """What is one document to a subscription: this one; of a feed, its channel and each item."""
        return (self,)

    @property
    def digest(self) -> str:
        """A fingerprint of the content: equal for equal graphs, whatever the uri."""
        return blake2b(self.ntriples + self.xml, digest_size=16).hexdigest()

    def __len__(self) -> int:
        """How many triples it states."""
        return self.ntriples.count(b"\n")
