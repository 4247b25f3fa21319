"""What Spark forks the Python workers of a stream from: they find the store and the engine in memory, too."""

from __future__ import annotations

from triplewire.engine import workers  # noqa: F401  # what forked workers run, with the engine and SQL behind it
from triplewire.pipeline.daemon import run
from triplewire.pipeline.streaming import parsing, source  # noqa: F401
from triplewire.store import Store

if __name__ == "__main__":
    Store.open(":memory:").close()
    run()
