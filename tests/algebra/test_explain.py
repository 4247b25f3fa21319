"""Why a pattern matches, and why not (X4)."""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, settings
from pyoxigraph import Literal, Triple, Variable

from effort import examples
from strategies import call, graphs, integer, iri, patterns, taxonomies
from triplewire.algebra.evaluate import Graph, evaluate, solutions
from triplewire.algebra.explain import why, why_not
from triplewire.algebra.expressions import holds
from triplewire.algebra.pattern import Conjunction, Optional, Pattern, TriplePattern
from triplewire.algebra.taxonomy import EMPTY, Taxonomy

S, M, H, T = (Variable(name) for name in "smht")
MEMORY, HOST, TITLE = iri("memory"), iri("host"), iri("title")
QUICK = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])

SERVER = [
    Triple(iri("a"), MEMORY, integer(32)),
    Triple(iri("b"), MEMORY, integer(48)),
    Triple(iri("a"), HOST, iri("h1")),
    Triple(iri("h1"), TITLE, Literal("first")),
]


def with_memory(*conditions) -> Pattern:
    return Pattern(("s",), (Conjunction((TriplePattern(S, MEMORY, M),), conditions),))


def test_why_names_the_triples_the_values_and_the_conditions_of_each_row():
    """X4"""
    (reason,) = why(with_memory(call(">", M, integer(40))), SERVER)
    assert reason.row == {"s": iri("b")}
    assert reason.binding == {"s": iri("b"), "m": integer(48)}
    assert reason.triples == (SERVER[1],)
    assert str(reason) == (
        "matches with ?s = <http://example.org/b>\n"
        "  because of the triples\n"
        "    <http://example.org/b> <http://example.org/memory> 48\n"
        "  and the conditions\n"
        "    ?m > 40: ?m is 48"
    )


def test_why_has_one_reason_for_a_row_that_many_triples_make():
    pattern = Pattern((), (Conjunction((TriplePattern(S, MEMORY, M),)),))
    (reason,) = why(pattern, SERVER)
    assert reason.row == {}
    assert str(reason).startswith("matches\n")


def test_why_names_the_triples_of_optional_parts_only_where_they_matched():
    optional = Optional((TriplePattern(S, HOST, H),))
    pattern = Pattern(("s", "h"), (Conjunction((TriplePattern(S, MEMORY, M),), optionals=(optional,)),))
    by_subject = {reason.row["s"]: reason.triples for reason in why(pattern, SERVER)}
    assert by_subject == {iri("a"): (SERVER[0], SERVER[2]), iri("b"): (SERVER[1],)}


def test_why_says_which_alternative_matched():
    nothing = Conjunction((TriplePattern(S, iri("absent"), M),))
    (reason, _) = why(Pattern(("s",), (nothing, Conjunction((TriplePattern(S, MEMORY, M),)))), SERVER)
    assert reason.branch == 1


def test_why_not_names_the_condition_and_the_values_that_it_saw():
    """X4: `why-not` names the first part that fails."""
    answer = why_not(with_memory(call(">", M, integer(64))), SERVER)
    assert not answer.matches
    assert answer.first is not None
    assert answer.first.failed == call(">", M, integer(64))
    assert str(answer) == "condition `?m > 64` failed: ?m was 32, 48"


def test_why_not_names_the_part_of_an_and_that_fails():
    both = call("and", call(">", M, integer(40)), call("<", M, integer(45)))
    assert str(why_not(with_memory(both), SERVER)) == "condition `?m < 45` failed: ?m was 48"


def test_why_not_names_the_triple_pattern_and_what_comes_close():
    pattern = Pattern(("s",), (Conjunction((TriplePattern(S, MEMORY, integer(64)),)),))
    answer = why_not(pattern, SERVER)
    assert answer.first is not None
    assert answer.first.failed == TriplePattern(S, MEMORY, integer(64))
    assert str(answer) == (
        "no triple matches `?s <http://example.org/memory> 64`; close to it: "
        "<http://example.org/a> <http://example.org/memory> 32; <http://example.org/b> <http://example.org/memory> 48"
    )


