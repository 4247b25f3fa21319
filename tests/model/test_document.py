"""Documents: one spelling for one graph."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, Quad, Triple

from strategies import BLANKS, NODES, PREDICATES
from triplewire.model import Document

objects = st.sampled_from([*NODES, *BLANKS]) | st.text('a\n\r\t"\\\u0085\u2028é', max_size=4).map(Literal)
triples = st.builds(Triple, st.sampled_from([*NODES, *BLANKS]), st.sampled_from(PREDICATES), objects)


@given(st.lists(triples), st.lists(triples))
def test_a_document_has_each_triple_once_on_a_line_of_its_own_in_the_order_of_bytes(one, other):
    """Invariant of `model.document`: `ntriples` holds each triple once, one to a line, lines in byte order."""
    stated = [*one, *other, *(Quad(*triple, NODES[0]) for triple in one)]
    document = Document.from_triples("urn:doc", stated)
    *lines, end = document.ntriples.split(b"\n")
    assert end == b""
    assert lines == sorted(set(lines))
    assert len(lines) == len(document) == len({*one, *other})
    assert set(document.triples) == {*one, *other}
    turned = b"\n".join([*lines[::-1], *lines])
    assert Document.from_lines("urn:doc", turned) == document
