"""Spark, for what is too much for one process; one Spark for all tenants, one stream for each.

Spark is started when it is first wanted, in a thread, and then kept. One tenant's stream runs at a time: while it does,
the engines of the others go on by themselves, so no tenant waits for another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from math import inf
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING

from triplewire.documents import Limits
from triplewire.errors import StoreError
from triplewire.hub.settings import MAIN, Settings
from triplewire.intake.backlog import Backlog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from triplewire.pipeline.streaming.running import Stream

_WITHOUT = 60.0
"""Seconds until a stream that failed is tried again."""
Tell = Callable[[str], None]


class Spark:
    """A session, there some time after it is first asked for; or never, where it cannot be started."""

    def __init__(self, settings: Settings, tell: Tell) -> None:
        self.settings, self.tell = settings, tell
        self.turn = threading.Lock()
        """Held by the tenant whose stream runs."""
        self.stack = ExitStack()
        self.session: SparkSession | None = None
        self.not_before = 0.0
        self._starting: threading.Thread | None = None

    def start(self) -> None:
        """Begin, if it has not."""
        with self.turn:
            if self._starting is None:
                self._starting = threading.Thread(target=self._begin, name="triplewire spark", daemon=True)
                self._starting.start()

    def _begin(self) -> None:
        try:
            from triplewire.pipeline.session import running
            from triplewire.pipeline.streaming import CONF

            session = self.stack.enter_context(running(self.settings.master, conf=CONF, tell=self.tell))
            workers = session.sparkContext.defaultParallelism
            session.sparkContext.parallelize(range(workers), workers).map(str).count()  # now they are there, too
            self.session = session
            self.tell("Spark takes over what is much")
        except Exception as error:
            self.tell(f"{error}; changes are applied without Spark, by one process")
            self.not_before = inf

    def close(self) -> None:
        """End Spark."""
        if self._starting is not None:
            self._starting.join()
        self.stack.close()


class Heavy:
    """What Spark does for one tenant."""

    def __init__(self, spark: Spark, name: str, store: str, limits: Limits) -> None:
        self._spark, self._name, self._store, self._limits = spark, name, store, limits
        self._stream: Stream | None = None
        self._not_before = 0.0

    def takes_on(self, backlog: Backlog) -> bool:
        """Apply what waits, if that is much and Spark is there; whether it did. Starts Spark, if it should be there."""
        spark = self._spark
        if monotonic() < max(self._not_before, spark.not_before):
            return False
        if not backlog.is_longer_than(spark.settings.spark_from):
            return False
        if spark.session is None:
            spark.start()
            return False
        if not spark.turn.acquire(blocking=False):
            return False
        try:
            if self._stream is None:
                self._stream = self._begun(spark.session)
            self._stream.once()
        except StoreError:
            raise
        except Exception as error:  # Java may be gone, too
            spark.tell(f"{str(error).splitlines()[0]}; without Spark for a minute")
            self._not_before = monotonic() + _WITHOUT
            return False
        finally:
            spark.turn.release()
        return True

    def _begun(self, session: SparkSession) -> Stream:
        from triplewire.pipeline.streaming import INTAKE
        from triplewire.pipeline.streaming.running import Plan, Stream

        stack, given = self._spark.stack, self._spark.settings.checkpoint
        own = given if given is None or self._name == MAIN else f"{given.rstrip('/')}.{self._name}"
        plan = Plan(self._store, INTAKE, own or stack.enter_context(TemporaryDirectory()), limits=self._limits)
        stream = Stream(session, plan, tell=self._spark.tell)
        stack.callback(stream.close)
        return stream

    def stop(self) -> None:
        """End what is going on, when the batch that is being applied is committed."""
        if self._stream is not None:
            self._stream.stop()
