"""The ways by which documents come into a hub, spoken to alike: send some, and hear which were refused, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple
from xmlrpc.client import Fault, ServerProxy

from pyspark.sql import SparkSession
from tests.pipeline.brokers import Broker, Message
from tests.pipeline.drivers import Driver
from typer.testing import CliRunner

from hub.serving import serving
from polling.server import serving as site_serving
from triplewire import Hub, TriplewireError, Unread, parse
from triplewire.cli.app import app
from triplewire.documents import Limits
from triplewire.hub.changes.applier import Applier
from triplewire.intake.entries import entry_of
from triplewire.intake.logs import log_of
from triplewire.intake.settlement import settle_changes
from triplewire.model import Publish
from triplewire.pipeline.streaming.landing import Landing
from triplewire.pipeline.streaming.running import Plan, Stream
from triplewire.polling import Poller, PollingManners

TURTLE = {"Content-Type": b"text/turtle"}


class Sent(NamedTuple):
    """A document as a publisher sends it; `name` tells it from the others, whichever uri its way gives it."""

    name: str
    content: str
    media_type: str = "text/turtle"


class Way(NamedTuple):
    """A way in: the hub behind it, the uri that a name has there, and how to send documents.

    `send` gives what was said of those that were refused, by uri. A way that `is_whole` takes all or nothing; one that
    is `whole_feeds` takes all or nothing of a feed.
    """

    hub: Hub
    send: Callable[[Sequence[Sent]], dict[str, str]]
    uri: Callable[[str], str] = "urn:document:{}".format
    is_whole: bool = False
    whole_feeds: bool = False


def _read(sent: Sent, uri: str) -> Publish:
    return Publish(parse(sent.content, uri=uri, media_type=sent.media_type))


def _each(documents: Sequence[Sent], uri: Callable[[str], str], send: Callable[[Sent, str], object]) -> dict[str, str]:
    """Send one after the other; what was raised of each."""
    told = {}
    for sent in documents:
        try:
            send(sent, uri(sent.name))
        except (TriplewireError, Fault) as error:
            told[uri(sent.name)] = error.faultString if isinstance(error, Fault) else str(error)
    return told


# -- the library


@contextmanager
def published(folder: Path) -> Iterator[Way]:
    """`Hub.publish`, one by one."""
    with Hub(":memory:") as hub:
        way = Way(hub, dict)

        def publish(sent, uri):
            hub.publish(sent.content, uri=uri, media_type=sent.media_type)

        def send(documents):
            return _each(documents, way.uri, publish)

        yield way._replace(send=send, whole_feeds=True)


@contextmanager
def applied(folder: Path) -> Iterator[Way]:
    """`Hub.apply`, all as one batch."""
    with Hub(":memory:") as hub:
        way = Way(hub, dict)

        def send(documents):
            try:
                hub.apply([_read(sent, way.uri(sent.name)) for sent in documents])
            except TriplewireError as error:
                return {"": str(error)}
            return {}

        yield way._replace(send=send, is_whole=True, whole_feeds=True)


@contextmanager
def settled(folder: Path) -> Iterator[Way]:
    """A settlement of changes that were read."""
    with Hub(":memory:") as hub:
        way = Way(hub, dict)

        def send(documents):
            changes = []
            told = _each(documents, way.uri, lambda sent, uri: changes.append(_read(sent, uri)))
            refused = [one for each in settle_changes(changes, hub.apply) for one in each.refused]
            return told | {one.change.uri: str(one.error) for one in refused}

        yield way._replace(send=send)


@contextmanager
def commanded(folder: Path) -> Iterator[Way]:
    """`triplewire publish` of files; of all that it says, the line that begins with the file's name or uri counts."""
    store, files = f"sqlite:///{folder}/hub.db", folder / "files"

    def uri(name):
        return (files / name).as_uri()

    def send(documents):
        paths = [_written(files, sent) for sent in documents]
        done = CliRunner().invoke(app, ["publish", store, *map(str, paths)])
        assert done.exit_code in (0, 1), done.output
        lines = done.output.replace(f"{files}/", f"{files.as_uri()}/").replace("file://file://", "file://").splitlines()
        return {uri(sent.name): line for line in lines for sent in documents if uri(sent.name) in line}

    with Hub(store) as hub:
        yield Way(hub, send, uri)


