"""Odd inputs of `triplewire match` on Spark: a line that says what to do, before Spark is started where that can be."""

from __future__ import annotations

import os
import socket

import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from triplewire.cli.app import app


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "big.rq").write_text("SELECT ?x ?n { ?x <urn:size> ?n FILTER(?n > 9) }")
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents/a.ttl").write_text("<urn:a> <urn:size> 12 .")
    (tmp_path / "empty").mkdir()
    return tmp_path


def call(*words: str):
    return CliRunner().invoke(app, ["match", "-s", "big.rq", *words])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["empty", "--out", "out"], "there is no document in this folder"),
        (["nothing", "--out", "out"], "there is no such file or folder"),
        (["linked/a.ttl", "--out", "out"], "there is no such file or folder"),
        (["documents", "--out", " "], "say --out FOLDER"),
        (["documents", "--out", "documents"], "is there already"),
        (["documents", "--out", "documents/a.ttl/out"], "a.ttl is a file, not a folder"),
        (["documents", "--out", "documents/a.ttl", "--overwrite"], "a.ttl is a file, not a folder"),
        (["documents", "--out", "/proc/out"], "nothing can be written into /proc"),
        (["documents", "--out", "out", "--master", "nonsense"], "is no place where Spark runs"),
        (["documents", "--out", "out", "--master", "spark://somewhere"], "is not HOST:PORT"),
    ],
)
def test_what_is_known_to_be_wrong_is_said_before_spark_starts(folder, words, said):
    found = call(*words)
    assert (found.exit_code, said in found.output) == (2, True), found.output
    assert "starting Spark" not in found.output
    assert found.output.count("\n") == 1, "a line"
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--store", "nowhere/hub.db"], "unable to open database file"),
        (["--store", "big.rq"], "this is not a Triplewire store"),
        (["--store", "hub.db", "--source", "nothing"], "there is no such folder to look into"),
        (["--store", "hub.db", "--checkpoint", "big.rq/here"], "big.rq is a file, not a folder"),
        (["--store", "hub.db", "--master", "nonsense"], "is no place where Spark runs"),
    ],
)
def test_what_is_known_to_be_wrong_with_a_stream_is_said_before_spark_starts(folder, words, said):
    found = CliRunner().invoke(app, ["run", "--once", *words])
    assert (found.exit_code, said in found.output) == (2, True), found.output
    assert "starting Spark" not in found.output


def test_a_link_to_nothing_in_a_folder_is_named(folder):
    (folder / "documents/b.ttl").symlink_to(folder / "gone.ttl")
    found = call("documents", "--out", "out")
    assert found.exit_code == 2
    assert "b.ttl: this is a link to nothing" in found.output


@pytest.mark.skipif(os.geteuid() == 0, reason="whoever may do everything may read every file")
def test_a_file_that_may_not_be_read_is_named(folder):
    (folder / "documents/a.ttl").chmod(0)
    found = call("documents", "--out", "out")
    assert found.exit_code == 2
    assert "a.ttl: this file may not be read" in found.output


def test_a_master_that_does_not_answer_is_said_at_once(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = call("documents", "--out", "out", "--master", f"spark://127.0.0.1:{port}")
    assert found.exit_code == 2
    assert f"no Spark master answers: 127.0.0.1:{port} (Connection refused)" in found.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["foo://bucket/a.ttl", "--out", "out"], "Spark has no connector for foo:// here"),
        (["s3a://bucket/a.ttl", "--out", "out"], "spark.jars.packages=org.apache.hadoop:hadoop-aws"),
        (["documents", "--out", "foo://bucket/out"], "Spark has no connector for foo:// here"),
        (["http://127.0.0.1:9/a.ttl", "--out", "out"], "documents are not fetched over HTTP"),
        (["not.parquet", "--out", "out"], "not.parquet is not a Parquet file"),
        (["numbers.parquet", "--out", "out"], "the column 'content' has bigint in it"),
        (
            ["documents", "--out", "out", "--scope", "graph", "--work", "/proc/work"],
            "this folder for work cannot be made",
        ),
    ],
)
def test_what_spark_refuses_is_said_in_a_line(spark, folder, words, said):
    (folder / "not.parquet").write_text("hello")
    pyarrow.parquet.write_table(pa.table({"uri": ["urn:a"], "content": [5]}), folder / "numbers.parquet")
    found = call(*words)
    assert (found.exit_code, said in found.output) == (2, True), found.output
    assert "Exception" not in found.output
    assert not (folder / "out/answers").exists()
