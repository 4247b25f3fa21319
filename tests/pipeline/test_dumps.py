"""A large dump is cut into many tasks, its documents stay whole, and what a worker may take is bounded (X8)."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from benchmarks.spark.dump import expected_rows, index_of, write_dump
from tests.pipeline.stages import noted

from triplewire import pipeline

SUBSCRIPTIONS = 300
MEGABYTES = 4
PIECES = "spark.sql.files.maxPartitionBytes"


@pytest.fixture
def in_pieces(spark):
    """Sets how many bytes of a file a task reads."""
    before = spark.conf.get(PIECES)
    yield lambda size: spark.conf.set(PIECES, size)
    spark.conf.set(PIECES, before)


def found(spark, path, index) -> Counter:
    answers = pipeline.match(spark, pipeline.documents(spark, [str(path)], split="subject"), index)
    return Counter((row.document, row.subscription, row.row["d"]) for row in answers.collect())


@pytest.mark.slow
def test_dump_in_many_pieces_has_the_answers_of_the_dump_in_one_and_even_tasks(spark, in_pieces, tmp_path):
    """The five statements of a subject are in five places; all subjects are of one class."""
    index = index_of(SUBSCRIPTIONS)
    subjects = write_dump(tmp_path / "dump.nt", MEGABYTES << 20)
    in_pieces("1g")
    whole = found(spark, tmp_path / "dump.nt", index)
    in_pieces("100k")
    with noted(spark) as stages:
        pieces = found(spark, tmp_path / "dump.nt", index)
    assert pieces == whole
    assert whole.total() == expected_rows(subjects, SUBSCRIPTIONS) > 0
    gathering = next(tasks for tasks in stages.shuffled if any(tasks))
    assert len(gathering) >= MEGABYTES * 10
    assert sum(gathering) == 5 * subjects
    assert max(gathering) < 1.5 * sum(gathering) / len(gathering)


LIMITED = """
import resource, sys
import pyarrow
from triplewire import Index, compile, parse, pipeline

def greedy(content, *, uri, **about):
    taken = bytearray(8 << 30) if uri == "urn:greedy" else b""
    return parse(content, uri=uri, **about)

def limit(batches):
    for _ in batches:
        yield pyarrow.RecordBatch.from_pydict({"bytes": [resource.getrlimit(resource.RLIMIT_AS)[0]]})

spark = pipeline.session("local[1]", conf={"spark.executor.pyspark.memory": "6g", "spark.driver.memory": "512m"})
print({row.bytes for row in spark.range(1, numPartitions=1).mapInArrow(limit, "bytes long").collect()})
index = Index()
index.add("all", compile("SELECT ?x { ?x <urn:p> ?y }", language="sparql"))
rows = [(uri, b"<> <urn:p> 1 .", "text/turtle") for uri in ("urn:a", "urn:greedy", "urn:b")]
documents = spark.createDataFrame(rows, "uri string, content binary, media_type string").coalesce(1)
batch = pipeline.match_documents(spark, documents, index, read=greedy)
print(sorted(row.document for row in batch.answers.collect()))
print([(row.document, row.reason) for row in batch.bad.collect()])
spark.stop()
"""


@pytest.mark.slow
def test_worker_gets_no_more_memory_than_is_set_and_the_document_that_wants_more_is_set_aside():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    limit, answered, bad = done.stdout.splitlines()
    assert limit == str({6 << 30})
    assert answered == "['urn:a', 'urn:b']"
    assert bad.startswith("[('urn:greedy', 'it was set aside: the worker ")
