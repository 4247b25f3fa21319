"""A document that ends the process that reads it: its client gets a clear refusal, and nobody else notices."""

import os
import signal
import threading
import time
from contextlib import closing

import pytest

from hub.serving import problem
from triplewire.documents import Limits
from triplewire.errors import DocumentError, DocumentTooLarge
from triplewire.isolation import parsing
from triplewire.isolation.parsing import Parsers, TextToRead

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
SLOW = f'<rdf:RDF {RDF} xmlns:e="urn:e">' + "<e:a>" * 50_000 + "</e:a>" * 50_000 + "</rdf:RDF>"
LARGE = "".join(f'<urn:s{n}> <urn:p> "{"x" * 200}" .\n' for n in range(50_000))


@pytest.fixture
def started(monkeypatch):
    """The processes that were started to read documents."""
    found = []

    class Recorded(parsing.Process):
        def __init__(self, module):
            super().__init__(module)
            found.append(self._popen)

    monkeypatch.setattr(parsing, "Process", Recorded)
    return found


def kill_the_first(started, after):
    def kill():
        while not started:
            time.sleep(0.01)
        time.sleep(after)
        os.kill(started[0].pid, signal.SIGSEGV)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def test_nested_triple_terms_in_an_upload_are_refused_and_the_service_lives(served):
    nested = "<<( <urn:a> <urn:b> " * 30_000 + "<urn:c>" + " )>>" * 30_000
    lines = f"<urn:a> <urn:b> <urn:c> <urn:good> .\n<urn:a> <urn:b> {nested} <urn:bad> .\n"
    told = served.post("/v1/documents", content=lines, headers={"Content-Type": "application/n-quads"})
    assert (told.json()["published"], told.json()["refused"]) == (1, 1)
    assert served.get("/v1/health").status_code == 200


def test_client_of_a_document_that_kills_gets_a_refusal_and_others_are_served(served, started):
    served.publish("urn:before", "<urn:a> <urn:b> 1 .")
    thread = kill_the_first(started, after=0.05)
    told = problem(served.publish("urn:killer", LARGE), 400)
    thread.join()
    assert "ended the process" in told["detail"]
    assert served.publish("urn:after", LARGE).status_code == 201
    assert served.get("/v1/document", params={"uri": "urn:before"}).status_code == 200
    assert len(started) == 2


def test_process_that_dies_is_followed_by_another(started):
    with closing(Parsers(1)) as parsers:
        thread = kill_the_first(started, after=0.05)
        with pytest.raises(DocumentError, match="ended the process"):
            parsers.parse(LARGE.encode(), uri="urn:d", media_type="text/turtle")
        thread.join()
        assert len(parsers.parse(LARGE.encode(), uri="urn:d", media_type="text/turtle")) == 50_000
    assert all(each.poll() is not None for each in started)


def test_document_that_takes_too_long_is_refused():
    with closing(Parsers(1, seconds=1.0)) as parsers, pytest.raises(DocumentTooLarge, match="within 1 seconds"):
        parsers.parse(SLOW.encode(), uri="urn:d", media_type="application/rdf+xml", limits=Limits(nesting=1 << 20))


def test_small_flat_documents_are_read_without_a_process(started):
    with closing(Parsers(1)) as parsers:
        assert len(parsers.parse(b"<urn:a> <urn:b> 1 .", uri="urn:d", media_type="text/turtle")) == 1
        with pytest.raises(DocumentError, match="line 1"):
            parsers.parse(b"nonsense", uri="urn:d", media_type="text/turtle")
    assert started == []


@pytest.mark.parametrize("data", [b"x" * 20_000, b"[" * 65, b"<<" * 65])
def test_large_or_deep_text_is_not_harmless(data):
    assert not TextToRead(data, "urn:d", None, Limits()).is_harmless


def test_errors_cross_with_their_place():
    text = b"<urn:a> <urn:b> 1 .\n" * 2_000 + b"nonsense"
    with closing(Parsers(1)) as parsers, pytest.raises(DocumentError) as caught:
        parsers.parse(text, uri="urn:d", media_type="text/turtle")
    assert caught.value.line == 2_001
