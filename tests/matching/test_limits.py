"""What one subscription may cost: found by its own budget, told to its owner, and to nobody else."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading

import pytest
from pyoxigraph import Literal, Triple

from strategies import iri
from triplewire import Index, MatchLimitExceeded, SubscriptionError, Taxonomy, compile
from triplewire.model import Document


def sparql(text: str):
    return compile(text, language="sparql", prefixes={"": "http://example.org/"})


def numbered(count: int) -> Document:
    return Document.from_triples("urn:d", [Triple(iri(f"t{i:05}"), iri("size"), Literal(i)) for i in range(count)])


def test_a_family_that_goes_over_the_limit_is_told_to_all_its_members():
    """Members of a family share their matches, and so their budget; none of them loses rows silently."""
    index = Index(max_rows=100)
    for number in (0, 195):
        index.add(f"over {number}", sparql(f"SELECT ?x {{ ?x :size ?n FILTER(?n > {number}) }}"))
    found = index.match(numbered(200))
    assert not found
    assert set(found.errors) == {"over 0", "over 195"}


def test_unsorted_members_of_a_family_do_not_use_up_the_budget():
    index = Index(max_rows=7000)
    for number in range(15):
        index.add(f"over {number}", sparql(f"SELECT ?x {{ ?x :size ?n FILTER(?n > {number}) }}"))
    index.add("top", sparql("SELECT ?x { ?x :size ?n FILTER(?n > 6990) }"))
    found = index.match(numbered(7000))
    assert not found.errors
    assert {match.subscription: len(match.rows) for match in found} == {
        **{f"over {n}": 6999 - n for n in range(15)},
        "top": 9,
    }


def test_a_question_needs_one_match_however_many_there_are():
    index = Index(max_rows=10)
    index.add("any", sparql("ASK { ?s ?p ?o }"))
    found = index.match(numbered(500))
    assert not found.errors
    assert found[0].rows == [{}]


def test_steps_are_counted_over_all_seeds():
    index = Index(max_steps=50)
    index.add("long", sparql("SELECT ?a ?b { ?a :size ?n . ?b :size ?m . ?b :missing ?a }"))
    document = Document.from_triples(
        "urn:d", [*numbered(300).triples, Triple(iri("t00001"), iri("missing"), iri("nothing"))]
    )
    index.add("walk", sparql("SELECT ?a ?n { ?a :size ?n . ?a :size ?m . ?a :size ?k }"))
    assert "max_steps" in str(index.match(document).errors["walk"])


def test_optional_parts_cannot_make_more_rows_than_the_limit():
    values = [Triple(iri("x"), iri(f"p{p}"), Literal(v)) for p in range(5) for v in range(10)]
    optionals = " ".join(f"OPTIONAL {{ ?x :p{p} ?v{p} }}" for p in range(1, 5))
    index = Index(max_rows=1000)
    index.add("wide", sparql(f"SELECT * {{ ?x :p0 ?v0 {optionals} }}"))
    (match,) = index.match(Document.from_triples("urn:d", values))
    with pytest.raises(MatchLimitExceeded, match="1,000 rows"):
        _ = match.rows


@pytest.mark.parametrize("limit", [None, 0, -1, 1 << 70, 1.5])
def test_limits_that_make_no_sense_are_refused(limit):
    with pytest.raises(ValueError, match="max_rows"):
        Index(max_rows=limit)


def test_an_id_that_cannot_be_written_is_refused():
    index = Index()
    with pytest.raises(SubscriptionError, match="id"):
        index.add("\ud800", sparql("ASK { ?x :size 5 }"))
    with pytest.raises(TypeError, match="id"):
        index.add(5, sparql("ASK { ?x :size 5 }"))
    with pytest.raises(TypeError, match="Pattern"):
        index.add("text", "ASK {}")
    assert "\ud800" not in index
    assert len(index) == 0


def test_matches_keep_the_taxonomy_that_they_were_found_with():
    index = Index(Taxonomy([(iri("B"), iri("A"))]))
    below = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>*"
    index.add("one", sparql(f"SELECT ?x ?c {{ ?x :p ?y OPTIONAL {{ ?x :t ?c . ?c {below} :A }} }}"))
    document = Document.from_triples(
        "urn:d", [Triple(iri("x"), iri("p"), iri("y")), Triple(iri("x"), iri("t"), iri("B"))]
    )
    found = index.match(document)
    index.set_taxonomy(Taxonomy())
    assert found[0].rows == [{"x": iri("x"), "c": iri("B")}]
    assert index.match(document)[0].rows == [{"x": iri("x")}]


def test_an_index_can_be_listed_while_another_thread_changes_it():
    index = Index()
    stop = threading.Event()

    def change() -> None:
        for number in range(400):
            index.add(str(number), sparql("ASK { ?x :size 5 }"))
        for number in range(400):
            index.remove(str(number))
        stop.set()

    thread = threading.Thread(target=change)
    thread.start()
    while not stop.is_set():
        assert len(list(index)) <= 400
    thread.join()


def test_compacting_gives_back_what_churn_left_behind():
    index = Index()
    index.add("stays", sparql("SELECT ?x { ?x :size ?n FILTER(?n > 3) }"))
    for number in range(3000):
        index.add(f"goes {number}", sparql(f"SELECT ?x {{ ?x :p{number} :o }}"))
        index.remove(f"goes {number}")
    before = index.nbytes
    index.compact()
    assert index.nbytes < before / 2
    assert list(index) == ["stays"]
    assert len(index.match(numbered(10))[0].rows) == 6


def test_a_pattern_means_the_same_in_another_process():
    """Hashes of text differ between processes: a pattern that was pickled finds its own."""
    pattern = sparql("SELECT ?x { ?x :size ?n FILTER(?n > 3) }")
    code = (
        "import pickle, sys; from triplewire import compile\n"
        "sent = pickle.loads(sys.stdin.buffer.read())\n"
        "own = compile('SELECT ?x { ?x <http://example.org/size> ?n FILTER(?n > 3) }', language='sparql')\n"
        "assert sent == own and hash(sent) == hash(own) and {own: 1}[sent] == 1"
    )
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps(pattern), check=True)
