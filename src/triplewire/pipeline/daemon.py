"""What Spark forks its Python workers from: everything heavy is imported, and compiled, before the first fork.

Spark starts it by name (`spark.python.daemon.module`), once for each executor. A worker that is forked from here finds
Numba, the kernel and the parsers in memory, shared with the others; one that had to import them would take a second.
"""

from __future__ import annotations

import gc

from pyspark import daemon
from pyspark.sql.pandas import serializers  # noqa: F401  # with pandas and pyarrow, as every worker needs them

from triplewire.algebra.pattern import Conjunction, Pattern, TriplePattern, variable
from triplewire.documents import parse
from triplewire.matching import Index
from triplewire.matching.findings import DocumentFindings
from triplewire.matching.incremental.flat import FIRST, flat_triples


def warm() -> list[DocumentFindings]:
    """Use the parser, the kernel and the search in sorted triples once, so that what they load is there."""
    flat_triples({}, FIRST).present([(1, 1, 1)])
    index = Index()
    one = TriplePattern(variable("s"), variable("p"), variable("o"))
    index.add("warm", Pattern(("s",), (Conjunction((one,)),)))
    return index.find([parse("<urn:s> <urn:p> <urn:o> .", uri="urn:warm", media_type="application/n-triples")])


def run() -> None:
    """Fork workers as Spark asks for them; what is in memory by now, they share."""
    warm()
    gc.collect()
    gc.freeze()  # what is there now is left alone by collections, so that its pages stay shared
    daemon.manager()


if __name__ == "__main__":
    run()
