"""Answers in files: the same ones, whoever writes them."""

import os

import pytest

from triplewire import Index, compile, parse, pipeline
from triplewire.pipeline import outputs


@pytest.fixture
def index():
    index = Index()
    index.add("p", compile("SELECT ?s ?o ?q { ?s <urn:p> ?o OPTIONAL { ?s <urn:q> ?q } }", language="sparql"))
    index.add("yes", compile("ASK { ?s <urn:p> 3 }", language="sparql"))
    return index


def batch(spark, index, read=parse, count=200):
    extra = "; <urn:q> 'ü'"
    rows = [(f"urn:{n}", f"<urn:s{n}> <urn:p> {n}, {n + 1} {extra if n % 2 else ''} .".encode()) for n in range(count)]
    rows.append(("urn:bad", b"<"))
    frame = spark.createDataFrame(rows, "uri string, content binary").repartition(5)
    return pipeline.match_documents(spark, frame, index, read=read)


def told(frame):
    return sorted((a.subscription, sorted(a.row.items()), a.document) for a in frame.collect())


def read_back(spark, folder, format):
    read = spark.read.schema("subscription string, row map<string, string>, document string")
    return read.json(folder) if format == "jsonl" else spark.read.parquet(folder)


@pytest.mark.parametrize("how", ["by workers", "by Spark", "as JSON lines"])
def test_every_way_of_writing_gives_the_same_answers(spark, index, tmp_path, how):
    """X8"""
    out = tmp_path / "out" if how == "by workers" else (tmp_path / "out").as_uri()
    format = "jsonl" if how == "as JSON lines" else "parquet"
    found = batch(spark, index)
    tally = outputs.write(found, str(out), format)
    assert (tally.documents, tally.rows, tally.bad) == (201, 402, 1)
    back = read_back(spark, str(tmp_path / "out" / "answers"), format)
    assert back.columns == ["subscription", "row", "document"]
    assert told(back) == told(found.answers)
    assert (tmp_path / "out" / "answers" / "_SUCCESS").exists()
    assert not list((tmp_path / "out" / "answers").glob("_staging*"))


def test_files_of_attempts_that_failed_are_not_among_the_answers(spark, index, tmp_path):
    """A worker dies after others have written: its task is tried again, and nothing is there twice."""

    def read(content, **about):
        if about["uri"] == "urn:7":
            os._exit(1)
        return parse(content, **about)

    tally = outputs.write(batch(spark, index, read), str(tmp_path / "out"))
    assert (tally.documents, tally.rows, tally.bad) == (201, 400, 2)
    back = spark.read.parquet(str(tmp_path / "out" / "answers"))
    assert told(back) == told(batch(spark, index).answers.where("document <> 'urn:7'"))


def test_no_answers_are_a_table_without_rows(spark, index, tmp_path):
    frame = spark.createDataFrame([("urn:a", b"<urn:a> <urn:b> 1 .")], "uri string, content binary")
    outputs.write(pipeline.match_documents(spark, frame, index), str(tmp_path / "out"))
    back = spark.read.parquet(str(tmp_path / "out" / "answers"))
    assert (back.columns, back.count()) == (["subscription", "row", "document"], 0)
    assert spark.read.parquet(str(tmp_path / "out" / "bad")).count() == 0


def test_what_was_there_is_replaced(spark, index, tmp_path):
    outputs.write(batch(spark, index, count=20), str(tmp_path / "out"))
    outputs.write(batch(spark, index, count=3), str(tmp_path / "out"))
    assert spark.read.parquet(str(tmp_path / "out" / "answers")).count() == 7  # two of each, and one yes


def test_many_answers_are_written_in_groups(spark, index, tmp_path, monkeypatch):
    import pyarrow.parquet

    from triplewire.pipeline.tally import Tally
    from triplewire.pipeline.worker import WorkerOutcome, answers_of

    row = ("urn:d", "s", ("x",), ("<urn:x>",))
    batches = [part for _ in range(5) for part in answers_of(WorkerOutcome([row] * 30_000, [], Tally()))]
    assert outputs._write_file(tmp_path / "a.parquet", batches)
    written = pyarrow.parquet.ParquetFile(tmp_path / "a.parquet").metadata
    assert (written.num_rows, written.num_row_groups) == (150_000, 2)
    assert not outputs._write_file(tmp_path / "b.parquet", [])
    assert not (tmp_path / "b.parquet").exists()
