"""A Kafka topic as a source, by Spark's own connector, which is a package that Spark fetches or is given.

A message's key is the uri of a document, its value the document; no value takes the document back. A header
`content-type` names the syntax.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from triplewire.errors import PipelineError
from triplewire.store import RETRACT, UNREAD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEME = "kafka://"


def topic_of(source: str) -> tuple[str, str]:
    """The servers and the topic of a source.

    >>> topic_of("kafka://one:9092,two:9092/catalogue")
    ('one:9092,two:9092', 'catalogue')
    """
    found = urlsplit(source)
    topic = found.path.strip("/")
    if not found.netloc or not topic or "/" in topic:
        raise PipelineError(f"{source!r} names no topic: write kafka://host:port/topic")
    return found.netloc, topic


def read_topic(spark: SparkSession, source: str, most: int) -> DataFrame:
    """A stream of the entries of a topic."""
    from pyspark.errors import AnalysisException
    from pyspark.sql.functions import col, expr, lit, when

    servers, topic = topic_of(source)
    options = {
        "kafka.bootstrap.servers": servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "includeHeaders": "true",
        "maxOffsetsPerTrigger": str(most),
    }
    try:
        messages = spark.readStream.format("kafka").options(**options).load()
    except AnalysisException as error:
        package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark.version}"
        raise PipelineError(
            f"Spark has no connector for Kafka here: give it the package, --packages {package} ({_first_line(error)})"
        ) from None
    media_type = expr("cast(filter(headers, h -> lower(h.key) = 'content-type')[0].value as string)")
    return messages.select(
        col("partition").cast("bigint").alias("position"),
        col("offset").alias("item"),
        when(col("value").isNull(), lit(RETRACT)).otherwise(lit(UNREAD)).alias("kind"),
        col("key").cast("string").alias("uri"),
        media_type.alias("media_type"),
        col("value").alias("content"),
        col("timestamp").cast("string").alias("received"),
        lit(None).cast("string").alias("reason"),
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
