"""The benchmark's alternatives are two ways to the same answers."""

from __future__ import annotations

from argparse import Namespace

import pytest
from benchmarks.spark.graph import by_process, by_spark, index_of, write_documents


@pytest.mark.slow
def test_one_process_and_spark_find_the_same_number_of_rows(spark, tmp_path):
    options = Namespace(seed=1, subscriptions=101)
    write_documents(700, options, tmp_path / "documents.parquet")
    index = index_of(options.subscriptions)
    rows = by_process(index, tmp_path / "documents.parquet")
    assert rows > 500
    assert by_spark(spark, index, tmp_path / "documents.parquet", tmp_path / "answers") == rows
