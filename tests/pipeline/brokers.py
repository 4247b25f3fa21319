"""A real Kafka for the tests: one broker on loopback, from the artifacts that Maven fetches, and Spark's connector.

What is fetched (60 MB) stays in `.cache`, which git ignores. The broker keeps its log in a folder of the test, listens
without a password on one port and with one on another, and is stopped by the test that started it.
"""

from __future__ import annotations

import base64
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pyspark

CACHE = Path(__file__).parents[2] / ".cache" / "kafka"
BROKER = "4.1.0"
"""Kafka's version: this one runs on Java 17, and needs nothing beside itself."""
CONNECTORS = (
    (f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}",),
    (
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
        "org.apache.kafka:kafka-clients:3.9.1",
        "org.apache.commons:commons-pool2:2.12.1",
    ),
)
"""Spark's connector: the one of this Spark; and parts of older ones, which fit, where Maven's registry lacks that."""
LOGIN = "username=reader", "password=secret"

_START, _FETCH = 600, 600
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion>
<groupId>triplewire</groupId><artifactId>parts</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>{}</dependencies>
</project>"""
_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}</dependency>"
_ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
_OF_SPARK = "scala-library,scala-parallel-collections_2.13,hadoop-client-api,hadoop-client-runtime,slf4j-api,jsr305"
_PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{control}
listeners=PLAIN://127.0.0.1:{plain},SECURED://127.0.0.1:{secured},CONTROL://127.0.0.1:{control}
advertised.listeners=PLAIN://127.0.0.1:{plain},SECURED://127.0.0.1:{secured}
controller.listener.names=CONTROL
inter.broker.listener.name=PLAIN
listener.security.protocol.map=PLAIN:PLAINTEXT,SECURED:SASL_PLAINTEXT,CONTROL:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.secured.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
 user_reader="secret";
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
"""


class NotToBeHad(Exception):
    """Why there is no broker here."""


class Parts(NamedTuple):
    """Where the jars are: the broker's, and those that Spark is given."""

    broker: Path
    connector: Path


class Message(NamedTuple):
    """A message; without a value it is a tombstone."""

    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes | None] = {}


def parts() -> Parts:
    """The jars, fetched if they are not there; `NotToBeHad` says why they cannot be."""
    broker = _fetched(f"broker-{BROKER}", [f"org.apache.kafka:kafka_2.13:{BROKER}"])
    reasons = []
    for names in CONNECTORS:
        try:
            return Parts(broker, _fetched(f"connector-{names[0].rpartition(':')[2]}", names))
        except NotToBeHad as reason:
            reasons.append(str(reason))
    raise NotToBeHad("; ".join(reasons))


def _fetched(name: str, artifacts: Iterable[str]) -> Path:
    """A folder with the jars of artifacts: of one with all that it needs, of several with themselves only."""
    folder = CACHE / name
    if folder.exists():
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise NotToBeHad("Maven is needed to fetch Kafka (Debian, Ubuntu: apt install maven)")
    making = CACHE / f"{name}-{uuid.uuid4().hex}"
    making.mkdir(parents=True)
    named = list(artifacts)
    alone = _ALONE if len(named) > 1 else ""
    dependencies = "".join(_DEPENDENCY.format(*one.split(":"), alone) for one in named)
    (making / "pom.xml").write_text(_POM.format(dependencies))
    excluded = () if name.startswith("broker") else (f"-DexcludeArtifactIds={_OF_SPARK}",)
    goal = ("dependency:copy-dependencies", "-DoutputDirectory=jars", "-DincludeScope=runtime", *excluded)
    try:
        done = subprocess.run([maven, "-q", "-B", *goal], cwd=making, capture_output=True, text=True, timeout=_FETCH)
    except subprocess.TimeoutExpired:
        raise NotToBeHad(f"Maven did not fetch {named[0]} within {_FETCH} seconds") from None
    if done.returncode == 0:
        with suppress(OSError):  # another run of the tests was as fast
            (making / "jars").rename(folder)
    shutil.rmtree(making)
    if not folder.exists():
        said = next((line for line in done.stdout.splitlines() if "ERROR" in line), "it said nothing")
        raise NotToBeHad(f"Maven cannot fetch {named[0]}: {said}")
    return folder


class Broker:
    """A broker that can be stopped and started again."""

    def __init__(self, jars: Path, folder: Path) -> None:
        self._jars, self._folder = jars, folder
        plain, secured, control = _free_ports(3)
        self.server, self.secured = f"127.0.0.1:{plain}", f"127.0.0.1:{secured}"
        self._ports = (plain, secured)
        self._process: subprocess.Popen[bytes] | None = None
        about = {"plain": plain, "secured": secured, "control": control, "data": folder / "data"}
        (folder / "server.properties").write_text(_PROPERTIES.format(**about))
        id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        with (folder / "format.log").open("wb") as log:
            command = self._java("kafka.tools.StorageTool", "format", "-t", id, "-c", "server.properties")
            subprocess.run(command, cwd=folder, stdout=log, stderr=log, check=True)

    def _java(self, *words: str) -> list[str]:
        return ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{self._jars}/*", *words]

    def start(self) -> None:
        """Let it run; back when it takes connections."""
        with (self._folder / "server.log").open("ab") as log:
            command = self._java("kafka.Kafka", "server.properties")
            self._process = subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log)
        until = time.monotonic() + _START
        while not all(map(_answers, self._ports)):
            assert self._process.poll() is None, (self._folder / "server.log").read_text()
            assert time.monotonic() < until, "the broker did not come up"
            time.sleep(0.1)

    def stop(self) -> None:
        """End it; what was sent stays."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(60)
            finally:
                self._process.kill()
                self._process.wait()
                self._process = None

    def make(self, topic: str, partitions: int = 1) -> str:
        """A new topic; gives its url."""
        from confluent_kafka.admin import AdminClient, NewTopic

        client = AdminClient({"bootstrap.servers": self.server})
        client.create_topics([NewTopic(topic, partitions, 1)])[topic].result(_START)
        return f"kafka://{self.server}/{topic}"

    def send(self, topic: str, *messages: Message) -> None:
        """Put messages on a topic; back when the broker has them all."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.server})
        failures: list[object] = []
        for key, value, headers in messages:
            producer.produce(
                topic, value, key, headers=list(headers.items()), on_delivery=lambda error, _: failures.append(error)
            )
        assert producer.flush(_START) == 0
        assert failures == [None] * len(messages)


@contextmanager
def broker(jars: Path, folder: Path) -> Iterator[Broker]:
    """A broker for the time of the block."""
    found = Broker(jars, folder)
    try:
        found.start()
        yield found
    finally:
        found.stop()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _answers(port: int) -> bool:
    with socket.socket() as asked:
        asked.settimeout(1)
        return asked.connect_ex(("127.0.0.1", port)) == 0
