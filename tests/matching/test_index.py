"""What the index promises beyond exact answers: sharing, stability, limits, errors that stay with their owner."""

from __future__ import annotations

import threading
from itertools import pairwise

import pytest
from pyoxigraph import Literal, Triple

from strategies import call, iri, variable
from triplewire import (
    DocumentError,
    DuplicateSubscription,
    Index,
    MatchLimitExceeded,
    Pattern,
    PatternError,
    Taxonomy,
    UnknownSubscription,
    compile,
)
from triplewire.algebra.pattern import Conjunction, TriplePattern
from triplewire.model import Document

PREFIXES = {"": "http://example.org/"}


def rule(text: str) -> Pattern:
    return compile(text, language="rules", prefixes=PREFIXES)


def sparql(text: str) -> Pattern:
    return compile(text, language="sparql", prefixes=PREFIXES)


def document(*triples: tuple[str, str, str | int | Literal]) -> Document:
    def term(value):
        return value if isinstance(value, Literal) else Literal(value) if isinstance(value, int) else iri(value)

    return Document.from_triples(
        "http://example.org/document", [Triple(iri(s), iri(p), term(o)) for s, p, o in triples]
    )


SIZES = document(("a", "size", 5), ("b", "size", 12), ("a", "near", "b"))


def test_a_subscription_that_is_added_matches_and_one_that_is_removed_does_not():
    index = Index()
    index.add("large", sparql("SELECT ?x { ?x :size ?n FILTER(?n > 9) }"))
    index.add("any", sparql("SELECT ?x ?n { ?x :size ?n }"))
    assert index.match(SIZES).subscriptions == ["large", "any"]
    assert index.match(SIZES)[0].rows == [{"x": iri("b")}]
    index.remove("large")
    assert index.match(SIZES).subscriptions == ["any"]
    assert "large" not in index
    assert "any" in index
    assert len(index) == 1


def test_an_id_that_is_taken_is_refused_and_can_be_used_again_after_removal():
    index = Index()
    index.add("one", sparql("ASK { ?x :size 5 }"))
    with pytest.raises(DuplicateSubscription, match="'one'"):
        index.add("one", sparql("ASK { ?x :size 12 }"))
    index.remove("one")
    index.add("one", sparql("ASK { ?x :near :b }"))
    assert index.match(SIZES)[0].rows == [{}]


def test_an_unknown_id_is_an_error_that_names_it():
    for use in (Index().remove, Index().explain, Index().pattern):
        with pytest.raises(UnknownSubscription, match="'nobody'"):
            use("nobody")


def test_a_pattern_without_triples_is_refused_and_leaves_no_trace():
    index = Index()
    with pytest.raises(PatternError, match="triple pattern"):
        index.add("everything", Pattern(("x",), (Conjunction((), (), (("x", iri("a")),)),)))
    assert len(index) == 0
    assert list(index) == []


def test_a_pattern_that_can_never_match_is_kept_and_never_matches():
    index = Index()
    index.add("never", sparql("SELECT ?x { ?x :size ?n FILTER(1 > 2) }"))
    assert len(index) == 1
    assert not index.match(SIZES)
    assert "can never match" in str(index.explain("never"))


def test_matches_stay_what_they_are_when_the_index_changes_afterwards():
    """Rows are made lazily, from what was found then."""
    index = Index()
    index.add("one", rule("search Thing c register c where c = <http://example.org/a>"))
    found = index.match(Document.from_triples("urn:d", [Triple(iri("a"), _TYPE, iri("Thing"))]))
    index.remove("one")
    for number in range(50):
        index.add(f"other{number}", sparql(f"SELECT ?x {{ ?x :p{number} ?y }}"))
    assert found.subscriptions == ["one"]
    assert found[0].rows == [{"c": iri("a")}]


_TYPE = compile("SELECT ?x { ?x a ?y }", language="sparql").branches[0].triples[0].predicate


def test_too_many_rows_stop_one_subscription_and_no_other():
    index = Index(max_rows=50)
    index.add("pairs", sparql("SELECT ?x ?y { ?x :size ?n . ?y :size ?m }"))
    index.add("fine", sparql("SELECT ?n { :t1 :size ?n }"))
    big = document(*[(f"t{i}", "size", i) for i in range(40)])
    found = index.match(big)
    assert found.subscriptions == ["fine"]
    assert list(found.errors) == ["pairs"]
    assert isinstance(found.errors["pairs"], MatchLimitExceeded)
    assert "max_rows" in str(found.errors["pairs"])
    assert index.match(SIZES).subscriptions == ["pairs"]


