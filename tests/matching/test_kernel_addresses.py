"""The table of addresses: whatever grows, the kernel is told of arrays that are there."""

from __future__ import annotations

from pyoxigraph import Literal, Triple

from strategies import iri
from triplewire import Index, Taxonomy, compile
from triplewire.matching.layout import A_LIMITS, A_UNIT
from triplewire.model import Document


def held(index: Index) -> int:
    """How many arrays the table of an index names; each is held, and is where the table says."""
    room = index._room
    named = {row: tuple(place) for row, place in enumerate(room.table.tolist()) if any(place)}
    for row in (A_UNIT, A_LIMITS):  # which are numbers
        del named[row]
    assert named == {row: (array.ctypes.data, len(array)) for row, array in room._held.items()}
    return len(named)


def test_every_array_that_the_table_names_is_held_however_the_index_grows(tmp_path):
    """Invariant of `matching.kernel.addresses`: an array is held for as long as the table names it."""
    index = Index()
    count = held(index)
    for number in range(400):
        index.add(str(number), compile(f"SELECT ?x {{ ?x <urn:p{number}> '{number}' }}", language="sparql"))
        assert held(index) >= count
    large = [Triple(iri(f"n{number}"), iri("p"), Literal(str(number))) for number in range(2_000)]
    index.match_many([Document.from_triples(f"urn:{size}", large[:size]) for size in (1, 2_000)])
    assert held(index) >= count
    index.set_taxonomy(Taxonomy([(iri("a"), iri("b"))]))
    index.save(tmp_path / "index")
    index.compact()
    for each in (index, Index.load(tmp_path / "index")):
        assert held(each) >= count
