"""A Spark session that starts fast, is quiet, and keeps its small things small; and what Spark refuses, explained.

The settings are those that were measured to matter; whatever is in `conf` goes before them.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from time import monotonic
from typing import TYPE_CHECKING

from triplewire.errors import PipelineError
from triplewire.pipeline.beside import Beside
from triplewire.pipeline.java import java_home, sheltered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOPBACK = re.compile(r"local\b|spark://(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::|$)")
_THREADS = re.compile(r"local(?:\[(\d+|\*)(?:,\s*\d+)?\])?$")
_MASTERS = re.compile(r"local(\[(\d+|\*)(,\s*\d+)?\])?$|local-cluster\[.+\]$|spark://.+|k8s://.+|yarn$")
_PATIENCE = 5.0
"""Seconds for a master to take a connection."""
_SCHEME = re.compile(r"No FileSystem for scheme \"?([\w+.-]+)")
_CONNECTOR = re.compile(r"ClassNotFoundException: Class \S*\.fs\.(\w+)\.\S+ not found")
_OF_THE_WEB = re.compile(r"hadoop\.fs\.http\.HttpFileSystem|scheme \"?https?\b")
_NO_PARQUET = re.compile(r"(?<!\S)(\S++) is not a Parquet file")
_PACKAGES = {"s3a": "org.apache.hadoop:hadoop-aws:VERSION", "azure": "org.apache.hadoop:hadoop-azure:VERSION"}
_LAST_LINES = 12
_ATTEMPTS = 4

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
ALWAYS = {
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.session.timeZone": "UTC",
    "spark.python.daemon.module": "triplewire.pipeline.daemon",
    "spark.python.unix.domain.socket.enabled": "true",
    # A batch of documents is bounded by what they weigh, not only by how many they are.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "16m",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Many small files go into one task: a file costs about as much as some kilobytes of it.
    "spark.sql.files.openCostInBytes": "64k",
    "spark.sql.files.maxPartitionBytes": "32m",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.pollingDelay": "100ms",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}
ONE_MACHINE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # The default starts a process for each file of a checkpoint.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}
FAST_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def session(
    master: str = "local[*]",
    *,
    name: str = "triplewire",
    verbose: bool = False,
    conf: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> SparkSession:
    """Start Spark, or take the one that runs in this process; `PipelineError` if that cannot be done.

    `tell` hears what is going on meanwhile. With `verbose`, Spark logs to standard error as it does by itself;
    otherwise what it says goes to a file, which is shown if it does not start. Workers run the Python that
    PYSPARK_PYTHON or `spark.pyspark.python` names, or else this one.
    """
    require_packages()
    check_master(master)
    from pyspark.sql import SparkSession

    started = monotonic()
    folder = temporary("spark")
    settings = settings_for(master, folder, verbose=verbose) | dict(conf or {})
    home = sheltered(java_home(folder), folder)
    tell("starting Spark: a Java process comes up first, which takes some seconds")
    settings |= {"spark.master": retrying(master), "spark.app.name": name}
    builder = SparkSession.Builder()
    for key, value in settings.items():
        builder = builder.config(key, value)
    os.environ.setdefault("PYSPARK_PYTHON", settings.get("spark.pyspark.python", sys.executable))
    log = folder / "spark.log"
    with _environment(home), _errors_to(None if verbose else log), Beside(0) as beside:
        try:
            beside.do(partial(_start_java_apart, settings))
            spark = beside.do(builder.getOrCreate)
        except Exception as error:
            raise PipelineError(_why_not(master, error, log)) from error
    tell(f"Spark {spark.version} is ready on {master}, after {monotonic() - started:.1f} seconds")
    return spark


@contextmanager
def running(
    master: str = "local[*]",
    *,
    name: str = "triplewire",
    verbose: bool = False,
    conf: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Iterator[SparkSession]:
    """A session that is stopped at the end, if it was not running before."""
    require_packages()
    from pyspark import SparkContext

    was_running = SparkContext._active_spark_context is not None
    spark = session(master, name=name, verbose=verbose, conf=conf, tell=tell)
    java = getattr(spark.sparkContext._gateway, "proc", None)
    try:
        yield spark
    except Exception as error:
        if _has_ended(java):
            raise PipelineError(JAVA_GONE) from error
        raise
    finally:
        if not was_running:
            _stop(spark)


JAVA_GONE = (
    "Spark's Java process has ended: it was killed, or had too little memory (--conf spark.driver.memory=2g); "
    "what was committed stays, so run it again"
)
_DYING = 2.0
"""Seconds that a process which has closed its connections may take to end."""


def _has_ended(java: Popen[bytes] | None) -> bool:
    if java is None:
        return False
    if java.poll() is None and not _answers():
        with suppress(TimeoutExpired):
            java.wait(_DYING)
    return java.poll() is not None


def _answers() -> bool:
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    try:
        assert SparkContext._jvm is not None
        SparkContext._jvm.System.nanoTime()
    except (Py4JError, OSError):
        return False
    return True


def _stop(spark: SparkSession) -> None:
    """Stop Spark; if Java is gone already, forget it, so that another can be started."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    try:
        spark.stop()
    except (Py4JError, OSError):
        SparkContext._active_spark_context = None
        SparkContext._gateway = SparkContext._jvm = None


