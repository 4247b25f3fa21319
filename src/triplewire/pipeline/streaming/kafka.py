"""A Kafka topic as a source, by Spark's own connector, which is a package that Spark fetches or is given.

A message's key is the uri of a document, its value the document; no value takes the document back. A header
`content-type` names the syntax. How far the topic was read is in Spark's checkpoint, and a micro-batch that comes again
has the messages and the id that it had before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from triplewire.errors import PipelineError
from triplewire.pipeline.session import unreachable
from triplewire.store import ELSEWHERE, RETRACT, UNREAD

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

SCHEME = "kafka://"
_PORT = 9092

_NO_TEXT = "the key of the message is no text (UTF-8, without NUL), and so no uri"
_SETTING = re.compile(r"\s*([^\s=:]+)\s*[=:]\s*(.*?)\s*$")
_NO_SETTING = re.compile(r"\s*(?:[#!].*)?$")


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


def client_settings(path: Path) -> dict[str, str]:
    """The settings of Kafka's client (security, above all) in a file of properties, as Kafka's own tools take them."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise PipelineError(f"{path}: the settings of Kafka's client cannot be read: {error}") from None
    found = {}
    for number, line in enumerate(lines, 1):
        if _NO_SETTING.match(line):
            continue
        setting = _SETTING.match(line)
        if setting is None or line.endswith("\\"):
            raise PipelineError(f"{path}, line {number}: a setting is one line, name=value")
        found[setting[1]] = setting[2]
    return found


def read_topic(spark: SparkSession, source: str, most: int, client: Mapping[str, str]) -> DataFrame:
    """A stream of the entries of a topic; `client` are settings of Kafka's client."""
    from pyspark.errors import AnalysisException

    servers, topic = topic_of(source)
    options = {f"kafka.{name}": value for name, value in client.items()} | {
        "kafka.bootstrap.servers": servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "includeHeaders": "true",
        "maxOffsetsPerTrigger": str(most),
    }
    try:
        messages = spark.readStream.format("kafka").options(**options).load()
    except AnalysisException as error:
        reason, *_ = str(error).splitlines() or [""]
        package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark.version}"
        raise PipelineError(
            f"Spark has no connector for Kafka here: have it fetched, --packages {package}, or name its jars,"
            f" --conf spark.jars=FILE,FILE ({reason})"
        ) from None
    require_a_server(servers)
    return entries_of(messages)


def entries_of(messages: DataFrame) -> DataFrame:
    """Messages as entries. A key that is no text gets a reason: no database can hold it, and no worker decode it."""
    from pyspark.sql.functions import col, expr, lit, when

    key = col("key").cast("string")
    media_type = expr("cast(get(filter(headers, h -> lower(h.key) = 'content-type'), 0).value as string)")
    return messages.select(
        col("partition").cast("bigint").alias("position"),
        col("offset").alias("item"),
        when(col("value").isNull(), lit(RETRACT)).otherwise(lit(UNREAD)).alias("kind"),
        _text(key).alias("uri"),
        _text(media_type).alias("media_type"),
        col("value").alias("content"),
        col("timestamp").cast("string").alias("received"),
        when(key != _text(key), lit(_NO_TEXT)).alias("reason"),
        lit(ELSEWHERE).alias("log"),
    )


def _text(given: Column) -> Column:
    """What can be decoded and stored: all of it, or with marks where something else was."""
    from pyspark.sql import functions as f

    return f.replace(f.make_valid_utf8(given), f.lit("\0"), f.lit("\ufffd"))


def explained(source: str, reason: str) -> str:
    """What Spark says of a topic, in the words of its operator, if the reason is a known one."""
    servers, topic = topic_of(source)
    if "UnknownTopicOrPartition" in reason:
        return f"there is no topic {topic!r} at {servers}; make it, or name another"
    return reason


def require_a_server(servers: str) -> None:
    """`PipelineError` if none takes a connection; Kafka's client would try for minutes, without a word."""
    named = [server.strip() if ":" in server else f"{server.strip()}:{_PORT}" for server in servers.split(",")]
    if reasons := unreachable(named):
        raise PipelineError(f"no Kafka server takes a connection ({reasons}); does it run there?")
