"""The canonical bytes of a pattern: one form for what is equal, whatever it was made of, wherever it has been."""

from __future__ import annotations

import pickle
from copy import copy, deepcopy
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from effort import examples
from strategies import iri, patterns
from triplewire import LANGUAGES, compile, normalize
from triplewire.algebra.canonical import canonical, prepared
from triplewire.algebra.pattern import Conjunction, Pattern, TriplePattern, variable

X, Y = variable("x"), variable("y")
TEXTS = {
    "sparql": "SELECT ?x { ?x <urn:size> ?n FILTER(?n > 3) }",
    "rules": "search D x register x where x.size > 3",
    "gql": "SELECT ?x WHERE (?x, size, ?s) SUCHTHAT (?s > 3)",
    "qel": "ans(?x) :- (?x, size, S), S > 3",
    "conjunctive": "?x : (?x, size, ?s) ^ ?s > 3",
    "xpath": "//size[. > 3]",
}


relaxed = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def carries_bytes(pattern: Pattern) -> bool:
    return pattern._canonical is not None


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_compiled_carries_its_bytes(language):
    pattern = compile(TEXTS[language], language=language)
    assert carries_bytes(pattern)
    assert len(canonical(pattern)) == len(pattern.branches)


@relaxed
@given(patterns())
def test_a_pattern_and_its_normal_form_have_the_same_bytes(pattern):
    assert canonical(pattern) == canonical(normalize(pattern)) == canonical(prepared(copy(pattern)))


@relaxed
@given(patterns(), patterns())
def test_different_normal_forms_have_different_bytes(first, second):
    assert (canonical(first) == canonical(second)) == (normalize(first) == normalize(second))


def test_bytes_do_not_count_when_patterns_are_compared():
    ready = compile(TEXTS["sparql"], language="sparql")
    other = Pattern(ready.answer, ready.branches, is_normal=True)
    assert not carries_bytes(other)
    assert ready == other
    assert hash(ready) == hash(other)
    assert repr(ready) == repr(other)


@pytest.mark.parametrize("copied", [copy, deepcopy, lambda pattern: pickle.loads(pickle.dumps(pattern))])
def test_a_copy_leaves_the_bytes_behind_and_finds_the_same(copied):
    """They are found again where they are needed, and need not travel with every pattern that crosses Spark."""
    ready = compile(TEXTS["sparql"], language="sparql")
    again = copied(ready)
    assert again.is_normal
    assert not carries_bytes(again)
    assert canonical(again) == canonical(ready)


def test_a_pattern_with_other_parts_does_not_keep_the_bytes_of_the_old_ones():
    ready = compile(TEXTS["sparql"], language="sparql")
    other = replace(ready, branches=(Conjunction((TriplePattern(X, iri("p"), Y),)),))
    assert not carries_bytes(other)
    assert canonical(other) != canonical(ready)


def test_bytes_are_found_once():
    pattern = Pattern(("x",), (Conjunction((TriplePattern(X, iri("p"), Y),)),))
    assert canonical(pattern) is canonical(pattern)
