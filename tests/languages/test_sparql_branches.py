"""Branches of SPARQL: joined, they know what they bind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from strategies import NODES, PREDICATES, VARIABLES
from triplewire.algebra.pattern import TriplePattern
from triplewire.languages.places import TextPlace
from triplewire.languages.sparql.branches import SparqlBranch, join

ends = st.sampled_from([*VARIABLES, *NODES])
triples = st.builds(TriplePattern, ends, st.sampled_from(PREDICATES), ends)
bindings = st.dictionaries(st.sampled_from([each.value for each in VARIABLES]), st.sampled_from(NODES), min_size=1)
branches = st.one_of(
    st.lists(triples, min_size=1, max_size=3).map(lambda found: SparqlBranch(tuple(found))),
    bindings.map(lambda found: SparqlBranch(bindings=tuple(found.items()))),
)


@given(st.lists(st.lists(branches, min_size=1, max_size=2), max_size=5))
def test_what_a_branch_binds_is_no_variable_of_its_triples(parts):
    """Invariant of `languages.sparql.branches`: no variable of `bindings` is left in `triples`."""
    for branch in join(parts, TextPlace("sparql", 1, 1)):
        bound = {name for name, _ in branch.bindings}
        assert not bound.intersection(name for triple in branch.triples for name in triple.variables)
