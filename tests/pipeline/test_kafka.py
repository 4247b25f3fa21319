"""A Kafka topic as the source of a stream, against a real broker: what is sent is applied, each message once (X8)."""

from __future__ import annotations

import random
import time

import pytest
from tests.pipeline.brokers import LOGIN, Broker, Message
from tests.pipeline.drivers import Driver, Story

from engine.workers import batch
from triplewire import Hub, Publish, Retract

KILLS = 4
TURTLE = {"Content-Type": b"text/turtle"}


def asking(url: str) -> Hub:
    hub = Hub(url)
    hub.subscribe("SELECT ?x ?y { ?x <urn:p> ?y }", id="all")
    return hub


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_messages_publish_change_and_retract_and_what_is_no_document_is_set_aside(
    broker, jars, new_url, tmp_path, kind
):
    url, topic = new_url(kind), f"catalogue-{kind}"
    source = broker.make(topic, partitions=3)

    def heard() -> list[str]:
        return [f"{event.kind} {event.row['x'].value} {event.row['y'].value}" for event in hub.events("all")]

    def reasons() -> dict[str, str]:
        return {f"{one.uri} {(one.content or b'-').decode()}": one.reason for one in hub.rejected()}

    with asking(url) as hub, Driver(url, tmp_path, "--source", source, *jars) as driver:
        broker.send(topic, Message(b"urn:a", b"<urn:a> <urn:p> 1 .", TURTLE))
        driver.until(lambda: heard() == ["matched urn:a 1"], "it is published")
        broker.send(topic, Message(b"urn:a", b"<urn:a> <urn:p> 2 .", TURTLE))
        driver.until(lambda: sorted(heard()[1:]) == ["matched urn:a 2", "unmatched urn:a 1"], "it is changed")
        broker.send(
            topic,
            Message(None, b"nameless", TURTLE),
            Message(None, None),
            Message(b"\xff\x00", b"no text", TURTLE),
            Message(b"\xfe", None),
            Message(b"urn:nul\x00", b"nul", TURTLE),
            Message(b"urn:unknown", b"<urn:b> <urn:p> 3 .", {"content-type": b"\xff"}),
            Message(b"urn:garbage", b"no turtle", TURTLE),
            Message(b"urn:b", b"<urn:b> <urn:p> <urn:c> .", {"other": None, "content-type": b"application/n-triples"}),
        )
        driver.until(lambda: "urn:b" in {document.uri for document in hub.documents()}, "the good one goes through")
        driver.until(lambda: len(reasons()) == 7, "the others are set aside")
        broker.stop()
        broker.start()
        broker.send(topic, Message(b"urn:a", None), Message(b"urn:never", None, {"other": b"x"}))
        driver.until(lambda: heard()[-1] == "unmatched urn:a 2", "it is taken back, when the broker is there again")
        assert driver.ask_to_stop() == 0, driver.said
        found = reasons()
        assert found[" nameless"] == found[" -"] == "it has no uri; the key of a message is the uri of its document"
        assert "no text (UTF-8, without NUL)" in found["\ufffd\ufffd no text"]
        assert "no text (UTF-8, without NUL)" in found["\ufffd -"]
        assert "no text (UTF-8, without NUL)" in found["urn:nul\ufffd nul"]
        assert "\ufffd" in found["urn:unknown <urn:b> <urn:p> 3 ."]
        assert "not Turtle" in found["urn:garbage no turtle"]
        assert [document.uri for document in hub.documents()] == ["urn:b"]


def message(change: Publish | Retract) -> Message:
    if isinstance(change, Retract):
        return Message(change.uri.encode(), None)
    return Message(change.uri.encode(), change.document.ntriples, {"content-type": b"application/n-triples"})


class Told(Story):
    """The story as messages, each of them a micro-batch."""

    def __init__(self, url: str, broker: Broker, topic: str) -> None:
        super().__init__(url)
        self.broker, self.topic = broker, topic
        self.source, self.told = broker.make(topic), 0

    def send(self, count: int) -> None:
        for _ in range(count):
            self.told += 1
            for change in batch(self.told):
                self.reference.apply([change])
                self.broker.send(self.topic, message(change))
                self.sent += 1

    def left(self) -> int:
        return self.sent - self.applied()


@pytest.mark.slow
def test_drivers_killed_at_any_moment_apply_every_message_once(broker, jars, new_url, tmp_path):
    chance = random.Random(KILLS)
    story = Told(new_url("postgresql"), broker, "story")
    words = ("--source", story.source, "--most", "1", *jars)
    for _ in range(KILLS):
        story.send(5)
        with Driver(story.url, tmp_path, *words) as driver:
            story.wait_for(story.left() - 1, driver)
            time.sleep(chance.uniform(0.0, 1.0))
            driver.kill()
        assert list(story.hub.store.problems()) == []
        assert story.left(), "it was killed at work"
    with Driver(story.url, tmp_path, *words, "--once") as driver:
        assert driver.end() == 0, driver.said
    assert story.applied() == story.sent
    story.check_all()
    story.hub.close()


@pytest.mark.slow
def test_client_with_a_password_is_let_in_and_one_that_names_no_topic_is_told(broker, jars, new_url, tmp_path):
    url, (user, password) = new_url("sqlite"), LOGIN
    broker.make("secured")
    broker.send("secured", Message(b"urn:a", b"<urn:a> <urn:p> 1 .", TURTLE))
    login = f"org.apache.kafka.common.security.plain.PlainLoginModule required {user} {password};"
    settings = tmp_path / "client.properties"
    settings.write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={login}\n")
    known = ("--kafka-config", str(settings), "--once", *jars)
    with asking(url) as hub:
        with Driver(url, tmp_path, "--source", f"kafka://{broker.secured}/secured", *known) as driver:
            assert driver.end() == 0, driver.said
        assert [event.kind for event in hub.events("all")] == ["matched"]
    (tmp_path / "other").mkdir()
    with Driver(url, tmp_path / "other", "--source", f"kafka://{broker.secured}/nothing", *known) as driver:
        assert driver.end() == 2
        assert f"there is no topic 'nothing' at {broker.secured}" in driver.said