def test_too_many_steps_stop_one_subscription_and_no_other():
    index = Index(max_steps=20_000)
    names = [variable(f"v{i}") for i in range(6)]
    chain = [TriplePattern(a, iri("to"), b) for a, b in pairwise(names)]
    nowhere = TriplePattern(names[-1], iri("size"), Literal("never"))
    index.add("search", Pattern(("v0",), (Conjunction((*chain, nowhere)),)))
    index.add("fine", sparql("ASK { :n1 :to :n2 }"))
    edges = [(f"n{i}", "to", f"n{j}") for i in range(12) for j in range(12)]
    ends = [(f"n{i}", "to", "m") for i in range(12)]
    found = index.match(document(*edges, *ends, ("m", "size", Literal("never"))))
    assert found.subscriptions == ["fine"]
    assert "max_steps" in str(found.errors["search"])


def test_bytes_that_are_not_canonical_are_refused_with_the_documents_uri():
    index = Index()
    index.add("one", sparql("ASK { ?x :size 5 }"))
    for bad in (
        b"garbage",
        b"<a> <b>",
        b'<a> <b> "c',
        b"<a> <b> <c>\n",
        b'"lit" <b> <c> .\n',
        b"<a> <b> <c> .",
        b"\xff",
    ):
        with pytest.raises(DocumentError, match="urn:bad"):
            index.match(Document("urn:bad", bad))
    assert index.match(Document("urn:empty", b"")) == []


def test_equal_patterns_in_different_languages_are_one_record():
    """M5, N6: equal conditions are kept and evaluated once.

    Invariant of `matching.registry`: equal conjunctions are one record with many entries.
    """
    index = Index()
    index.add("rule", rule("search Host h register h where h.memory > 64"))
    index.add(
        "gql",
        compile(
            "SELECT ?x WHERE (?x, rdf:type, Host), (?x, memory, ?m) SUCHTHAT (?m > 64)",
            language="gql",
            prefixes=PREFIXES,
        ),
    )
    (branch,) = index.explain("rule").branches
    assert branch.equal == 2
    assert all(atom.shared_with == 1 for atom in branch.atoms)


def test_explain_shows_the_decomposition_of_mdv_section_3_3():
    """M5: triggering atoms, joins, and which of them it waits under."""
    index = Index()
    index.add(
        "example",
        rule(
            "search CycleProvider c register c where c.serverHost contains 'uni-passau.de' "
            "and c.serverInformation.memory > 64 and c.serverInformation.cpu > 500"
        ),
    )
    index.add("b1", rule("search CycleProvider c register c where c.serverInformation.memory > 64"))
    index.add("b2", rule("search CycleProvider c register c where c.serverInformation.cpu > 500"))
    index.add("b3", rule("search CycleProvider c register c where c.serverInformation.cpu > 700"))
    (branch,) = index.explain("example").branches
    atoms = {atom.text.split()[1]: atom for atom in branch.atoms}
    assert {name: atom.kind for name, atom in atoms.items()} == {
        "memory": "trigger",
        "cpu": "trigger",
        "serverHost": "trigger",
        "type": "trigger",
        "serverInformation": "join",
    }
    assert {name: atom.shared_with for name, atom in atoms.items()} == {
        "memory": 1,
        "cpu": 1,
        "serverHost": 0,
        "type": 3,
        "serverInformation": 3,
    }
    assert sum(atom.waits for atom in branch.atoms) == 1
    assert len(branch.joins) == 2
    assert index.explain("b2").branches[0].group == 2, "RuleC1 and RuleC2 of section 3.3.3 are one rule group"
    assert index.explain("b2").branches[0].family == 2
    assert "waits here" in str(index.explain("example"))


def test_thousands_of_thresholds_are_one_family_and_exact():
    """COMP rules: each value finds exactly the thresholds that it passes, also after many were removed."""
    index = Index()
    for number in range(3000):
        index.add(str(number), rule(f"search Host h register h where h.size > {(number * 7919) % 3000}"))
    for number in range(0, 3000, 3):
        index.remove(str(number))
    for value in (0, 1, 1234, 2999, 5000):
        found = index.match(
            Document.from_triples(
                "urn:d", [Triple(iri("h"), _TYPE, iri("Host")), Triple(iri("h"), iri("size"), Literal(str(value)))]
            )
        )
        expected = {str(n) for n in range(3000) if n % 3 and value > (n * 7919) % 3000}
        assert set(found.subscriptions) == expected


