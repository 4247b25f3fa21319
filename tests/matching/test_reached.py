"""Which destinations the matches of a document have, as a vector: looking ends when all are reached (N2)."""

from __future__ import annotations

from functools import reduce
from operator import or_

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from triplewire import Index, compile, parse

XML = "<menu><softdrinks><price>2.90</price></softdrinks></menu>"
TURTLE = "<urn:d> <urn:price> 2.90 ."


@pytest.mark.parametrize(
    ("text", "language", "query"),
    [
        (XML, "xpath", "/menu/softdrinks[price>{:.1f}]"),
        (XML, "xpath", "//price[. > {:.1f} and string-length(.) = 4]"),
        (TURTLE, "sparql", "SELECT ?d {{ ?d <urn:price> ?x FILTER(?x > {:.1f}) }}"),
    ],
)
@settings(max_examples=examples(25))
@given(st.lists(st.tuples(st.floats(0, 5), st.integers(0, 31)), max_size=40))
def test_vector_has_the_bits_of_all_that_match_and_of_no_other(text, language, query, profiles):
    index = Index()
    vectors = {}
    for number, (price, destination) in enumerate(profiles):
        index.add(str(number), compile(query.format(price), language=language))
        vectors[index.number(str(number))] = 1 << destination
    document = parse(text, uri="urn:doc")
    expected = reduce(or_, (1 << profiles[int(id)][1] for id in index.match(document).subscriptions), 0)
    assert index.match(document).reached(vectors, (1 << 32) - 1) == expected
    assert index.match(document).reached(vectors, expected & 5) & 5 == expected & 5


@pytest.mark.parametrize(
    ("text", "language", "query"),
    [
        (XML, "xpath", "/menu/softdrinks[price>0.{:04}]"),
        (TURTLE, "sparql", "SELECT ?d {{ ?d <urn:price> ?x FILTER(?x > 0.{:04}) }}"),
    ],
)
def test_profiles_are_not_looked_at_when_all_destinations_are_reached(text, language, query):
    class Counted(dict):
        looks = 0

        def get(self, number, default):
            self.looks += 1
            return super().get(number, default)

    index, vectors = Index(), Counted()
    for number in range(1_000):
        index.add(str(number), compile(query.format(number), language=language))
        vectors[index.number(str(number))] = 1 << number % 4
    assert index.match(parse(text, uri="urn:doc")).reached(vectors, 0b1111) == 0b1111
    assert vectors.looks <= 256
