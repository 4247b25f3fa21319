"""The names that variables are told by."""

import pytest

from triplewire import compile, normalize
from triplewire.algebra.wording import readable
from triplewire.demo.subscribers import SUBSCRIBERS


@pytest.mark.parametrize("subscriber", SUBSCRIBERS, ids=lambda subscriber: subscriber.name)
def test_readable_names_change_nothing_but_names(subscriber):
    pattern = subscriber.pattern()
    assert normalize(readable(pattern)) == pattern


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT ?x { ?x <urn:v#size> ?y FILTER(?y > 3) }", {"x", "size"}),
        ("SELECT ?size { ?y <urn:v#size> ?size, ?z FILTER(?z > 3) }", {"size", "resource", "size2"}),
        ("SELECT ?x { ?y a <http://example.org/Feed> ; <urn:v#item> ?x }", {"x", "feed"}),
        ("SELECT ?x { ?x ?y 5 FILTER(isIRI(?y)) }", {"x", "property"}),
        ("SELECT ?_0 { ?_0 <urn:v#size> ?y FILTER(?y > 3) }", {"_0", "size"}),
    ],
)
def test_variable_is_named_by_the_property_that_it_is_a_value_of_or_by_its_class(query, names):
    (branch,) = readable(compile(query, language="sparql")).branches
    assert branch.variables == names
