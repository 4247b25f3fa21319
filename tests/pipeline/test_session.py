"""A session is tuned, quiet, and has workers that are forked with everything loaded."""

import subprocess
import sys
from pathlib import Path

import pyarrow
import pytest

from triplewire import pipeline
from triplewire.errors import PipelineError
from triplewire.pipeline.session import settings_for


def loaded(batches):
    """Runs in a worker: which heavy modules are there before anything asks for them."""
    for _ in batches:
        names = sorted({"numba", "pyoxigraph", "triplewire.matching.index"} & sys.modules.keys())
        yield pyarrow.RecordBatch.from_pydict({"names": [",".join(names)], "python": [sys.executable]})


def test_worker_has_the_matcher_in_memory_before_it_is_asked(spark):
    found = spark.range(1, numPartitions=1).mapInArrow(loaded, "names string, python string").collect()
    assert [tuple(row) for row in found] == [("numba,pyoxigraph,triplewire.matching.index", sys.executable)]


def test_session_of_a_process_is_taken_again(spark):
    assert pipeline.session("local[2]").sparkContext is spark.sparkContext


def test_own_settings_go_before_ours(spark):
    assert spark.conf.get("spark.driver.memory") == "1g"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"


def test_local_session_stays_on_loopback_and_a_remote_one_does_not(tmp_path):
    assert settings_for("local[3]", tmp_path)["spark.driver.host"] == "127.0.0.1"
    assert settings_for("local[3]", tmp_path)["spark.sql.shuffle.partitions"] == "3"
    assert settings_for("spark://127.0.0.1:7077", tmp_path)["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.host" not in settings_for("spark://10.0.0.5:7077", tmp_path)
    assert "spark.sql.shuffle.partitions" not in settings_for("spark://10.0.0.5:7077", tmp_path)


@pytest.mark.slow
def test_session_is_silent_and_tells_what_is_going_on(tmp_path):
    script = (
        "from triplewire import pipeline\n"
        "spark = pipeline.session('local[1]', tell=print, conf={'spark.driver.memory': '512m'})\n"
        "print(spark.range(3).count())\n"
        "spark.stop()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[0].startswith("starting Spark")
    assert "is ready on local[1]" in done.stdout.splitlines()[1]
    assert done.stdout.splitlines()[2:] == ["3"]


def test_session_that_cannot_start_says_what_spark_said(tmp_path):
    script = "from triplewire import pipeline\npipeline.session('local[1]')\n"
    home = tmp_path / "bin" / "java"
    home.parent.mkdir()
    home.write_text("#!/bin/sh\necho 'this is no Java' >&2\nexit 1\n")
    home.chmod(0o755)
    environment = {"JAVA_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1
    assert "PipelineError: Spark did not start on local[1]" in done.stderr
    assert "this is no Java" in done.stderr


def test_session_without_pyspark_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(PipelineError, match=r"pip install 'triplewire\[spark\]'"):
        pipeline.session("local[1]")


@pytest.mark.parametrize("first", ["from triplewire.pipeline.session import retrying", "triplewire.pipeline.running"])
def test_session_is_the_function_whatever_was_imported_before(first):
    """The function has the name of its module, which importing would put in its place."""
    script = f"import triplewire.pipeline\n{first}\nprint(callable(triplewire.pipeline.session))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_what_a_session_writes_is_gone_afterwards():
    script = (
        "from triplewire.pipeline.session import temporary\n"
        "folder = temporary('test')\n(folder / 'x').write_text('y')\nprint(folder)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not Path(done.stdout.strip()).exists()
