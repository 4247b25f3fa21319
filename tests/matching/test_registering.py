"""Subscriptions into the tables and out again: whatever they are called and say, however many there are."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from copy import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from effort import examples
from strategies import iri
from triplewire import DuplicateSubscription, Index, PatternError, Taxonomy, compile, evaluate
from triplewire.algebra.canonical import HEAD, TESTS, prepared
from triplewire.algebra.pattern import Call, Conjunction, Pattern, TriplePattern, variable
from triplewire.matching import layout
from triplewire.model import RDFS, Document

X, T, N = variable("x"), variable("t"), variable("n")
SIZE, LABEL = iri("size"), iri("label")
AWKWARD = st.text(st.sampled_from("?<>\"'#!\\\n\r\0 aé€😀"), max_size=12)


def document(*triples: Triple) -> Document:
    return Document.from_triples("urn:example:document", triples)


def labelled(text: str) -> Pattern:
    """Who has a label that contains a text, and who has exactly this label."""
    contains = Conjunction((TriplePattern(X, LABEL, T),), (Call("contains", (T, Literal(text))),))
    return Pattern(("x",), (contains, Conjunction((TriplePattern(X, SIZE, Literal(text)),))))


@settings(max_examples=examples(100), deadline=None)
@given(st.dictionaries(AWKWARD, AWKWARD, max_size=8), st.data())
def test_ids_and_texts_may_have_any_characters(texts, data):
    index = Index()
    for id, text in texts.items():
        index.add(id, labelled(text))
    gone = data.draw(st.sets(st.sampled_from(sorted(texts)))) if texts else set()
    for id in gone:
        index.remove(id)
    kept = {id: text for id, text in texts.items() if id not in gone}
    assert list(index) == list(kept)
    for text in [*texts.values(), "a"]:
        found = document(Triple(iri("a"), LABEL, Literal(f"<{text}>")), Triple(iri("b"), SIZE, Literal(text)))
        matches = {match.subscription: match.rows for match in index.match(found)}
        expected = {id: evaluate(index.pattern(id), found.triples) for id in kept}
        for id, rows in expected.items():
            assert sorted(map(str, matches.get(id, []))) == sorted(map(str, rows))


def test_a_subscription_may_be_larger_than_all_before_together():
    """Invariant of `matching.kernel.registering`: `enter` that is called again with more room does nothing twice."""
    index = Index()
    wide = tuple(TriplePattern(X, iri(f"p{i:03}"), Literal(str(i) * 100)) for i in range(300))
    others = tuple(Conjunction((TriplePattern(X, iri(f"q{i}"), variable(f"v{i}")),)) for i in range(40))
    index.add("small", labelled("a"))
    index.add("wide", Pattern(("x",), (*others, Conjunction(wide))))
    assert [index._image.used[name] for name in ("live", "entries", "records")] == [2, 43, 43]
    triples = [Triple(iri("a"), triple.predicate, triple.object) for triple in wide]
    assert index.match(document(*triples)).subscriptions == ["wide"]
    assert index.match(document(*triples[1:])).subscriptions == []
    assert index.match(document(Triple(iri("a"), iri("q39"), iri("b")))).subscriptions == ["wide"]
    index.remove("wide")
    assert index.match(document(*triples)).subscriptions == []


def test_what_is_refused_leaves_no_trace():
    index = Index()
    index.add("a", labelled("a"))
    before = index.nbytes
    with pytest.raises(DuplicateSubscription):
        index.add("a", labelled("something else"))
    large = tuple(TriplePattern(X, SIZE, variable(f"v{i}")) for i in range(600))
    with pytest.raises(PatternError, match="too large"):
        index.add("b", Pattern(("x",), (Conjunction(large),), is_normal=True))
    assert (list(index), index.nbytes) == (["a"], before)


def test_a_threshold_may_have_white_space_around_it():
    index = Index()
    above = Call("~>", (N, Literal(" 5\n")))
    index.add("above", Pattern(("x",), (Conjunction((TriplePattern(X, SIZE, N),), (above,)),)))
    assert index.match(document(Triple(iri("a"), SIZE, Literal(6)))).subscriptions == ["above"]
    assert index.match(document(Triple(iri("a"), SIZE, Literal(5)))).subscriptions == []


def test_a_column_may_be_the_number_that_a_condition_compares_with():
    five = Literal(5)
    above = Conjunction((TriplePattern(X, SIZE, N),), (Call(">", (N, five)),), (("limit", five),))
    index = Index()
    index.add("above", Pattern(("x", "limit"), (above,)))
    found = document(Triple(iri("a"), SIZE, Literal(6)))
    [match] = index.match(found)
    assert match.rows == evaluate(index.pattern("above"), found.triples)
    assert str(match.rows[0]["limit"]) == str(five)


def test_a_loaded_index_takes_the_rows_that_were_given_back_before(tmp_path):
    index = Index()
    for number in range(20):
        index.add(str(number), labelled(f"text {number}"))
    for number in range(20):
        index.remove(str(number))
    index.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index")
    for number in range(20):
        loaded.add(str(number), labelled(f"text {number}"))
    for table in ("records", "entries"):
        assert loaded._image.used[table] == index._image.used[table]
    found = document(Triple(iri("a"), LABEL, Literal("this is text 7")))
    assert loaded.match(found).subscriptions == ["7"]


def test_texts_that_come_and_go_do_not_grow_the_filter_of_grams():
    index = Index()
    index.add("kept", labelled("a text that stays"))
    before = index._image["grams"].nbytes
    for number in range(2_000):
        index.add("passing", labelled(f"a text numbered {number}"))
        index.remove("passing")
    assert index._image["grams"].nbytes == before
    found = document(Triple(iri("a"), LABEL, Literal("here is a text that stays")))
    assert index.match(found).subscriptions == ["kept"]


def test_explain_does_not_count_what_has_gone():
    """A subscription that comes back with fewer branches leaves rows behind that nobody has taken yet."""
    index = Index()
    index.add("other", compile("SELECT ?x { ?x <urn:p> 1 }", language="sparql"))
    both = "SELECT ?x { { ?x <urn:p> 1 } UNION { ?x <urn:q> 2 } }"
    index.add("asked", compile(both, language="sparql"))
    assert index.explain("other").branches[0].atoms[0].shared_with == 1
    index.remove("asked")
    index.add("asked", compile("SELECT ?x { ?x <urn:r> 3 }", language="sparql"))
    assert index.explain("other").branches[0].atoms[0].shared_with == 0


def test_a_branch_that_is_refused_takes_the_ones_before_it_along():
    small = Conjunction((TriplePattern(X, LABEL, T),))
    large = Conjunction(tuple(TriplePattern(X, SIZE, variable(f"v{i}")) for i in range(600)))
    index = Index()
    before = index.nbytes
    with pytest.raises(PatternError, match="too large"):
        index.add("both", Pattern(("x",), (small, large), is_normal=True))
    assert (len(index), index.nbytes) == (0, before)


def test_a_pattern_without_triples_has_its_bytes_and_is_refused_by_an_index():
    """Its rows do not depend on any document; who evaluates it gets them."""
    pattern = prepared(Pattern(("x",), (Conjunction((), bindings=(("x", Literal(1)),)),)))
    assert evaluate(pattern, []) == [{"x": Literal(1)}]
    with pytest.raises(PatternError, match="at least one triple"):
        Index().add("constant", pattern)


@pytest.mark.parametrize("copied", [copy, lambda pattern: pickle.loads(pickle.dumps(pattern))])
def test_a_pattern_with_bytes_and_one_without_are_one_record(copied):
    pattern = compile("SELECT ?x { ?x <urn:label> ?t FILTER(CONTAINS(?t, 'a')) }", language="sparql")
    index = Index()
    index.add("ready", pattern)
    index.add("again", copied(pattern))
    assert index.explain("again").branches[0].equal == 2
    assert index.pattern("again") == index.pattern("ready") == pattern
    found = document(Triple(NamedNode("urn:s"), NamedNode("urn:label"), Literal("a")))
    assert index.match(found).subscriptions == ["ready", "again"]


def test_the_kernel_reads_what_the_algebra_writes():
    assert [name for name in vars(layout) if name.startswith("Q_")][3:] == [f"Q_{name.upper()}" for name in HEAD]
    assert len(layout.OPERATIONS) == len(TESTS)


def test_a_prepared_pattern_knows_nothing_of_an_index():
    """One pattern, added to indexes with other taxonomies and limits, answers by those of each."""
    kind, below = NamedNode("urn:kind"), Call("descendant", (T, NamedNode("urn:Animal")))
    pattern = prepared(Pattern(("x",), (Conjunction((TriplePattern(X, kind, T),), (below,)),)))
    cats, dogs = (
        Taxonomy.from_triples([Triple(iri(name), NamedNode(RDFS + "subClassOf"), NamedNode("urn:Animal"))])
        for name in ("cat", "dog")
    )
    found = document(*(Triple(iri(f"{name}{i}"), kind, iri(name)) for name in ("cat", "dog") for i in range(3)))
    for index, names in ((Index(cats), ["cat"]), (Index(dogs), ["dog"]), (Index(), [])):
        index.add("animals", pattern)
        rows = [str(row["x"]) for match in index.match(found) for row in match.rows]
        assert sorted(rows) == [str(iri(f"{name}{i}")) for name in names for i in range(3)]
        index.set_taxonomy(dogs)
        [match] = index.match(found)
        assert {str(row["x"]) for row in match.rows} == {str(iri(f"dog{i}")) for i in range(3)}
    strict = Index(cats, max_rows=2)
    strict.add("animals", pattern)
    assert list(strict.match(found).errors) == ["animals"]


def chain(rows, first, following):
    """The rows of a chain."""
    while first >= 0:
        yield first
        first = int(rows[first, following])


def heads_of(image, record):
    """Where the chains of a record's entries begin: one, or one for each member of its family."""
    family = image["records"][record, layout.R_FAMILY]
    if family < 0:
        return [int(image["records"][record, layout.R_HEAD])]
    start, size = image["families"][family, [layout.F_START, layout.F_SIZE]].tolist()
    return image["members"][start : start + size].tolist()


