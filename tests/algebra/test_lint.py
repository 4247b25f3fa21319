"""What lint finds, and that what it finds is so (X6)."""

from __future__ import annotations

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Variable

from effort import examples
from strategies import call, graphs, integer, iri, narrower, patterns, taxonomies
from triplewire.algebra.evaluate import Graph, evaluate, solutions
from triplewire.algebra.lint import Finding, lint
from triplewire.algebra.pattern import Conjunction, Pattern, TriplePattern
from triplewire.algebra.taxonomy import Taxonomy

S, T, X, Y, K = (Variable(name) for name in "stxyk")
P, Q = iri("p"), iri("q")
WITH_P, WITH_Q = TriplePattern(S, P, X), TriplePattern(T, Q, Y)
QUICK = settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def ask(*branches: Conjunction) -> Pattern:
    return Pattern((), branches)


def kinds(findings: list[Finding]) -> list[str]:
    return [finding.kind for finding in findings]


def test_a_sound_pattern_has_no_findings():
    assert lint(ask(Conjunction((WITH_P,), (call(">", X, integer(5)),)))) == []


def test_an_empty_range_never_matches_and_the_message_says_why():
    """X6: `x > 5 and x < 3`."""
    (finding,) = lint(ask(Conjunction((WITH_P,), (call(">", X, integer(5)), call("<", X, integer(3))))))
    assert (finding.kind, finding.severity, finding.branch) == ("never-matches", "error", 0)
    assert finding.message == (
        "the pattern can never match: `?x > 5` and `?x < 3` contradict each other; change or remove one of them"
    )


def test_disjoint_classes_never_match():
    """X6, G3"""
    taxonomy = Taxonomy([(iri("cat"), iri("animal")), (iri("oak"), iri("plant"))])
    both = Conjunction((WITH_P,), tuple(call("descendant-or-self", X, iri(name)) for name in ("animal", "plant")))
    (finding,) = lint(ask(both), taxonomy=taxonomy)
    assert finding.kind == "never-matches"
    assert finding.message.endswith("<http://example.org/plant>)` at once; change or remove one of them")


def test_one_alternative_that_never_matches_is_a_warning_and_not_an_error():
    dead = Conjunction((WITH_P,), (call("isliteral", S),))
    (finding,) = lint(ask(Conjunction((WITH_P,)), dead))
    assert (finding.kind, finding.severity, finding.branch) == ("never-matches", "warning", 1)
    assert finding.message.startswith("alternative 2 can never match")


def test_a_pattern_without_alternatives_never_matches():
    assert kinds(lint(Pattern((), ()))) == ["never-matches"]


def test_parts_that_share_no_variable_are_named():
    """X6: cartesian"""
    (finding,) = lint(ask(Conjunction((WITH_P, WITH_Q))))
    assert finding.kind == "cartesian"
    assert "`?s <http://example.org/p> ?x`" in finding.message
    assert "`?t <http://example.org/q> ?y`" in finding.message


def test_a_condition_joins_parts():
    assert lint(ask(Conjunction((WITH_P, WITH_Q), (call("<", X, Y),)))) == []


def test_a_triple_without_variables_is_no_part_of_its_own():
    assert lint(ask(Conjunction((WITH_P, TriplePattern(iri("n1"), P, Literal("a")))))) == []


def test_a_pattern_without_a_constant_is_unselective():
    (finding,) = lint(ask(Conjunction((TriplePattern(S, K, X),))))
    assert finding.kind == "unselective"


def test_a_subscription_that_another_covers_is_told_which():
    """X6, P5"""
    wide = Pattern(("s",), (Conjunction((WITH_P,), (call(">", X, integer(1)),)),))
    narrow = Pattern(("s",), (Conjunction((WITH_P,), (call(">", X, integer(5)),)),))
    (finding,) = lint(narrow, others={"wide": wide})
    assert (finding.kind, finding.others) == ("covered", ("wide",))
    assert "'wide'" in finding.message
    assert lint(wide, others={"narrow": narrow}) == []


def test_a_subscription_with_the_same_answers_is_equivalent():
    """X6, N6"""
    one = Pattern(("s",), (Conjunction((WITH_P,), (call("=", X, iri("n1")),)),))
    two = Pattern(("t",), (Conjunction((TriplePattern(T, P, iri("n1")),)),))
    (finding,) = lint(one, others={"two": two})
    assert (finding.kind, finding.others) == ("equivalent", ("two",))


def test_an_alternative_that_another_has_in_it_is_redundant_once():
    wide, narrow = Conjunction((WITH_P,)), Conjunction((WITH_P, TriplePattern(S, Q, Y)))
    found = lint(Pattern(("s",), (wide, narrow)))
    assert [(f.kind, f.branch) for f in found] == [("redundant-branch", 1)]
    assert [(f.kind, f.branch) for f in lint(Pattern(("s",), (wide, wide)))] == [("redundant-branch", 1)]


def test_alternatives_with_other_columns_are_not_redundant():
    assert lint(Pattern(("x", "y"), (Conjunction((WITH_P,)), Conjunction((TriplePattern(T, P, Y),))))) == []


def test_the_worst_comes_first():
    dead = Conjunction((TriplePattern(Literal("a"), P, X),))
    found = lint(ask(Conjunction((WITH_P, WITH_Q)), dead, Conjunction((WITH_P,))))
    assert [f.severity for f in found] == sorted((f.severity for f in found), key=["error", "warning", "note"].index)


@QUICK
@given(st.data(), patterns(most_conditions=3), taxonomies(), st.lists(graphs, min_size=2, max_size=4))
def test_findings_are_so_on_every_graph(data, pattern, taxonomy, worlds):
    """What never matches has no answer, what is redundant takes none away, what is covered has no answer of its own."""
    other = data.draw(st.one_of(patterns(), narrower(pattern)))
    for finding in lint(pattern, others={"other": other}, taxonomy=taxonomy):
        event(finding.kind)
        for triples in worlds:
            _check(finding, pattern, other, triples, taxonomy)


def _check(finding, pattern, other, triples, taxonomy):
    found = {frozenset(row.items()) for row in evaluate(pattern, triples, taxonomy)}
    if finding.kind in ("never-matches", "redundant-branch"):
        left = [branch for number, branch in enumerate(pattern.branches) if number != finding.branch]
        assert found == {row for branch in left for row in _branch_rows(pattern, branch, triples, taxonomy)}
    elif finding.kind in ("covered", "equivalent"):
        by_name = set(pattern.answer) == set(other.answer)
        ours = {tuple(dict(row).get(name) for name in pattern.answer) for row in found}
        order = pattern.answer if by_name else other.answer
        theirs = {tuple(row.get(name) for name in order) for row in evaluate(other, triples, taxonomy)}
        assert ours == theirs if finding.kind == "equivalent" else ours <= theirs


def _branch_rows(pattern, branch, triples, taxonomy):
    for solution in solutions(branch, Graph(triples), taxonomy):
        yield frozenset((name, solution[name]) for name in pattern.answer if name in solution)
