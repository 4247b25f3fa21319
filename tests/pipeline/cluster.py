"""A real cluster on loopback: Spark's standalone master and workers, from the pip package."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pyspark

import triplewire
from triplewire.pipeline.session import FAST_START

QUICK_JAVA = os.environ.get("SPARK_SUBMIT_OPTS", FAST_START)
"""How each Java of a cluster starts: with what `./run test` has for it."""

_START = 600
_CLASS = "org.apache.spark.deploy"


class Cluster:
    """Where the master listens, and the processes of the workers."""

    def __init__(self, master, workers):
        self.master = master
        self.workers = workers

    def executors(self):
        """The process ids of the executors, by worker."""
        return [pid for worker in self.workers for pid in _descendants(worker.pid) if _is_executor(pid)]


@contextmanager
def cluster(folder: Path, workers: int = 2):
    """A master and workers of one core each; all of them are stopped at the end."""
    port = _free_port()
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        about = ("--host", "127.0.0.1", "--port", str(port), "--webui-port", str(_free_port()))
        stack.enter_context(_started(folder / "master.log", f"{_CLASS}.master.Master", *about))
        _until(lambda: _answers(port))
        started = []
        for number in range(workers):
            work = folder / f"worker{number}"
            about = ("--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", str(_free_port()))
            log = folder / f"worker{number}.log"
            worker = _started(log, f"{_CLASS}.worker.Worker", *about, "--work-dir", str(work), master)
            started.append(stack.enter_context(worker))
        for number in range(workers):
            log = folder / f"worker{number}.log"
            _until(lambda log=log: "Successfully registered" in log.read_text())
        yield Cluster(master, started)


@contextmanager
def _started(log: Path, *arguments: str):
    home = Path(pyspark.__file__).parent
    sources = str(Path(triplewire.__file__).parents[1])
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK_JAVA,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, [sources, os.environ.get("PYTHONPATH")])),
    }
    with log.open("wb") as file:
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *arguments], stdout=file, stderr=file, env=environment
        )
    try:
        yield process
    finally:
        for pid in [*_descendants(process.pid), process.pid]:
            _end(pid)
        process.wait()


def _end(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _descendants(pid):
    """The children of a process, and theirs."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            found += [child, *_descendants(child)]
    return found


def _is_executor(pid):
    try:
        return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _answers(port):
    with socket.socket() as asked:
        asked.settimeout(1)
        return asked.connect_ex(("127.0.0.1", port)) == 0


def _until(condition):
    end = time.monotonic() + _START
    while not condition():
        assert time.monotonic() < end, "the cluster did not come up"
        time.sleep(0.2)