def test_churn_does_not_grow_the_tables():
    """Rows of the tables that removal frees are used again."""
    index = Index()
    for number in range(200):
        index.add("turn", sparql(f"SELECT ?x {{ ?x :p{number % 5} :o }}"))
        index.remove("turn")
    before = index.nbytes
    for number in range(2000):
        index.add("turn", sparql(f"SELECT ?x {{ ?x :p{number % 5} :o }}"))
        index.remove("turn")
    assert index.nbytes - before < 100 * 2000
    assert index._image.used["records"] <= 2


def test_another_taxonomy_counts_at_once():
    """G3, X3: the same subscription, other classes below."""
    index = Index()
    index.add("water", sparql("SELECT ?x { ?x :theme/<http://www.w3.org/2000/01/rdf-schema#subClassOf>* :Water }"))
    rivers = document(("d", "theme", "River"))
    assert not index.match(rivers)
    index.set_taxonomy(Taxonomy([(iri("River"), iri("Water"))]))
    assert index.match(rivers).subscriptions == ["water"]
    index.set_taxonomy(Taxonomy([(iri("Lake"), iri("Water"))]))
    assert not index.match(rivers)


def test_a_deep_taxonomy_is_fine():
    """A chain of 100,000 classes: the walk is as long as the chain, and no longer."""
    classes = [iri(f"c{i}") for i in range(100_000)]
    index = Index(Taxonomy([(narrow, broad) for broad, narrow in pairwise(classes)]))
    index.add(
        "top",
        Pattern(
            ("x",),
            (
                Conjunction(
                    (TriplePattern(variable("x"), iri("in"), variable("c")),),
                    (call("descendant", variable("c"), classes[0]),),
                ),
            ),
        ),
    )
    assert index.match(document(("d", "in", "c99999"))).subscriptions == ["top"]
    assert not index.match(document(("d", "in", "elsewhere")))


def test_a_document_larger_than_any_before_makes_room_for_itself():
    index = Index()
    index.add("last", sparql("SELECT ?x { ?x :size 4999 }"))
    large = document(*[(f"t{i}", "size", Literal(i)) for i in range(5000)])
    assert index.match(large)[0].rows == [{"x": iri("t4999")}]
    assert [len(matches) for matches in index.match_many([SIZES, large, SIZES])] == [0, 1, 0]


def test_escaped_text_is_matched_as_it_reads():
    index = Index()
    index.add("line", compile('SELECT ?x { ?x ?p ?t FILTER(CONTAINS(?t, "a\\"b\\\\c\\nd")) }', language="sparql"))
    index.add(
        "end", compile('SELECT ?x { ?x <http://example.org/t> ?t FILTER(STRENDS(?t, "\\td")) }', language="sparql")
    )
    assert index.match(document(("a", "t", Literal('xa"b\\c\nd')))).subscriptions == ["line"]
    assert index.match(document(("a", "t", Literal("\u0001\td")))).subscriptions == ["end"]


def test_two_threads_may_match_and_change_at_once():
    index = Index()
    index.add("fixed", sparql("SELECT ?x { ?x :size 5 }"))
    failures = []

    def match() -> None:
        for _ in range(300):
            if "fixed" not in index.match(SIZES).subscriptions:
                failures.append("lost")

    def change() -> None:
        for number in range(300):
            index.add(f"t{number}", sparql("SELECT ?x { ?x :size ?n FILTER(?n > 3) }"))

    threads = [threading.Thread(target=work) for work in (match, change, match)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(index.match(SIZES)) == 301


def test_the_index_tells_its_size():
    index = Index()
    assert index.nbytes > 0
    assert list(index) == []


def test_why_and_why_not_speak_of_the_document():
    """X4"""
    index = Index()
    index.add("large", sparql("SELECT ?x { ?x :size ?n FILTER(?n > 9) }"))
    (reason,) = index.why("large", SIZES)
    assert reason.row == {"x": iri("b")}
    assert Triple(iri("b"), iri("size"), Literal(12)) in reason.triples
    small = document(("a", "size", 5))
    assert index.why("large", small) == []
    assert "5" in str(index.why_not("large", small))


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_adding_does_not_matter(order):
    texts = [f"search Host h register h where h.size > {n} and h.load < {9 - n}" for n in range(8)][::order]
    index = Index()
    for text in texts:
        index.add(text, rule(text))
    host = Document.from_triples(
        "urn:d",
        [
            Triple(iri("h"), _TYPE, iri("Host")),
            Triple(iri("h"), iri("size"), Literal(5)),
            Triple(iri("h"), iri("load"), Literal(6)),
        ],
    )
    assert sorted(index.match(host).subscriptions) == sorted(t for t in texts if "> 0" in t or "> 1" in t or "> 2" in t)
