"""A stream on a cluster: a landing folder, a PostgreSQL, two workers, and an executor that is killed meanwhile."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest
from tests.pipeline.cluster import QUICK_JAVA, cluster
from tests.pipeline.drivers import Driver

from triplewire import Hub

SETTINGS = ("--small", "0", "--most", "5", "--conf", "spark.executor.memory=512m")
STARTS = [word for side in ("driver", "executor") for word in ("--conf", f"spark.{side}.extraJavaOptions={QUICK_JAVA}")]


def drop(folder, name: str, text: str) -> str:
    """A file, as it should be dropped: written under another name first. Gives its document's uri."""
    (folder / f"_{name}").write_text(text)
    return (folder / f"_{name}").rename(folder / name).as_uri()


@pytest.mark.parametrize("files", [6, pytest.param(30, marks=pytest.mark.slow)])
def test_stream_on_a_cluster_survives_the_death_of_an_executor_and_applies_every_file_once(new_url, tmp_path, files):
    """X8: executors parse, open the store and find; `--small 0` leaves nothing of that to the driver."""
    url, landing = new_url("postgresql"), tmp_path / "landing"
    landing.mkdir()
    with Hub(url) as hub, cluster(tmp_path) as running:
        hub.subscribe("SELECT ?x ?z { ?x <urn:p> ?y . ?y <urn:q> ?z }", id="joined", scope="graph")

        def heard() -> Counter[str]:
            return Counter(f"{event.kind} {event.row['x'].value}" for event in hub.events("joined"))

        drop(landing, "y.ttl", "<urn:y> <urn:q> <urn:z> .")
        with Driver(url, tmp_path, "--source", str(landing), *SETTINGS, *STARTS, master=running.master) as driver:
            for number in range(files // 2):
                drop(landing, f"{number}.ttl", f"<urn:{number}> <urn:p> <urn:y> .")
            driver.until(lambda: heard(), "a batch is committed")
            victim, *others = running.executors()
            assert len(others) == 1
            os.kill(victim, signal.SIGKILL)
            for number in range(files // 2, files):
                drop(landing, f"{number}.ttl", f"<urn:{number}> <urn:p> <urn:y> .")
            drop(landing, "bad.ttl", "no Turtle")
            driver.until(lambda: heard().total() >= files, "all files are applied")
            assert heard() == Counter(f"matched urn:{number}" for number in range(files))
            driver.until(lambda: len({*running.executors()} - {victim}) == 2, "another executor is started")
            drop(landing, "0.ttl.retract", "")
            driver.until(lambda: heard()["unmatched urn:0"], "a file is taken back")
            driver.until(hub.rejected, "the bad one is set aside")
            assert driver.ask_to_stop() == 0, driver.said
        assert list(hub.check()) == []
        assert len(hub.rows("joined")) == files - 1
        assert [one.reason.partition(" at ")[0] for one in hub.rejected()] == [(landing / "bad.ttl").as_uri()]
