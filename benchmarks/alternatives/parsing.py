"""The floor: parsing the documents, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import pyoxigraph

from benchmarks.alternatives.alternative import Alternative, Timed
from triplewire import parse
from triplewire.model import Document

_N_TRIPLES = pyoxigraph.RdfFormat.N_TRIPLES


class Parse(Alternative):
    """pyoxigraph's N-Triples parser, every triple taken."""

    name = "parse"

    def ready(self, batch: Sequence[Document]) -> Timed:
        texts = [document.ntriples for document in batch]
        return lambda: [list(pyoxigraph.parse(text, format=_N_TRIPLES)) for text in texts]


class OurParse(Alternative):
    """`triplewire.parse`: pyoxigraph's parser, limits, and the canonical form."""

    name = "triplewire-parse"

    def ready(self, batch: Sequence[Document]) -> Timed:
        texts = [(document.ntriples, document.uri) for document in batch]
        return lambda: [parse(text, uri=uri, media_type="application/n-triples") for text, uri in texts]
