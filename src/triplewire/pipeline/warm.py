"""Keep Java's classes ready, so that a later Spark starts in half the time: `python -m triplewire.pipeline.warm FILE`.

Java can map classes that another process has read and checked before, if they come from the same jars. Such an archive
is made when a Spark ends that has done a little of everything; `-XX:SharedArchiveFile=FILE` in SPARK_SUBMIT_OPTS uses
it. An archive that does not fit is left alone by Java.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from triplewire import languages
from triplewire.matching import Index
from triplewire.pipeline.batch import match
from triplewire.pipeline.graph import match_graph
from triplewire.pipeline.session import running

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SILENT = "-Xlog:disable -Xlog:all=off"


def archive(file: Path) -> None:
    """Write the archive of the classes that a pipeline uses."""
    os.environ["SPARK_SUBMIT_OPTS"] = (
        f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} {_SILENT} -XX:ArchiveClassesAtExit={file}"
    )
    with running("local[2]", name="triplewire warm", conf={"spark.driver.memory": "1g"}) as spark:
        java = spark.sparkContext._gateway.proc  # type: ignore[union-attr]  # it was started here
        _use(spark)
    java.stdin.close()  # then it ends, and writes the archive
    java.wait()


def _use(spark: SparkSession) -> None:
    """A little of everything."""
    index = Index()
    index.add("joined", languages.compile("SELECT ?x ?z { ?x <urn:p> ?y . ?y <urn:q> ?z }", language="sparql"))
    texts = ["<urn:1> <urn:p> <urn:2> .", "<urn:2> <urn:q> 3 ."]
    rows = [(f"urn:{number}", text.encode(), "text/turtle") for number, text in enumerate(texts)]
    documents = spark.createDataFrame(rows, "uri string, content binary, media_type string").repartition(2)
    match(spark, documents, index).collect()
    match_graph(spark, documents, index).answers.collect()
    with tempfile.TemporaryDirectory(prefix="triplewire-warm-") as folder:
        _stream(spark, documents, Path(folder))


def _stream(spark: SparkSession, documents: DataFrame, folder: Path) -> None:
    """Files that are written, and read by a stream."""
    documents.write.parquet(str(folder / "files"))

    def counted(batch: DataFrame, _: int) -> None:
        batch.count()

    coming = spark.readStream.schema(documents.schema).parquet(str(folder / "files"))
    writing = coming.writeStream.foreachBatch(counted).option("checkpointLocation", str(folder / "checkpoint"))
    writing.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    archive(Path(sys.argv[1]))
