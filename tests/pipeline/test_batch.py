"""Batches on Spark: the answers that one process gives, whatever a single document does."""

import os

import pytest
from hypothesis import HealthCheck, given, seed, settings
from tests.contracts.examples import EXAMPLES
from tests.contracts.test_paper_examples import pattern_of

import strategies
from triplewire import Index, Limits, Taxonomy, compile, parse, pipeline
from triplewire.errors import PipelineError
from triplewire.model import Document

SCHEMA = "uri string, content binary, media_type string"


def frame(spark, documents):
    """Documents as Spark takes them, some to a partition."""
    return spark.createDataFrame(documents, SCHEMA).repartition(4)


def index_of(**texts):
    index = Index()
    for id, text in texts.items():
        index.add(id, compile(text, language="sparql"))
    return index


def spelled(answers):
    return {(a.document, a.subscription, frozenset(a.row.items())) for a in answers.collect()}


def in_process(index, documents):
    """The same by `Index.match`, one document after the other."""
    return {
        (document.uri, match.subscription, frozenset((name, str(term)) for name, term in row.items()))
        for document in documents
        for match in index.match(document)
        for row in match.rows
    }


@pytest.fixture
def sizes():
    return index_of(sized="SELECT ?s ?n { ?s <urn:size> ?n }", big="SELECT ?s { ?s <urn:size> ?n FILTER(?n > 5) }")


def sized(number):
    return (f"urn:d{number}", f"<urn:s{number}> <urn:size> {number} .".encode(), "text/turtle")


def test_random_documents_have_the_answers_that_the_index_gives_in_process(spark):
    """G2, X1, X8: patterns with conditions, optional parts and is-a, over documents with blank nodes."""
    index = Index(max(drawn(strategies.taxonomies(), 20), key=len))
    for number, pattern in enumerate(drawn(strategies.patterns(), 120)):
        index.add(f"s{number}", pattern)
    documents = [Document.from_triples(f"urn:d{i}", graph) for i, graph in enumerate(drawn(strategies.graphs, 150))]
    given = [(d.uri, d.ntriples, "application/n-triples") for d in documents]
    expected = in_process(index, [parse(content, uri=uri, media_type=kind) for uri, content, kind in given])
    assert len(expected) > 500
    found = pipeline.match_documents(spark, frame(spark, given), index)
    assert spelled(found.answers) == expected
    assert found.answers.count() == len(expected)
    assert found.bad.count() == 0


def drawn(strategy, count):
    """So many values of a strategy, the same ones each time: a Spark job is too slow to have one for each."""
    found = []

    @seed(7)
    @settings(max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value):
        found.append(value)

    collect()
    return found


CHANNEL_AND_ITEM = "topss-13-containers"
"""The example that joins a channel of RSS 1.0 with its items, which are documents of their own."""


def test_example_that_joins_a_channel_with_its_items_has_its_row_in_scope_graph(spark):
    (example,) = (example for example in EXAMPLES if example.id == CHANNEL_AND_ITEM)
    index = Index()
    index.add(example.id, pattern_of(example))
    source = example.source
    documents = frame(spark, [(source.uri, source.text.encode(), source.media_type)])
    assert spelled(pipeline.match(spark, documents, index)) == set()
    with pipeline.match_graph(spark, documents, index) as found:
        assert [row.row for row in found.answers.collect()] == [dict(row) for row in example.rows]


@pytest.mark.parametrize("taxonomy", {example.taxonomy for example in EXAMPLES}, ids=lambda t: t.uri if t else "none")
def test_papers_examples_have_their_rows(spark, taxonomy):
    """M3, G1, G2, G3, P1, S2: every example over its own document, in its own syntax."""
    examples = [example for example in EXAMPLES if example.taxonomy == taxonomy and example.id != CHANNEL_AND_ITEM]
    index = Index(Taxonomy.from_triples(taxonomy.triples()) if taxonomy else None)
    for example in examples:
        index.add(example.id, pattern_of(example))
    sources = {example.source for example in examples}
    answers = pipeline.match(spark, frame(spark, [(s.uri, s.text.encode(), s.media_type) for s in sources]), index)
    found = spelled(answers)
    for example in examples:
        rows = {row for uri, id, row in found if (uri, id) == (example.source.uri, example.id)}
        assert rows == {frozenset(row.items()) for row in example.rows}, example.id


def test_answers_are_a_frame_of_subscription_row_and_document(spark, sizes):
    answers = pipeline.match(spark, frame(spark, [sized(7)]), sizes)
    assert answers.columns == ["subscription", "row", "document"]
    assert spelled(answers) == {
        ("urn:d7", "sized", frozenset({("s", "<urn:s7>"), ("n", '"7"^^<http://www.w3.org/2001/XMLSchema#integer>')})),
        ("urn:d7", "big", frozenset({("s", "<urn:s7>")})),
    }


def test_a_saved_index_answers_as_the_index_does(spark, sizes, tmp_path):
    sizes.save(tmp_path / "sizes.index")
    documents = frame(spark, [sized(number) for number in range(10)])
    assert spelled(pipeline.match(spark, documents, tmp_path / "sizes.index")) == spelled(
        pipeline.match(spark, documents, sizes)
    )


