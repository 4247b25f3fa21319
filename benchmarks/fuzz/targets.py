"""What is fuzzed: each target takes bytes and must end well, or in an error that it may end in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.parsers.expat import ExpatError
from xmlrpc.client import ResponseError

import triplewire
from triplewire.algebra.lint import lint
from triplewire.algebra.wording import readable
from triplewire.deliver import capabilities
from triplewire.deliver.inboxes import linked
from triplewire.documents import Limits, parse
from triplewire.engine.inspect.respelling import respelled
from triplewire.errors import TriplewireError
from triplewire.hub import negotiation
from triplewire.hub.calls import read_call
from triplewire.hub.routes.uploads import _read_quad, _read_record
from triplewire.intake.journal import Journal
from triplewire.outbound import retry_after
from triplewire.polling import opml
from triplewire.store import NewEntry

LIMITS = Limits(bytes=100_000, triples=1000, expanded=1_000_000, nesting=50, effort=20_000)
URI = "http://example.org/a/b"


@dataclass(frozen=True, slots=True)
class Target:
    """What is done with the bytes, the errors that it may end in, and some bytes to begin with."""

    run: Callable[[bytes], object]
    seeds: Sequence[bytes]
    allowed: tuple[type[Exception], ...] = (TriplewireError,)

    def __call__(self, data: bytes) -> None:
        """Try it; an error that it may not end in is raised."""
        with suppress(*self.allowed):
            self.run(data)


def _document(media_type: str) -> Callable[[bytes], object]:
    return lambda data: parse(data, uri=URI, media_type=media_type, limits=LIMITS).parts


def _query(language: str) -> Callable[[bytes], object]:
    def run(data: bytes) -> None:
        pattern = triplewire.compile(data.decode("utf-8", "replace"), language=language)  # type: ignore[arg-type]
        lint(readable(pattern))

    return run


def _journal(data: bytes) -> None:
    """A journal whose file has these bytes is opened, and what is in it is read."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with closing(Journal(folder)) as opened:
            opened.append([NewEntry(2, "a:b", None, b"")])
        (file,) = (each for each in folder.iterdir() if each.suffix == ".log")
        file.write_bytes(data or file.read_bytes())
        with closing(Journal(folder)):
            pass


def _text(run: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: run(data.decode("latin-1"))


_RDF_XML = (
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="a:"><rdf:Description rdf:about="s">'
    b'<a:p rdf:parseType="Collection"><a:T rdf:nodeID="n"/></a:p></rdf:Description></rdf:RDF>'
)
_RSS = (
    b'<rss version="2.0"><channel><title>t</title><item><title>a</title><link>http://a/</link></item></channel></rss>'
)
_ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:f</id><entry><id>urn:e</id><title>t</title></entry></feed>'
_JSON_FEED = (
    b'{"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [{"id": "1", "content_text": "x"}]}'
)
_CALL = (
    b"<methodCall><methodName>a</methodName><params><param><value><int>1</int></value></param></params></methodCall>"
)

TARGETS: Mapping[str, Target] = {
    "turtle": Target(_document("text/turtle"), [b"@prefix a: <a:> . a:s a:p 1, 'x'@en, ( [ a:q () ] ) ."]),
    "trig": Target(_document("application/trig"), [b"PREFIX a: <a:> a:g { [] a:p a:o . } GRAPH _:h { _:s a:p 'x' }"]),
    "n-triples": Target(_document("application/n-triples"), [b'<a:s> <a:p> "\\u00e9"@en .\n_:b <a:p> _:c .\n']),
    "n-quads": Target(_document("application/n-quads"), [b'<a:s> <a:p> "1"^^<a:t> <a:g> .\n']),
    "rdf-xml": Target(_document("application/rdf+xml"), [_RDF_XML]),
    "json-ld": Target(
        _document("application/ld+json"), [b'{"@context": {"p": {"@id": "a:p", "@container": "@list"}}, "p": [1]}']
    ),
    "xml": Target(_document("application/xml"), [b'<?xml version="1.0"?><a b="c"><!-- d --><e>f</e></a>']),
    "feeds": Target(_document("application/octet-stream"), [_RSS, _ATOM, _JSON_FEED]),
    "sparql": Target(
        _query("sparql"), [b"SELECT ?s { ?s <a:p> ?o . FILTER(?o > 1 || ?o = 'x') OPTIONAL { ?s a ?t } }"]
    ),
    "sparql-for-the-engine": Target(
        _text(respelled), [b"SELECT * { ?s <urn:service(1)> 'a service' } # SERVICE", b"ASK { ?s a 'x' }"]
    ),
    "rules": Target(_query("rules"), [b"search CycleProvider c register c where c.serverHost contains 'uni'"]),
    "gql": Target(_query("gql"), [b"SELECT ?x WHERE (?x, p, ?n) SUCHTHAT (?n > 1), (?n <= 5)"]),
    "qel": Target(_query("qel"), [b"ans(X) :- (X, p, Y), (X, q, Z), (Y contains 'N' or Y contains 'K'), Z > 2"]),
    "conjunctive": Target(_query("conjunctive"), [b"?x : (?x, year, ?y) ^ ?y > 2000 ^ not ?y = 2004"]),
    "xpath": Target(_query("xpath"), [b"//item[title='x' and position() < 3]/@href | /a/b[last()]"]),
    "xml-rpc": Target(read_call, [_CALL], (ExpatError, ResponseError, ValueError, TypeError, LookupError)),
    "opml": Target(
        lambda data: opml.read(data, name="a"),
        [b'<opml version="2.0"><body><outline xmlUrl="http://a/"/></body></opml>'],
    ),
    "upload-lines": Target(lambda data: (_read_quad(1, data), None), [b"<a:s> <a:p> <a:o> <a:g> ."]),
    "upload-records": Target(lambda data: _read_record(1, data), [b'{"uri": "a:b", "content": "x", "readers": ["m"]}']),
    "link-headers": Target(
        _text(lambda text: (linked(text, URI), retry_after(text, 0.0))),
        [b'<../in>; rel="http://www.w3.org/ns/ldp#inbox"'],
    ),
    "accept-headers": Target(_text(lambda text: negotiation.best(text, ["text/turtle"])), [b"text/*;q=0.5, */*;q=0.1"]),
    "secret-addresses": Target(_text(capabilities.parsed), [b"main." + b"0" * 32 + b"." + b"A" * 43]),
    "journal": Target(_journal, [b""]),
}
