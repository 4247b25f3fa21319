"""Plans: what of a shape cannot match is known before anything is looked up."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.matching.incremental.worlds import wild_conjunctions

from effort import examples
from triplewire.matching.incremental import shape_of
from triplewire.matching.incremental.plans import plan_of


@settings(deadline=None, max_examples=examples(200))
@given(wild_conjunctions(), st.data())
def test_a_part_has_no_stage_exactly_if_no_triple_has_one_of_its_predicates(conjunction, data):
    """Invariant of `matching.incremental.plans`: a part without a stage has a predicate that no triple has."""
    shape = shape_of(conjunction).shape
    unknown = data.draw(st.sets(st.sampled_from(shape.predicates))) if shape.predicates else set()
    numbers = [0 if text in unknown else number for number, text in enumerate(shape.predicates, 1)]
    plan = plan_of(shape, tuple(numbers))
    stages, parts = (plan.required, *plan.parts), (shape.required, *shape.optionals)
    for stage, triples in zip(stages, parts, strict=True):
        assert (stage is None) == any(predicate in unknown for _, predicate, _ in triples)