def _start_java_apart(settings: Mapping[str, str]) -> None:
    """Start Java in a session of its own, if it does not run yet.

    Ctrl-C, and a shell's SIGTERM, go to all processes of a group: Java and its Python would be gone before the driver
    could end its batch. However the driver ends, Java notices that its input has ended, and does so too; but not if
    this is interrupted in the middle, so it is not to be done by the thread that hears signals.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._active_spark_context is None and SparkContext._gateway is None:
        conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        gateway = launch_gateway(conf, {"start_new_session": True})  # type: ignore[no-untyped-call]  # as it comes
        SparkContext(conf=conf, gateway=gateway)


def retrying(master: str) -> str:
    """The master; a local one with as many attempts at a task as a cluster makes.

    >>> retrying("local[2]"), retrying("local"), retrying("local[2,1]"), retrying("yarn")
    ('local[2,4]', 'local[1,4]', 'local[2,1]', 'yarn')
    """
    threads = _THREADS.match(master)
    if threads is None or "," in master:
        return master
    return f"local[{threads[1] or 1},{_ATTEMPTS}]"


def settings_for(master: str, folder: Path, *, verbose: bool = False) -> dict[str, str]:
    """Spark's settings for a master; `folder` is for what Spark writes on this machine."""
    found = dict(ALWAYS)
    found |= {"spark.ui.showConsoleProgress": "false", "spark.log.level": "INFO"} if verbose else QUIET
    found["spark.sql.warehouse.dir"] = str(folder / "warehouse")
    if _LOOPBACK.match(master):
        found |= ONE_MACHINE
    threads = _THREADS.match(master)
    if threads:
        count = str(_cores() if threads[1] == "*" else threads[1] or 1)
        found |= {"spark.sql.shuffle.partitions": count, "spark.default.parallelism": count}
        found |= {"spark.local.dir": str(folder / "local"), "spark.driver.extraJavaOptions": FAST_START}
    return found


def require_packages() -> None:
    """`PipelineError` if the packages that the pipeline needs are not installed."""
    for name in ("pyspark.sql", "pandas", "pyarrow"):
        try:
            import_module(name)
        except ImportError as error:
            what = "the Spark pipeline needs more packages"
            raise PipelineError(f"{what} ({error}); install them: pip install 'triplewire[spark]'") from None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _environment(home: Path) -> Iterator[None]:
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


@contextmanager
def _errors_to(log: Path | None) -> Iterator[None]:
    """What is written to standard error goes to a file: the Java process inherits this, and keeps it."""
    if log is None:
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def _why_not(master: str, error: Exception, log: Path) -> str:
    said = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    lines = "\n".join(f"  {line}" for line in said[-_LAST_LINES:])
    hint = "; Spark 4 needs Java 17 or newer" if "UnsupportedClassVersionError" in lines else ""
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return f"Spark did not start on {master}: {reason}{hint}" + (f". It said:\n{lines}" if lines else "")


def check_master(master: str) -> None:
    """`PipelineError` if no Spark can run there: Java takes a minute to say so.

    >>> check_master("local[2]")
    >>> check_master("loca[2]")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    triplewire.errors.PipelineError: 'loca[2]' is no place where Spark runs: write local[2] ...
    """
    if not _MASTERS.match(master):
        raise PipelineError(
            f"{master!r} is no place where Spark runs: write local[2] (two cores of this machine), local[*], "
            "spark://HOST:PORT, yarn or k8s://https://HOST:PORT"
        )
    if master.startswith("spark://") and (reasons := unreachable(master.removeprefix("spark://").split(","))):
        raise PipelineError(f"no Spark master answers: {reasons}; start it, or correct --master")


def unreachable(addresses: Sequence[str]) -> str | None:
    """Why none of these, each HOST:PORT, takes a connection; None if one does."""
    failures = []
    for address in addresses:
        if (failure := _failure(address)) is None:
            return None
        failures.append(failure)
    return "; ".join(failures)


def _failure(address: str) -> str | None:
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        return f"{address} is not HOST:PORT"
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except (OSError, OverflowError, ValueError) as error:
        return f"{address} ({error.strerror if isinstance(error, OSError) and error.strerror else error})"
    return None


def temporary(what: str) -> Path:
    """A new folder that is gone when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"triplewire-{what}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def explained(text: str) -> str:
    """Why Spark could not do it.

    >>> explained('... UnsupportedFileSystemException: No FileSystem for scheme "foo"')
    'Spark has no connector for foo:// here; correct the URL, or add one with --conf spark.jars.packages=...'
    >>> explained("Caused by: java.lang.RuntimeException: file:/a.parquet is not a Parquet file (length is too low: 5)")
    'file:/a.parquet is not a Parquet file; leave it out, or name it as what it is'
    """
    if _OF_THE_WEB.search(text):
        return (
            "documents are not fetched over HTTP here; download them first, or let a hub follow them (triplewire poll)"
        )
    connector = _SCHEME.search(text) or _CONNECTOR.search(text)
    if connector:
        package = _PACKAGES.get(connector[1], "...")
        return (
            f"Spark has no connector for {connector[1]}:// here; correct the URL, "
            f"or add one with --conf spark.jars.packages={package}"
        )
    wrong = _NO_PARQUET.search(text)
    if wrong:
        return f"{wrong[1]} is not a Parquet file; leave it out, or name it as what it is"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")] or lines[:2]
    return f"Spark could not do it: {' '.join(causes[-2:])}; --verbose shows all it says"