def test_an_index_saved_under_the_same_name_again_is_the_one_that_counts(spark, sizes, tmp_path):
    documents = frame(spark, [sized(7)])
    sizes.save(tmp_path / "sizes.index")
    assert pipeline.match(spark, documents, tmp_path / "sizes.index").count() == 2
    sizes.remove("big")
    sizes.save(tmp_path / "sizes.index")
    assert pipeline.match(spark, documents, tmp_path / "sizes.index").count() == 1


def test_media_type_may_be_left_out(spark, sizes):
    documents = spark.createDataFrame([sized(7)[:2]], "uri string, content binary")
    assert pipeline.match(spark, documents, sizes).count() == 2


def test_frame_without_contents_is_an_error_that_names_what_is_missing(spark, sizes):
    with pytest.raises(PipelineError, match="content is missing"):
        pipeline.match(spark, spark.createDataFrame([("urn:a",)], "uri string"), sizes)


def test_bad_documents_are_told_with_their_reasons_and_the_others_are_served(spark, sizes):
    documents = [
        sized(7),
        ("urn:broken", b"<urn:s> <urn:size", "text/turtle"),
        ("urn:empty", None, None),
        (None, b"", None),
        ("relative", b"", None),
        ("urn:page", b"<html></html>", None),
    ]
    found = pipeline.match_documents(spark, frame(spark, documents), sizes)
    assert {a.document for a in found.answers.collect()} == {"urn:d7"}
    bad = {row.document: row.reason for row in found.bad.collect()}
    assert bad.keys() == {"urn:broken", "urn:empty", "", "relative", "urn:page"}
    assert "line 1" in bad["urn:broken"]
    assert bad["urn:empty"] == "it has no content"
    assert bad[""] == "it has no uri"
    assert "absolute IRI" in bad["relative"]
    assert "HTML" in bad["urn:page"]


def test_subscription_that_fails_on_a_document_is_told_and_the_others_are_served(spark):
    index = Index(max_rows=5)
    index.add("all", compile("SELECT ?s ?o { ?s <urn:p> ?o }", language="sparql"))
    index.add("one", compile("SELECT ?s { ?s <urn:q> ?o }", language="sparql"))
    content = b"<urn:s> <urn:p> 1, 2, 3, 4, 5, 6, 7 ; <urn:q> 1 ."
    found = pipeline.match_documents(spark, frame(spark, [("urn:d", content, "text/turtle")]), index)
    assert [a.subscription for a in found.answers.collect()] == ["one"]
    (bad,) = found.bad.collect()
    assert (bad.document, bad.subscription) == ("urn:d", "all")
    assert "more than 5 matches" in bad.reason


def test_limits_on_documents_are_the_callers(spark, sizes):
    documents = frame(spark, [sized(7)])
    found = pipeline.match_documents(spark, documents, sizes, limits=Limits(bytes=5))
    assert found.answers.count() == 0
    assert "over the limit of 5" in found.bad.collect()[0].reason


def test_tally_counts_documents_rows_and_what_was_bad(spark, sizes):
    documents = [sized(number) for number in range(10)] + [("urn:broken", b"<", "text/turtle")]
    found = pipeline.match_documents(spark, frame(spark, documents), sizes)
    assert found.answers.count() == 14
    assert (found.tally.documents, found.tally.rows, found.tally.bad) == (11, 14, 1)
    assert [bad.document for bad in found.tally.kept] == ["urn:broken"]


@pytest.mark.parametrize("how", ["exit", "kill", "memory"])
def test_document_that_kills_workers_is_set_aside_and_the_rest_goes_through(spark, sizes, how):
    """The worker dies under the first attempt; the second one finds out which document it was."""

    def read(content, **about):
        if about["uri"] == "urn:d3":
            if how == "exit":
                os._exit(3)
            if how == "kill":
                os.kill(os.getpid(), 9)
            raise MemoryError
        return parse(content, **about)

    documents = frame(spark, [sized(number) for number in range(10)])
    found = pipeline.match_documents(spark, documents, sizes, read=read)
    expected = pipeline.match(spark, documents.where("uri <> 'urn:d3'"), sizes)
    assert spelled(found.answers) == spelled(expected)
    assert [bad.document for bad in found.tally.kept] == ["urn:d3"]
    assert found.tally.documents == 10
    (bad,) = found.bad.collect()
    assert bad.document == "urn:d3"
    assert {"exit": "exit code 3", "kill": "SIGKILL", "memory": "exit code 1"}[how] in bad.reason


def test_reader_that_fails_in_an_unforeseen_way_costs_one_document(spark, sizes):
    def read(content, **about):
        if about["uri"] == "urn:d3":
            raise RuntimeError("not foreseen")
        return parse(content, **about)

    found = pipeline.match_documents(spark, frame(spark, [sized(3), sized(4)]), sizes, read=read)
    assert {a.document for a in found.answers.collect()} == {"urn:d4"}
    assert [bad.reason for bad in found.bad.collect()] == ["RuntimeError: not foreseen"]
