"""Names for blank nodes that depend on the graph alone.

RDFC-1.0 (https://www.w3.org/TR/rdf-canon/) gives the names whenever that has an ordinary price, which is reckoned
first (`effort`), because it is exponential for symmetric graphs, cubic for long lists of blank nodes, and cannot be
interrupted. Where it would cost more, colours tell the nodes apart (`refinement`) in about linear time. That leaves
what is symmetric in cycles; it is RDFC-1.0's again, up to `Limits.effort`.

Invariant: each name depends on the graph alone, not on the order of the triples, the labels or the limits; a limit
only decides between a name and a refusal.
"""

from __future__ import annotations

import re

from pyoxigraph import CanonicalizationAlgorithm, Dataset, RdfFormat, serialize

from triplewire.documents.effort import is_within
from triplewire.documents.limits import Limits
from triplewire.documents.refinement import order_of
from triplewire.documents.surroundings import Surroundings, surroundings
from triplewire.errors import DocumentError, DocumentTooLarge
from triplewire.model.flat import quads_in

# A literal that imitates a blank node is followed by its quote, so the end of the line tells them apart.
_BLANK_NODE = re.compile(rb'^_:| _:[^\s"<>]+ \.$', re.MULTILINE)
_LABEL = re.compile(rb"_:[0-9A-Za-z_\x80-\xff](?:[0-9A-Za-z_.\x80-\xff-]*[0-9A-Za-z_\x80-\xff-])?")
# About a fifth of a second. Another value would rename blank nodes in documents that are stored already.
_ORDINARY_EFFORT = 200_000


def named(lines: bytes, *, uri: str, limits: Limits) -> bytes:
    """The N-Triples with canonical names for their blank nodes, lines in any order."""
    if b"_" not in lines or not _BLANK_NODE.search(lines):
        return lines
    _refuse_unwritable(lines, uri)
    graph = surroundings(lines)
    if limits.effort < _ORDINARY_EFFORT:  # then not even the reckoning may take longer
        if not is_within(graph, limits.effort):
            raise _too_symmetric(uri)
        return _by_rdfc(lines)
    is_ordinary = is_within(graph, _ORDINARY_EFFORT)
    if not is_ordinary and (order := order_of(graph)) is not None:
        return renamed(lines, graph, order)
    if not (is_ordinary or is_within(graph, limits.effort)):
        raise _too_symmetric(uri)
    return _by_rdfc(lines)


def _too_symmetric(uri: str) -> DocumentTooLarge:
    reason = (
        "its blank nodes are too symmetric to be named within the limit; "
        "give some of them IRIs, or raise Limits(effort=...)"
    )
    return DocumentTooLarge(reason, uri=uri)


def _refuse_unwritable(lines: bytes, uri: str) -> None:
    """JSON-LD can give a blank node a name (`_:_:b`) that pyoxigraph takes, and that no line can hold."""
    for line in lines.split(b"\n")[:-1]:
        subject, _, rest = line.split(b" ", 2)
        for node in (subject, rest[:-2]):
            if node.startswith(b"_:") and not _LABEL.fullmatch(node):
                name = node.decode(errors="replace")
                raise DocumentError(f"{name} is not a name for a blank node; use letters, digits, - and _", uri=uri)


def _by_rdfc(lines: bytes) -> bytes:
    dataset = Dataset(quads_in(lines))
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return serialize(dataset, format=RdfFormat.N_TRIPLES) or b""


def renamed(lines: bytes, graph: Surroundings, order: list[int]) -> bytes:
    """The lines with each blank node named by its rank in the order."""
    names = {graph.names[node]: b"_:c14n%d" % rank for rank, node in enumerate(order)}
    rows = (line[:-2].split(b" ", 2) for line in lines.splitlines())
    return b"".join([b"%b %b %b .\n" % (names.get(s, s), p, names.get(o, o)) for s, p, o in rows])
