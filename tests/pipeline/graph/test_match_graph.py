"""Scope graph on Spark: the rows of the definition over the union of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as f
from tests.matching.finder.process import distinct, expected_rows, served, sparql, union_of
from tests.pipeline.stages import noted

from oracle.histories import documents as random_documents
from oracle.histories import queries as random_queries
from strategies import taxonomies
from triplewire import Hub, Index, parse
from triplewire.algebra.taxonomy import EMPTY
from triplewire.errors import PipelineError
from triplewire.matching.incremental.flat import Numbering
from triplewire.pipeline.graph import match_graph

PREFIX = "@prefix : <http://example.org/> .\n"


def frame(spark, texts, parts=2):
    """A DataFrame of documents from Turtle by uri."""
    rows = [(uri, text.encode(), "text/turtle") for uri, text in texts.items()]
    return spark.createDataFrame(rows, "uri string, content binary, media_type string").repartition(parts)


def index_of(patterns, taxonomy=EMPTY, **limits):
    index = Index(taxonomy, **limits)
    for id, pattern in patterns.items():
        index.add(id, pattern)
    return index


def rows_of(answers):
    return rows_by_subscription(answers.collect())


def rows_by_subscription(answers):
    """As sets of pairs; each row is there once."""
    found = {}
    for one in answers:
        rows = found.setdefault(one.subscription, [])
        rows.append(frozenset(one.row.items()))
    for rows in found.values():
        assert len(rows) == len(set(rows))
    return {id: set(rows) for id, rows in found.items()}


TEXTS = {
    "urn:datasets": ":d1 :publisher :office . :d2 :publisher :other .",
    "urn:offices": ':office :city "Oslo" .',
    "urn:unused": ":d1 :colour :red .",
    "urn:ada": ':d1 :contact [ :name "Ada" ] .',
    "urn:bob": ':d2 :contact [ :mail "bob" ] .',
    "urn:a": ":a :p :b ; :q 1 . :b :p :c .",
    "urn:b": ":b :q 2 . :c :p :a ; a :C .",
    "urn:c": ":c :q 2 ; :r :a . :b a :C .",
    "urn:same": ":same :once 4 .",
}
FORMS = {
    "oslo": 'SELECT ?d { ?d :publisher ?p . ?p :city "Oslo" }',
    "named": "SELECT ?d ?n { ?d :contact ?c . ?c :name ?n }",
    "once": "SELECT ?x { ?x :once ?y }",
    "chain": "SELECT ?x ?z { ?x :p ?y . ?y :p ?z }",
    "above": "SELECT ?x ?v { ?x :p ?y . ?y :q ?v FILTER(?v > 1) }",
    "wide": "SELECT ?x ?y ?r { ?x :p ?y OPTIONAL { ?y :r ?r } }",
    "union": "SELECT ?x { { ?x :r ?y } UNION { ?x :p ?y . ?y a :C } }",
    "values": "SELECT ?x ?w { VALUES ?w { :b :c } ?x :p ?w . ?x :q ?v }",
    "ask": "ASK { ?x :p ?y . ?y :p ?z . ?z :p ?x }",
    "same": "SELECT ?x ?z { ?x :p ?y . ?y :p ?z }",
}
WITHOUT_ROWS = {
    "joined": "SELECT ?d { ?d :contact ?c . ?c :name ?n . ?c :mail ?m }",
    "product": "SELECT ?x ?y { ?x :p ?v . ?y :q ?w }",
}


@dataclass(frozen=True)
class Run:
    """What a run on Spark has found."""

    answers: list
    bad: dict
    errors: dict
    tally: object
    folder: Path
    work: Path


@pytest.fixture(scope="module")
def run(spark, tmp_path_factory):
    """One for the tests that ask one thing of it each, because it takes seconds.

    Besides the good documents there are a second `urn:same` that is equal, one that is no Turtle, and two of one uri.
    """
    texts = [*TEXTS.items(), ("urn:same", TEXTS["urn:same"]), ("urn:broken", "this is no Turtle")]
    texts += [("urn:twice", ":twice :once 1 ."), ("urn:twice", ":twice :once 2 .")]
    rows = [(uri, (PREFIX + text).encode(), "text/turtle") for uri, text in texts]
    documents = spark.createDataFrame(rows, "uri string, content binary, media_type string").repartition(2)
    index = index_of({id: sparql(text) for id, text in {**FORMS, **WITHOUT_ROWS}.items()})
    folder = tmp_path_factory.mktemp("work") / "my [work] 1%"
    with match_graph(spark, documents, index, work=folder) as found:
        bad = {row.document: row.reason for row in found.bad.collect()}
        errors = {row.subscription: row.reason for row in found.errors.collect()}
        return Run(found.answers.collect(), bad, errors, found.tally, folder, found.work)


def rows_in(run, id):
    return [answer.row for answer in run.answers if answer.subscription == id]


def test_answer_joins_triples_of_several_documents(run):
    """M5: neither document alone has the answer."""
    (answer,) = [answer for answer in run.answers if answer.subscription == "oslo"]
    assert answer.row == {"d": "<http://example.org/d1>"}
    assert answer.documents == ["urn:datasets", "urn:offices"]


def test_documents_that_cannot_be_read_are_told_and_the_others_are_served(run):
    assert run.bad.keys() == {"urn:broken", "urn:twice"}
    assert "urn:broken" not in run.bad["urn:broken"]


def test_work_is_done_in_the_folder_that_is_named_and_nothing_is_left_in_it(run):
    assert run.work.parent == run.folder
    assert list(run.folder.iterdir()) == []


def test_blank_nodes_of_two_documents_do_not_join(run):
    assert rows_in(run, "named") == [{"d": "<http://example.org/d1>", "n": '"Ada"'}]
    assert rows_in(run, "joined") == []


def test_rows_are_those_of_a_hub(run):
    """One query of each form."""
    with Hub(":memory:") as hub:
        for id, text in FORMS.items():
            hub.subscribe(sparql(text), id=id, scope="graph", start="ever")
        for uri, text in TEXTS.items():
            hub.publish(parse(PREFIX + text, uri=uri, media_type="text/turtle"))
        expected = {
            id: {frozenset((name, str(term)) for name, term in row.items()) for row in hub.rows(id)} for id in FORMS
        }
    assert all(expected.values())
    assert rows_by_subscription(run.answers) == expected


def test_subscription_that_is_not_served_is_told_and_the_others_are_served(run):
    """As a hub refuses it: two parts that share nothing."""
    assert run.errors.keys() == {"product"}
    assert "share no variable" in run.errors["product"]


def test_documents_of_one_uri_with_different_contents_are_bad_and_equal_ones_are_one(run):
    """A hub keeps the last; a table has no order, so nobody knows which that is."""
    assert rows_in(run, "once") == [{"x": "<http://example.org/same>"}]
    assert "several documents have this uri" in run.bad["urn:twice"]
    assert (run.tally.documents, run.tally.bad) == (len(TEXTS) + 4, 2)


def test_popular_nodes_are_found_in_rounds(spark, monkeypatch):
    """A publisher of many datasets, one of which has many files: each round puts off what the next one finds."""
    monkeypatch.setattr("triplewire.pipeline.graph.matching.POPULAR", 300)
    monkeypatch.setattr("triplewire.pipeline.graph.matching._LEAST_PUT_OFF", 10)
    texts = {f"urn:{part}": "".join(f":d{n} :by :p . " for n in range(part, 400, 4)) for part in range(4)}
    texts["urn:files"] = "".join(f":f{n} :of :d7 . " for n in range(350))
    texts["urn:more"] = "".join(f":g{n} :of :d{n} . " for n in range(100))
    texts["urn:sizes"] = ':p :name "X" . :d7 :size 7 . :f9 :size 9 .'
    patterns = {
        "datasets": sparql('SELECT ?d ?s { ?p :name "X" . ?d :by ?p OPTIONAL { ?d :size ?s } }'),
        "files": sparql('SELECT ?d ?f { ?p :name "X" . ?d :by ?p . ?f :of ?d }'),
    }
    texts = {uri: PREFIX + text for uri, text in texts.items()}
    graph = union_of([parse(text, uri=uri, media_type="text/turtle") for uri, text in texts.items()])
    with noted(spark) as stages, match_graph(spark, frame(spark, texts), index_of(patterns)) as found:
        assert rows_of(found.answers) == {id: expected_rows(pattern, graph) for id, pattern in patterns.items()}
        assert found.errors.collect() == []
    first, second = [tasks for tasks in stages.written if any(tasks)][-2:]
    assert sum(first) >= 400, "the datasets, and what was put off once more"
    assert sum(second) == 351
    assert max(second) <= 1.5 * sum(second) / len(second)


@settings(deadline=None, max_examples=4, suppress_health_check=list(HealthCheck))
@given(
    several=st.lists(random_documents, min_size=2, max_size=4),
    texts=st.lists(random_queries, min_size=10, max_size=25),
    taxonomy=taxonomies(),
)
def test_rows_are_those_of_the_definition(spark, several, texts, taxonomy):
    """X8, M5, M6, G2, S2, S3."""
    patterns, several = served(texts), distinct(several)
    rows = [(one.uri, one.ntriples, "application/n-triples") for one in several]
    given_documents = spark.createDataFrame(rows, "uri string, content binary, media_type string")
    graph = union_of([parse(content, uri=uri, media_type=kind) for uri, content, kind in rows])
    with match_graph(spark, given_documents, index_of(patterns, taxonomy)) as found:
        assert found.errors.collect() == []
        assert found.bad.collect() == []
        expected = {id: expected_rows(pattern, graph, taxonomy) for id, pattern in patterns.items()}
        assert rows_of(found.answers) == {id: some for id, some in expected.items() if some}


def test_subscription_over_a_limit_fails_and_the_others_are_served(spark):
    things = " .\n".join(f":t{i} :kind :Thing" for i in range(400))
    patterns = {
        "pairs": sparql("SELECT ?x ?y { ?x :kind ?k . ?y :kind ?k }"),
        "one": sparql("SELECT ?k { :t7 :kind ?k }"),
    }
    found = match_graph(spark, frame(spark, {"urn:a": f"{PREFIX}{things} ."}), index_of(patterns), most_triples=300)
    with found:
        assert rows_of(found.answers).keys() == {"one"}
        (error,) = found.errors.collect()
        assert error.subscription == "pairs"
        assert "300" in error.reason


def test_terms_with_one_number_are_numbered_anew(spark):
    """With numbers of five bits, seven terms often collide; with another salt they do not."""
    things = " .\n".join(f":t{i} :kind :k{i % 3}" for i in range(8))
    index = index_of({"q": sparql("SELECT ?x { ?x :kind :k1 }")})
    salts = [salt for salt in range(40) if _collides(Numbering(salt, bits=5))]
    first = next(salt for salt in salts if salt + 1 not in salts)
    given_documents = frame(spark, {"urn:a": f"{PREFIX}{things} ."})
    with match_graph(spark, given_documents, index, numbering=Numbering(first, bits=5)) as found:
        assert len(rows_of(found.answers)["q"]) == 3


def _collides(numbering):
    """As the terms of the test before: what fits no atom is not numbered."""
    names = [*(f"t{i}" for i in (1, 4, 7)), "k1", "kind"]
    texts = ["urn:a", *(f"<http://example.org/{name}>" for name in names)]
    return len({numbering.number(text) for text in texts}) < len(texts)


def test_no_documents_and_no_answers_are_empty_tables(spark):
    index = index_of({"q": sparql("SELECT ?x { ?x :kind :k1 }")})
    none = spark.createDataFrame([], "uri string, content binary, media_type string")
    with match_graph(spark, none, index) as found:
        assert found.answers.collect() == []
    with match_graph(spark, frame(spark, {"urn:a": PREFIX + ":a :kind :k2 ."}), Index()) as found:
        assert found.answers.collect() == []


def test_documents_without_content_are_refused(spark):
    with pytest.raises(PipelineError, match="content"):
        match_graph(spark, spark.createDataFrame([("urn:a",)], "uri string"), Index())


MANY = 100_000


@pytest.fixture(scope="module")
def crowd(spark, tmp_path_factory):
    """Things of one class, half of them with one maker and the others with a maker each; ten documents."""
    folder = tmp_path_factory.mktemp("crowd")
    rows = []
    for part in range(10):
        lines = []
        for i in range(part * MANY // 10, (part + 1) * MANY // 10):
            lines.append(f"<urn:t{i}> <urn:kind> <urn:Thing> .")
            lines.append(f"<urn:t{i}> <urn:maker> <urn:m{i if i % 2 else 0}> .")
        rows.append((f"urn:part:{part}", "\n".join(lines).encode(), "application/n-triples"))
    rows.append(("urn:makers", b'<urn:m0> <urn:name> "hub" .\n<urn:m7> <urn:name> "seven" .', "application/n-triples"))
    path = f"file://{folder}/documents"
    spark.createDataFrame(rows, "uri string, content binary, media_type string").write.parquet(path)
    return spark.read.parquet(path)


@pytest.mark.slow
def test_popular_class_and_hub_are_shared_out_evenly(spark, crowd, monkeypatch):
    """X8: a class with 100,000 instances, and a maker of half of them, in tasks of about the same number of seeds."""
    patterns = {
        "all": sparql("SELECT ?x ?n { ?x <urn:kind> <urn:Thing> . ?x <urn:maker> ?m . ?m <urn:name> ?n }"),
        "class": sparql("SELECT ?x { ?x <urn:kind> <urn:Thing> }"),
        "rare": sparql('SELECT ?x { ?x <urn:kind> <urn:Thing> . ?x <urn:maker> ?m . ?m <urn:name> "seven" }'),
    }
    shares = []
    repartition = type(crowd).repartition

    def noted(frame, *arguments):
        shared = repartition(frame, *arguments)
        shares.extend(row["count"] for row in shared.groupBy(f.spark_partition_id()).count().collect())
        return shared

    monkeypatch.setattr(type(crowd), "repartition", noted)
    with match_graph(spark, crowd, index_of(patterns)) as found:
        counts = {row.subscription: row["count"] for row in found.answers.groupBy("subscription").count().collect()}
        assert found.errors.collect() == []
    assert counts == {"all": MANY // 2 + 1, "class": MANY, "rare": 1}
    assert len(shares) >= 8
    assert max(shares) < 1.2 * min(shares)


def test_statement_of_many_documents_is_one_triple(spark):
    """A triple that 2,000 documents state: the row is there once, and not all of them are told."""
    rows = [(f"urn:{i}", b"<urn:a> <urn:p> <urn:b> .", "application/n-triples") for i in range(2_000)]
    given_documents = spark.createDataFrame(rows, "uri string, content binary, media_type string").repartition(3)
    with match_graph(spark, given_documents, index_of({"q": sparql("SELECT ?x { ?x <urn:p> ?y }")})) as found:
        (answer,) = found.answers.collect()
    assert len(answer.documents) == 100
    assert set(answer.documents) <= {uri for uri, _, _ in rows}
