"""Streaming: changes come in while it runs, and a hub applies them, with Spark's workers for the heavy parts.

What comes in: the intake log of a store, a folder (which feeds the log), or a Kafka topic. What goes out: batches that
are committed to the store, each once. Spark reads and parses, and finds the rows of large batches; what a change means
is the engine's business, and is not repeated here.

    source, kafka   what Spark reads               batches    a micro-batch, from entries to one commit
    landing         a folder, put on the log       workers    the engine's work, shared between Spark's processes
    entries         what is read, as tables        backfills  what answers new subscriptions already, found beside all
    parsing         what Spark's workers do        running    started, waited for, stopped
    daemon, stores  what these workers begin with  progress   how a stream is doing

Nothing is imported here: Spark starts a Python process for single questions about a source, and waits for it.
"""

CONF = {"spark.python.daemon.module": "triplewire.pipeline.streaming.daemon", "spark.scheduler.mode": "FAIR"}
"""Settings for a Spark that streams: its workers are forked from a process that has all of this in memory; and tasks of
a micro-batch have a fair share of them, while a backfill has many more."""

INTAKE = "intake"
"""The source that is the hub's own log."""