def are_in_one_chain_each(image):
    """Checks the chains of all records and entries; how many records share a key, and entries a record, at most."""
    records, entries = image["records"], image["entries"]
    live = [n for n in range(image.used["records"]) if records[n, layout.R_PROGRAM] >= 0]
    keys = records[live][:, [layout.R_KEY_HIGH, layout.R_KEY_LOW]].tolist()
    waiting = [(n, key) for key, first in image["keys"].tolist() if key for n in chain(records, first, layout.R_NEXT)]
    assert sorted(waiting) == [(n, high << 32 | low & 0xFFFFFFFF) for n, (high, low) in zip(live, keys, strict=True)]
    told = [(n, of) for of in live for head in heads_of(image, of) for n in chain(entries, head, layout.E_NEXT)]
    used = entries[: image.used["entries"]].tolist()
    assert sorted(told) == [(n, row[layout.E_RECORD]) for n, row in enumerate(used) if row[layout.E_SUBSCRIPTION] >= 0]
    longest = Counter(key for _, key in waiting), Counter(of for _, of in told)
    return [max(lengths.values(), default=0) for lengths in longest]


def test_every_record_and_every_entry_is_in_one_chain_whatever_comes_and_goes():
    """Invariant of `matching.registry`: a record is in the chain of its access key, an entry in one of its record."""
    index, chance = Index(), random.Random(5)
    texts = [f"SELECT ?x {{ ?x <urn:size> ?n FILTER(?n > {n % 9}) }}" for n in range(40)]
    texts += [f"SELECT ?x {{ {{ ?x <urn:p{n % 3}> {n % 4} }} UNION {{ ?x ?p 'a {n % 5}' }} }}" for n in range(40)]
    texts += [f"SELECT ?x {{ ?x <urn:q> ?n FILTER(?n != {n % 9}) }}" for n in range(20)]
    seen = []
    for _ in range(400):
        number = chance.randrange(len(texts))
        if str(number) in index:
            index.remove(str(number))
        else:
            index.add(str(number), compile(texts[number], language="sparql"))
        seen.append(are_in_one_chain_each(index._image))
    assert all(longest > 3 for longest in map(max, zip(*seen, strict=True))), "both kinds of chains are long"
