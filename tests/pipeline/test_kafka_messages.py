"""Messages as entries, and what can be told of a topic without a broker."""

from __future__ import annotations

import socket
from datetime import UTC, datetime

import pytest
from tests.pipeline.streams import MicroBatches

from triplewire.errors import PipelineError
from triplewire.pipeline.streaming.kafka import client_settings, entries_of, explained, require_a_server

MESSAGES = (
    "key binary, value binary, partition int, offset bigint, timestamp timestamp,"
    " headers array<struct<key: string, value: binary>>"
)


def test_messages_whose_keys_are_no_text_are_set_aside_and_the_others_are_applied(spark, new_url):
    """X8: a key that cannot be decoded, or other headers than ours, once ended the stream, again and again."""
    turtle = [("Content-Type", b"text/turtle")]
    sent = [
        (b"urn:a", b"<urn:a> <urn:p> 1 .", turtle),
        (b"\xff\xfe", b"<urn:b> <urn:p> 1 .", turtle),
        (b"urn:\0", b"<urn:b> <urn:p> 1 .", turtle),
        (None, None, None),
        (b"urn:c", b"<urn:c> <urn:p> 1 .", [("content-type", b"text/\0")]),
        (b"urn:gone", None, [("other", None)]),
    ]
    now = datetime.now(UTC)
    rows = [(key, value, 0, offset, now, headers) for offset, (key, value, headers) in enumerate(sent)]
    world = MicroBatches(spark, new_url("sqlite"))
    world.batches.apply(entries_of(spark.createDataFrame(rows, MESSAGES)), "batch")
    refused = [(one.uri, one.reason.partition(";")[0]) for one in world.hub.rejected()]
    world.hub.close()
    no_text = "the key of the message is no text (UTF-8, without NUL), and so no uri"
    assert world.done[0].entries == len(sent)
    assert [reason.partition(";")[0] for reason in world.done[0].rejected] == [reason for _, reason in refused]
    assert sorted(refused) == [
        ("", "it has no uri"),
        ("urn:c", "urn:c: the media type 'text/\ufffd' is not served"),
        ("urn:\ufffd", no_text),
        ("\ufffd\ufffd", no_text),
    ]


def test_client_settings_are_read_as_kafka_has_them(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text(
        '# ours\n\nsecurity.protocol=SASL_SSL\nsasl.jaas.config = a.Module required user="x";\n! no\nk: v\n'
    )
    assert client_settings(file) == {
        "security.protocol": "SASL_SSL",
        "sasl.jaas.config": 'a.Module required user="x";',
        "k": "v",
    }


@pytest.mark.parametrize("text", ["alone\n", "ok=1\ncut=\\\n short\n"])
def test_client_settings_that_cannot_be_read_are_told_with_their_line(tmp_path, text):
    file = tmp_path / "client.properties"
    file.write_text(text)
    with pytest.raises(PipelineError, match=rf"line {text.count('=') or 1}: a setting is one line, name=value"):
        client_settings(file)


def test_client_settings_that_are_not_there_are_told(tmp_path):
    with pytest.raises(PipelineError, match="cannot be read"):
        client_settings(tmp_path / "nothing")


def test_server_that_does_not_run_is_told_at_once():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        there = f"127.0.0.1:{taken.getsockname()[1]}"
        require_a_server(f"127.0.0.1:1,{there}")
    with pytest.raises(PipelineError, match=rf"{there} \(.*; does it run there\?"):
        require_a_server(there)
    with pytest.raises(PipelineError, match="host:x is not HOST:PORT"):
        require_a_server("host:x")


def test_topic_that_is_not_there_is_called_by_its_name():
    source = "kafka://host:9092/catalogue"
    said = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host it."
    assert "there is no topic 'catalogue' at host:9092" in explained(source, said)
    assert explained(source, "something else") == "something else"