def test_why_not_tells_with_which_values_a_join_fails():
    pattern = Pattern(("s",), (Conjunction((TriplePattern(H, MEMORY, M), TriplePattern(S, HOST, H))),))
    answer = why_not(pattern, SERVER)
    assert answer.first is not None
    assert answer.first.failed == TriplePattern(H, MEMORY, M)
    assert answer.first.seen == (("h", (iri("h1"),)),)
    assert str(answer).startswith(
        "no triple matches `?h <http://example.org/memory> ?m` with ?h = <http://example.org/h1>"
    )


def test_why_not_puts_the_alternative_that_got_furthest_first():
    early = Conjunction((TriplePattern(S, iri("absent"), M),))
    late = Conjunction((TriplePattern(S, MEMORY, M), TriplePattern(S, HOST, H)), (call(">", M, integer(99)),))
    answer = why_not(Pattern(("s",), (early, late)), SERVER)
    assert [failure.branch for failure in answer.failures] == [1, 0]
    assert str(answer).splitlines()[0] == "alternative 2: condition `?m > 99` failed: ?m was 32"


def test_why_not_says_that_a_branch_can_never_match():
    answer = why_not(with_memory(call(">", M, integer(64)), call("<", M, integer(3))), SERVER)
    assert "it can never match: `?m > 64` and `?m < 3` contradict each other" in str(answer)
    assert str(why_not(Pattern((), ()), SERVER)) == "it can never match: it has no branch"


def test_why_not_looks_at_the_taxonomy():
    kind = Variable("kind")
    pattern = Pattern(
        ("s",), (Conjunction((TriplePattern(S, HOST, kind),), (call("descendant", kind, iri("hosts")),)),)
    )
    assert "condition `?kind is below <http://example.org/hosts>` failed" in str(why_not(pattern, SERVER))
    assert why_not(pattern, SERVER, Taxonomy([(iri("h1"), iri("hosts"))])).matches


def test_why_not_says_when_it_does_match():
    answer = why_not(with_memory(), SERVER)
    assert answer.matches
    assert answer.first is None
    assert str(answer) == "it does match"


def test_why_not_of_nothing_at_all():
    answer = why_not(with_memory(), [])
    assert str(answer) == "no triple matches `?s <http://example.org/memory> ?m`"


@QUICK
@given(patterns(), graphs, taxonomies())
def test_reasons_are_the_rows_and_their_triples_alone_are_enough(pattern, triples, taxonomy):
    """X4: the rows are those of evaluate, and each is an answer of nothing but its own triples."""
    reasons = why(pattern, triples, taxonomy)
    assert _set(reason.row for reason in reasons) == _set(evaluate(pattern, triples, taxonomy))
    for reason in reasons:
        assert set(reason.triples) <= set(triples)
        assert frozenset(reason.row.items()) in _set(evaluate(pattern, reason.triples, taxonomy))
        assert all(holds(checked.condition, reason.binding, taxonomy) for checked in reason.conditions)
        assert str(reason)


def _set(rows):
    return {frozenset(row.items()) for row in rows}


@QUICK
@given(patterns(), graphs, taxonomies())
def test_why_not_agrees_with_evaluate_and_what_matched_does_match(pattern, triples, taxonomy):
    """X4: without the part that failed the rest of what was tried has a match; with it, it has none."""
    answer = why_not(pattern, triples, taxonomy)
    event(f"matches: {answer.matches}")
    assert answer.matches is bool(evaluate(pattern, triples, taxonomy))
    assert len(answer.failures) == (0 if answer.matches else len(pattern.branches))
    for failure in answer.failures:
        bindings = pattern.branches[failure.branch].bindings
        assert _matches(failure.matched, bindings, triples, taxonomy)
        assert not _matches((*failure.matched, failure.failed), bindings, triples, taxonomy)
        assert str(failure)


def _matches(parts, bindings, triples, taxonomy=EMPTY) -> bool:
    patterns_of = tuple(part for part in parts if isinstance(part, TriplePattern))
    conditions = tuple(part for part in parts if not isinstance(part, TriplePattern))
    conjunction = Conjunction(patterns_of, conditions, bindings)
    return next(solutions(conjunction, Graph(triples), taxonomy), None) is not None
