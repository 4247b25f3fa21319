"""A small text may state a graph whose blank nodes take long to name, and its process does nothing else meanwhile."""

import asyncio
import threading
from contextlib import closing

import pytest

from triplewire.documents import Limits, parse
from triplewire.errors import DocumentTooLarge, ServiceUnavailable
from triplewire.isolation import parsing
from triplewire.isolation.parsing import Parsers, TextToRead

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'


def complete_graph(size):
    """Each of so many blank nodes has an edge to each other one: for RDFC-1.0 they all look alike."""
    edges = "".join(
        f'<rdf:Description rdf:nodeID="n{a}">'
        + "".join(f'<e:p rdf:nodeID="n{b}"/>' for b in range(size) if a != b)
        + "</rdf:Description>"
        for a in range(size)
    )
    return f'<rdf:RDF {RDF} xmlns:e="urn:e#">{edges}</rdf:RDF>'.encode()


MAKE_BLANK_NODES = [
    ("application/rdf+xml", complete_graph(3)),
    ("application/rdf+xml", f"<rdf:RDF {RDF}><rdf:Description/></rdf:RDF>".encode()),
    ("text/xml", complete_graph(3)),
    (None, complete_graph(3)),
    ("text/turtle", b"<urn:a> <urn:b> ( 1 2 ) ."),
    ("text/turtle", b"<urn:a> <urn:b> [] ."),
    ("text/turtle", b"<urn:a> <urn:b> _:c ."),
    ("text/turtle", b"<< <urn:a> <urn:b> <urn:c> >> <urn:d> 1 ."),
    ("text/turtle", b"<urn:a> <urn:b> <urn:c> {| <urn:d> 1 |} ."),
    ("text/turtle", b"<urn:a> <urn:b> <urn:c> ~ ."),
    ("application/trig", b"<urn:g> { <urn:a> <urn:b> ( 1 ) }"),
    (None, b"<urn:a> <urn:b> ( 1 2 ) ."),
    ("application/n-triples", b"<urn:a> <urn:b> _:c ."),
    ("application/n-quads", b"_:a <urn:b> <urn:c> <urn:g> ."),
    ("application/ld+json", b'{"http://e/p": {"http://e/q": 1}}'),
    ("text/turtle", b'<rss version="2.0"><channel><item><title>a</title></item></channel></rss>'),
]


@pytest.mark.parametrize(("media_type", "data"), MAKE_BLANK_NODES)
def test_text_that_may_have_blank_nodes_is_not_read_on_the_event_loop(media_type, data):
    assert not TextToRead(data, "urn:d", media_type, Limits()).is_plain


@pytest.mark.parametrize("media_type", ["text/turtle", "application/trig", "application/n-triples", None])
def test_short_text_of_names_and_literals_is_read_on_the_event_loop(media_type):
    assert TextToRead(b'<urn:a> <urn:b> "c" .', "urn:d", media_type, Limits()).is_plain


@pytest.fixture
def places(monkeypatch):
    """The thread in which each text was parsed in this process, and the effort that it was allowed."""
    found = []

    def recorded(data, **more):
        found.append((threading.current_thread(), more["limits"].effort))
        return parse(data, **more)

    monkeypatch.setattr(parsing, "parse", recorded)
    return found


@pytest.mark.parametrize(("media_type", "data"), MAKE_BLANK_NODES[:1] + MAKE_BLANK_NODES[4:6] + MAKE_BLANK_NODES[14:15])
def test_event_loop_goes_on_while_blank_nodes_are_named(places, media_type, data):
    with closing(Parsers(1)) as parsers:
        asyncio.run(parsers.read(data, uri="urn:d", media_type=media_type))
    assert places
    assert all(thread is not threading.main_thread() for thread, _ in places)


def test_small_graph_that_is_dear_to_name_is_named_by_another_process(places):
    data, limits = complete_graph(6), Limits()
    with closing(Parsers(1)) as parsers:
        found = asyncio.run(parsers.read(data, uri="urn:d", media_type="application/rdf+xml"))
        again = parsers.parse(data, uri="urn:d", media_type="application/rdf+xml")
    assert found == again == parse(data, uri="urn:d", media_type="application/rdf+xml")
    assert all(effort < limits.effort / 10 for _, effort in places)


