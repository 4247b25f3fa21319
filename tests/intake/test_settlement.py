"""Many changes are applied, and what is bad among them is refused alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplewire import Hub, parse
from triplewire.errors import StoreUnavailable
from triplewire.intake.settlement import Refused, settle
from triplewire.model import Publish

BELOW = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"


def change(number: int, child: int, parent: int) -> Publish:
    return Publish(parse(f"<urn:c{child}> {BELOW} <urn:c{parent}> .", uri=f"urn:doc:{number}"))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8))
def test_what_is_refused_is_what_would_be_refused_if_each_came_alone(edges) -> None:
    changes = [change(number, *edge) for number, edge in enumerate(edges)]
    with Hub(":memory:") as one, Hub(":memory:") as other:
        refused = {settled.uri for settled in settle(changes, one.apply) if isinstance(settled, Refused)}
        alone = {s.uri for each in changes for s in settle([each], other.apply) if isinstance(s, Refused)}
        assert refused == alone
        assert [each.uri for each in one.documents()] == [each.uri for each in other.documents()]


def test_a_store_that_is_away_is_no_documents_fault() -> None:
    def away(changes):
        raise StoreUnavailable("away")

    with pytest.raises(StoreUnavailable):
        list(settle([change(1, 1, 2)], away))
