"""The pipeline of a service, in a process of its own: it applies what was acknowledged and waits on the logs.

A few changes are applied by an engine in this process, at once. When many wait, Spark is started, if it may be and can
be, and a stream over the store's intake log takes them: its workers read and find, the engine of its driver commits.
Until Spark is there, and where it cannot be started, the engine goes on alone. Whoever has the store's lease applies:
a second process waits until the first one ends, however it ends.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from math import inf
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING

from triplewire.documents import Limits
from triplewire.engine import Hub
from triplewire.engine.intake import APPLIER
from triplewire.errors import StoreError
from triplewire.hub.applying import Applier, Turn
from triplewire.hub.logs import Backlog
from triplewire.hub.settings import Settings

if TYPE_CHECKING:
    from triplewire.pipeline.streaming.running import Stream

_GATHER = 10_000
_WITHOUT = 60.0
"""Seconds until a stream that failed is tried again."""
Tell = Callable[[str], None]


class Pipeline:
    """Applies what waits, in a thread; `tell` hears what is going on, in sentences, and `applied` of each batch."""

    def __init__(
        self, settings: Settings, *, tell: Tell = lambda text: None, applied: Callable[[], None] = lambda: None
    ) -> None:
        limits = Limits(bytes=settings.document_bytes)
        self._hub = Hub(settings.store, limits=limits, durable=True)
        applier = Applier(self._hub, limits)
        self._heavy = Heavy(settings, limits, tell) if settings.pipeline == "spark" else None
        heavy = self._heavy
        instead = (lambda: False) if heavy is None else (lambda: heavy.takes_on(applier.backlog))
        self._turn = Turn(applier, self._hub.store.lease(APPLIER), applied=applied, instead=instead)
        self._turn.start()

    def close(self) -> None:
        """End, when what waits is applied or some seconds are over."""
        if self._heavy is not None:
            self._heavy.stop()
        self._turn.stop()
        if self._heavy is not None:
            self._heavy.close()
        self._hub.close()


class Heavy:
    """Spark, for what is too much for one process: started when that first happens, and then kept."""

    def __init__(self, settings: Settings, limits: Limits, tell: Tell) -> None:
        self._settings, self._limits, self._tell = settings, limits, tell
        self._stack = ExitStack()
        self._starting: threading.Thread | None = None
        self._stream: Stream | None = None
        self._not_before = 0.0

    def takes_on(self, backlog: Backlog) -> bool:
        """Apply what waits, if that is much and Spark is there; whether it did. Starts Spark, if it should be there."""
        if monotonic() < self._not_before or not backlog.is_longer_than(self._settings.spark_from):
            return False
        if self._stream is None:
            self._start()
            return False
        try:
            while backlog.gather(most=_GATHER):
                pass
            self._stream.once()
        except StoreError:
            raise
        except Exception as error:  # Java may be gone, too
            self._tell(f"{str(error).splitlines()[0]}; without Spark for a minute")
            self._not_before = monotonic() + _WITHOUT
            return False
        return True

    def stop(self) -> None:
        """End what is going on, when the batch that is being applied is committed."""
        if self._stream is not None:
            self._stream.stop()

    def _start(self) -> None:
        if self._starting is None:
            self._starting = threading.Thread(target=self._begin, name="triplewire spark", daemon=True)
            self._starting.start()

    def _begin(self) -> None:
        try:
            from triplewire.pipeline.session import running
            from triplewire.pipeline.streaming import CONF, INTAKE

            spark = self._stack.enter_context(running(self._settings.master, conf=CONF, tell=self._tell))
            from triplewire.pipeline.streaming.running import Plan, Stream

            checkpoint = self._settings.checkpoint or self._stack.enter_context(TemporaryDirectory())
            plan = Plan(self._settings.store, INTAKE, checkpoint, limits=self._limits)
            stream = Stream(spark, plan, tell=self._tell)
            self._stack.callback(stream.close)
            workers = spark.sparkContext.defaultParallelism
            spark.sparkContext.parallelize(range(workers), workers).map(str).count()  # now they are there, too
            self._stream = stream
            self._tell("Spark takes over what is much")
        except Exception as error:
            self._tell(f"{error}; changes are applied without Spark, by one process")
            self._not_before = inf

    def close(self) -> None:
        """End Spark."""
        if self._starting is not None:
            self._starting.join()
        self._stack.close()


READY, APPLIED = "ready", "applied"
"""What a child says to the process that started it."""


def main() -> None:
    """Be the pipeline of the process that started this one: its settings are the first line, its end is the end."""
    settings = Settings.of(json.loads(sys.stdin.readline()))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipeline = Pipeline(
        settings,
        tell=lambda text: print(f"pipeline: {text}", file=sys.stderr, flush=True),
        applied=lambda: print(APPLIED, flush=True),
    )
    with suppress(KeyboardInterrupt):
        signal.signal(signal.SIGTERM, _end)  # a service manager may send it to all processes of a service
        print(READY, flush=True)
        sys.stdin.read()
    pipeline.close()


def _end(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends already
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