def test_small_text_that_grows_is_read_by_another_process(places):
    data = b"@prefix p: <urn:" + b"x" * 4_000 + b"> .\n" + b"p:a p:b p:c .\n" * 200
    with closing(Parsers(1)) as parsers:
        assert TextToRead(data, "urn:d", "text/turtle", Limits()).parsed_cheaply() is None
        assert len(parsers.parse(data, uri="urn:d", media_type="text/turtle")) == 1


def test_graph_that_no_process_could_name_is_refused_as_before():
    with closing(Parsers(1)) as parsers, pytest.raises(DocumentTooLarge, match="too symmetric"):
        asyncio.run(parsers.read(complete_graph(12), uri="urn:d", media_type="application/rdf+xml"))


def test_uploads_of_symmetric_graphs_are_never_read_on_the_loop_of_the_service(served, places):
    headers = {"Content-Type": "application/rdf+xml"}
    told = served.put("/v1/document", params={"uri": "urn:d"}, content=complete_graph(6), headers=headers)
    assert told.is_success, told.text
    assert served.get("/v1/health/live").json()["live"]
    assert places
    assert all(thread.name.startswith("triplewire-reading") and effort <= 10_000 for thread, effort in places)


# -- who waits for a process


class Held(parsing.Process):
    """A process that answers when it is let go."""

    free = threading.Event()
    asked = threading.Semaphore(0)

    def __init__(self, module):
        super().__init__(module)

    def ask(self, message, seconds):
        Held.asked.release()
        assert Held.free.wait(30)
        return super().ask(message, seconds)


@pytest.fixture
def held(monkeypatch):
    monkeypatch.setattr(Held, "free", threading.Event())
    monkeypatch.setattr(Held, "asked", threading.Semaphore(0))
    monkeypatch.setattr(parsing, "Process", Held)
    yield Held
    Held.free.set()


LARGE = b"<urn:a> <urn:b> 1 .\n" * 1_000


def read_large(parsers):
    return parsers.read(LARGE, uri="urn:d", media_type="text/turtle")


def test_who_waits_for_a_parser_takes_no_thread_of_others(held):
    """Invariant of `isolation.parsing`: no text waits for a process in a thread that others need."""

    async def many():
        asyncio.get_running_loop().slow_callback_duration = 10
        reading = [asyncio.create_task(read_large(parsers)) for _ in range(64)]
        assert await asyncio.to_thread(held.asked.acquire, timeout=30)
        await asyncio.wait_for(asyncio.to_thread(int), 30)  # while all of them wait
        assert not any(each.done() for each in reading)
        held.free.set()
        assert len({document.digest for document in await asyncio.gather(*reading)}) == 1

    with closing(Parsers(1)) as parsers:
        asyncio.run(many())


def test_text_is_refused_when_too_many_wait(held):
    """Invariant of `isolation.parsing`: no more texts wait than `most_waiting`."""

    async def many():
        reading = [asyncio.create_task(read_large(parsers)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(ServiceUnavailable, match="more documents wait to be read"):
            await read_large(parsers)
        plain = await parsers.read(b"<urn:a> <urn:b> 1 .", uri="urn:d", media_type="text/turtle")
        assert len(plain) == 1
        held.free.set()
        await asyncio.gather(*reading)
        assert len(await read_large(parsers)) == 1

    with closing(Parsers(1, most_waiting=3)) as parsers:
        asyncio.run(many())


def test_text_whose_turn_does_not_come_is_refused(held):
    async def two():
        first = asyncio.create_task(read_large(parsers))
        assert await asyncio.to_thread(held.asked.acquire, timeout=30)
        with pytest.raises(ServiceUnavailable, match="more documents wait to be read"):
            await read_large(parsers)
        with pytest.raises(ServiceUnavailable, match="more documents wait to be read"):
            await asyncio.to_thread(parsers.parse, LARGE, uri="urn:d", media_type="text/turtle")
        held.free.set()
        await first

    with closing(Parsers(1, patience=0.2)) as parsers:
        asyncio.run(two())