def _written(folder: Path, sent: Sent) -> Path:
    """A file of a document; its name has the suffix already."""
    folder.mkdir(exist_ok=True)
    path = folder / sent.name
    path.write_text(sent.content)
    return path


# -- logs


@contextmanager
def submitted(folder: Path) -> Iterator[Way]:
    """The intake log of a store, in one submission."""
    with Hub(f"sqlite:///{folder}/hub.db") as hub:
        way = Way(hub, dict)

        def send(documents):
            hub.submit([Unread(way.uri(each.name), each.content.encode(), each.media_type) for each in documents])
            return set_aside(hub)

        yield way._replace(send=send)


@contextmanager
def journalled(folder: Path) -> Iterator[Way]:
    """The journal beside a store, whose documents were read before."""
    with Hub(f"sqlite:///{folder}/hub.db") as hub, closing(log_of(hub.store)) as log:
        way = Way(hub, dict)

        def send(documents):
            entries = []
            told = _each(documents, way.uri, lambda sent, uri: entries.append(entry_of(_read(sent, uri))))
            log.append(entries)
            return told | set_aside(hub)

        yield way._replace(send=send)


@contextmanager
def landed(folder: Path) -> Iterator[Way]:
    """Files in a landing folder."""
    files = folder / "landing"
    files.mkdir()
    with Hub(f"sqlite:///{folder}/hub.db") as hub:
        landing = Landing(files, hub.store)

        def send(documents):
            for sent in documents:
                _written(files, sent)
            landing.look()
            return set_aside(hub)

        yield Way(hub, send, lambda name: (files / name).as_uri())


def set_aside(hub: Hub, apply: Callable[[], object] | None = None) -> dict[str, str]:
    """Apply all that waits; what was set aside by that."""
    before = [each.number for each in hub.rejected(limit=10_000)]
    (apply or _drain(hub))()
    return {each.uri: each.reason for each in hub.rejected(after=max(before, default=0), limit=10_000)}


def _drain(hub: Hub) -> Callable[[], None]:
    def drain() -> None:
        applier = Applier(hub, Limits())
        while applier.step():
            pass

    return drain


@contextmanager
def streamed(folder: Path, spark: SparkSession) -> Iterator[Way]:
    """The intake log of a store, which Spark reads."""
    url = f"sqlite:///{folder}/hub.db"
    with Hub(url) as hub, closing(Stream(spark, Plan(url, "intake", folder / "checkpoint"))) as stream:
        way = Way(hub, dict)

        def send(documents):
            hub.submit([Unread(way.uri(each.name), each.content.encode(), each.media_type) for each in documents])
            return set_aside(hub, stream.once)

        yield way._replace(send=send)


@contextmanager
def streamed_files(folder: Path, spark: SparkSession) -> Iterator[Way]:
    """Files in a landing folder that a stream looks into."""
    files, url = folder / "landing", f"sqlite:///{folder}/hub.db"
    files.mkdir()
    with Hub(url) as hub, closing(Stream(spark, Plan(url, str(files), folder / "checkpoint"))) as stream:

        def send(documents):
            for sent in documents:
                _written(files, sent)
            return set_aside(hub, stream.once)

        yield Way(hub, send, lambda name: (files / name).as_uri())


@contextmanager
def messages(folder: Path, broker: Broker, jars: Sequence[str]) -> Iterator[Way]:
    """A topic of Kafka, read by a stream in a process of its own."""
    url, source = f"sqlite:///{folder}/hub.db", broker.make("contract")
    with Hub(url) as hub, Driver(url, folder, "--source", source, *jars) as driver:
        way = Way(hub, dict)

        def send(documents):
            sent = [
                Message(way.uri(each.name).encode(), each.content.encode(), {"Content-Type": each.media_type.encode()})
                for each in documents
            ]
            end = Message(f"urn:end:{documents[0].name}".encode(), b"<urn:a> <urn:p> 1 .", TURTLE)
            broker.send("contract", *sent, end)
            return set_aside(hub, lambda: driver.until(lambda: is_there(end), "all messages are applied"))

        def is_there(message):
            return hub.document(message.key.decode()) is not None

        yield way._replace(send=send)


