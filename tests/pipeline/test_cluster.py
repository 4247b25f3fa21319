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
