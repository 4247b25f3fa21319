"""Which subscriptions a neighbour is told of: what an advertisement could match, and no wider one covers (P5)."""

from __future__ import annotations

from triplewire.languages import compile as compile_query
from triplewire.network.routing import Advertisement
from triplewire.network.routing.interests import InterestStep, NeighbourInterests, interest_of
from triplewire.network.routing.items import ItemIndex

ITEMS = Advertisement(properties=["urn:p", "urn:q"]).items


def interest(text: str):
    return interest_of(compile_query(text, language="sparql"))


WIDE = interest("SELECT ?s { ?s <urn:p> ?x }")
NARROW = interest("SELECT ?s ?x { ?s <urn:p> ?x FILTER(?x > 5) }")
NARROWER = interest("SELECT ?s { ?s <urn:p> 7 }")
OTHER = interest("SELECT ?s { ?s <urn:q> ?x }")
ABSENT = interest("SELECT ?s { ?s <urn:absent> ?x }")


def told(neighbour: NeighbourInterests, **wanted) -> InterestStep:
    """The step in which these begin, with their times."""
    step = InterestStep()
    for name, since in wanted.items():
        neighbour.want(globals()[name], since, step)
    return step


def test_columns_make_no_difference():
    assert interest("SELECT ?s { ?s <urn:p> ?x }") == interest("SELECT ?s ?x { ?s <urn:p> ?x OPTIONAL { ?s ?y ?z } }")


def test_interest_that_a_wider_one_covers_is_not_told():
    neighbour = NeighbourInterests(ItemIndex(ITEMS))
    assert told(neighbour, WIDE=1.0, NARROW=2.0, OTHER=3.0).added == {WIDE: 1.0, OTHER: 3.0}


def test_interest_that_counts_for_longer_is_told_all_the_same():
    neighbour = NeighbourInterests(ItemIndex(ITEMS))
    assert told(neighbour, WIDE=5.0, NARROW=2.0).added == {WIDE: 5.0, NARROW: 2.0}


def test_end_of_a_wider_interest_tells_what_it_kept_back_in_the_same_step():
    neighbour = NeighbourInterests(ItemIndex(ITEMS))
    told(neighbour, WIDE=1.0, NARROW=2.0, NARROWER=3.0)
    step = InterestStep()
    neighbour.drop(WIDE, 1.0, step)
    assert (step.added, [*step.removed]) == ({NARROW: 2.0}, [WIDE]), "the narrowest is covered by the next one"


def test_interest_whose_oldest_source_has_gone_is_told_again_if_one_as_old_comes():
    """P5: what came for the sake of that one alone may be gone; of one that is younger nothing is said."""
    neighbour = NeighbourInterests(ItemIndex(ITEMS))
    told(neighbour, WIDE=1.0)
    told(neighbour, WIDE=5.0, NARROW=2.0)
    step = InterestStep()
    neighbour.drop(WIDE, 1.0, step)
    assert (step.added, [*step.removed]) == ({NARROW: 2.0}, []), "which the wider one does not cover any more"
    assert not told(neighbour, WIDE=6.0)
    assert told(neighbour, WIDE=1.0).added == {WIDE: 1.0}


def test_interest_waits_for_an_advertisement_and_goes_with_it():
    neighbour = NeighbourInterests(ItemIndex(ITEMS))
    assert not told(neighbour, ABSENT=1.0)
    step = InterestStep()
    absent = Advertisement(properties=["urn:absent"]).items
    neighbour.advertise(neighbour.advertised.change(absent, ()), step)
    assert step.added == {ABSENT: 1.0}
    step = InterestStep()
    neighbour.advertise(neighbour.advertised.change((), absent), step)
    assert [*step.removed] == [ABSENT]


def test_interest_of_several_sources_is_told_once_and_stays_until_the_last_goes():
    neighbour = NeighbourInterests(ItemIndex(ITEMS))
    assert told(neighbour, WIDE=2.0).added == {WIDE: 2.0}
    assert not told(neighbour, WIDE=3.0)
    assert told(neighbour, WIDE=1.0).added == {WIDE: 1.0}, "the oldest counts"
    step = InterestStep()
    neighbour.drop(WIDE, 1.0, step)
    neighbour.drop(WIDE, 2.0, step)
    assert not step
    neighbour.drop(WIDE, 3.0, step)
    assert [*step.removed] == [WIDE]