# -- a service


@contextmanager
def put(folder: Path) -> Iterator[Way]:
    """`PUT /v1/document`, by several clients at once."""
    with serving(f"sqlite:///{folder}/hub.db") as served, ThreadPoolExecutor(4) as clients:
        way = Way(served.hub, dict)

        def ask(sent):
            answer = served.put(
                "/v1/document",
                params={"uri": way.uri(sent.name)},
                content=sent.content,
                headers={"Content-Type": sent.media_type, "If-None-Match": '"another"'},
            )
            told = answer.json()
            if answer.status_code >= 400:
                return {way.uri(sent.name): told["detail"]}
            return {each["uri"]: each["detail"] for each in told["warnings"]}

        def send(documents):
            return {uri: said for told in clients.map(ask, documents) for uri, said in told.items()}

        yield way._replace(send=send)


@contextmanager
def uploaded(folder: Path) -> Iterator[Way]:
    """`POST /v1/documents`."""
    with serving(f"sqlite:///{folder}/hub.db") as served:
        way = Way(served.hub, dict)

        def send(documents):
            lines = [
                json.dumps({"uri": way.uri(each.name), "content": each.content, "media_type": each.media_type})
                for each in documents
            ]
            answer = served.post(
                "/v1/documents", content="\n".join(lines), headers={"Content-Type": "application/x-ndjson"}
            )
            return {each["uri"]: each["problem"]["detail"] for each in answer.json()["problems"]}

        yield way._replace(send=send)


@contextmanager
def bundled(folder: Path) -> Iterator[Way]:
    """`POST /v1/changes`: a bundle."""
    with serving(f"sqlite:///{folder}/hub.db") as served:
        way = Way(served.hub, dict)

        def send(documents):
            changes = [
                {"uri": way.uri(each.name), "content": each.content, "media_type": each.media_type}
                for each in documents
            ]
            answer = served.post("/v1/changes", json={"changes": changes})
            return {} if answer.status_code < 400 else {"": answer.json()["detail"]}

        yield way._replace(send=send, is_whole=True, whole_feeds=True)


@contextmanager
def called(folder: Path) -> Iterator[Way]:
    """XML-RPC."""
    with serving(f"sqlite:///{folder}/hub.db") as served, ServerProxy(f"{served.url}/v1/xml-rpc") as remote:
        way = Way(served.hub, dict)

        def send(documents):
            told: dict[str, str] = {}

            def publish(sent, uri):
                answer = remote.triplewire.publish(sent.content, uri, sent.media_type)
                told.update({said.partition(": ")[0]: said for said in answer["refused"]})

            return _each(documents, way.uri, publish) | told

        yield way._replace(send=send)


@contextmanager
def polled(folder: Path) -> Iterator[Way]:
    """Documents at addresses that a hub follows."""
    with site_serving() as site, Hub(f"sqlite:///{folder}/hub.db") as hub:
        poller = Poller(hub, manners=PollingManners(allow_private=True, pause=0.0))

        def uri(name):
            return site.url(f"/{name}")

        def send(documents):
            for sent in documents:
                site.put(f"/{sent.name}", sent.content, Content_Type=sent.media_type)
            poller.follow([uri(sent.name) for sent in documents])
            told = {}
            while asked := list(poller.round()):
                told |= {each.feed.uri: each.problem for each in asked if each.problem}
                told |= {each.uri: str(each) for one in asked for each in one.others}
            return told

        yield Way(hub, send, uri)


QUICK = (published, applied, settled, commanded, submitted, journalled, landed, put, uploaded, bundled, called, polled)
"""The ways that need no Spark."""
