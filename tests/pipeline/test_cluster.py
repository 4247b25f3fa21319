"""The same command on a cluster: a master and two workers, one of which loses its executor in the middle."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from tests.pipeline.cluster import cluster

SUBJECTS = 40_000
PIECES = ("--conf", "spark.sql.files.maxPartitionBytes=100k", "--conf", "spark.sql.files.openCostInBytes=1k")


@pytest.fixture
def dump(tmp_path):
    """Some megabytes of statements, the two of a subject far apart."""
    with (tmp_path / "dump.nt").open("w") as file:
        for kind in ("size", "note"):
            for number in range(SUBJECTS):
                file.write(f'<urn:s{number}> <urn:{kind}> "{number}" .\n')
    (tmp_path / "both.rq").write_text("SELECT ?s ?n { ?s <urn:size> ?n ; <urn:note> ?n }")
    return tmp_path


def answers(folder):
    """What was written, by document."""
    found = Counter()
    for file in (folder / "answers").glob("*.json"):
        for line in file.read_text().splitlines():
            answer = json.loads(line)
            found[answer["document"], answer["subscription"], tuple(sorted(answer["row"].items()))] += 1
    return found


@pytest.mark.slow
def test_job_survives_the_death_of_an_executor_with_the_same_answers(dump):
    """X8: on a standalone cluster the index goes to the executors by file; one executor is killed half way."""
    command = [sys.executable, "-m", "triplewire.cli", "match", "-s", "both.rq", "-d", "dump.nt", "--split", "subject"]
    expected = Counter({(f"urn:s{n}", "both", (("n", f'"{n}"'), ("s", f"<urn:s{n}>"))): 1 for n in range(SUBJECTS)})
    with cluster(dump) as running:
        where = (
            "--master",
            running.master,
            "--conf",
            "spark.executor.memory=512m",
            "--conf",
            "spark.driver.memory=512m",
        )
        output = ("--out", "found", "--to", "jsonl")
        job = subprocess.Popen(
            [*command, *where, *PIECES, *output], cwd=dump, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            until = time.monotonic() + 240
            while not list((dump / "found").glob("answers/_temporary/**/part-*")):
                assert job.poll() is None, job.communicate()[0]
                assert time.monotonic() < until
                time.sleep(0.05)
            victim, *others = running.executors()
            assert len(others) == 1
            os.kill(victim, signal.SIGKILL)
            assert job.poll() is None
            said = job.communicate(timeout=400)[0]
        finally:
            job.kill()
            job.wait()
    assert job.returncode == 0, said
    assert answers(dump / "found") == expected
    assert f"{SUBJECTS:,} documents, 1 subscription: {SUBJECTS:,} matches, {SUBJECTS:,} rows" in said


@pytest.mark.slow
def test_scope_graph_on_a_cluster_has_the_answers_of_the_definition(dump):
    """M5: the two statements of an answer are in documents of their own, and workers share a folder."""
    (dump / "join.rq").write_text("SELECT ?s ?t { ?s <urn:note> ?n . ?t <urn:size> ?n }")
    (dump / "sizes.nt").write_text("".join(f'<urn:t{n}> <urn:size> "{n}" .\n' for n in range(0, SUBJECTS, 2)))
    (dump / "work").mkdir()
    command = [sys.executable, "-m", "triplewire.cli", "match", "-s", "join.rq", "-d", "dump.nt", "-d", "sizes.nt"]
    scope = ("--split", "subject", "--scope", "graph", "--work", "work", "--out", "found", "--to", "jsonl")
    with cluster(dump) as running:
        where = ("--master", running.master, "--conf", "spark.executor.memory=512m")
        done = subprocess.run([*command, *scope, *where], cwd=dump, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    found = Counter()
    for file in (dump / "found" / "answers").glob("*.json"):
        for line in file.read_text().splitlines():
            row = json.loads(line)["row"]
            found[row["s"], row["t"]] += 1
    expected = Counter((f"<urn:s{n}>", f"<urn:s{n}>") for n in range(SUBJECTS))
    expected.update((f"<urn:s{n}>", f"<urn:t{n}>") for n in range(0, SUBJECTS, 2))
    assert found == expected
    assert list((dump / "work").iterdir()) == []
