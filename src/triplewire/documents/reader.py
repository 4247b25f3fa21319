"""UTF-8 text to N-Triples by pyoxigraph, with its errors turned into ours."""

from __future__ import annotations

import re
from collections.abc import Iterable
from io import BytesIO
from itertools import islice
from operator import attrgetter

from pyoxigraph import Quad, RdfFormat, Triple, serialize
from pyoxigraph import parse as parse_rdf

from triplewire.documents import xml_literals
from triplewire.documents.formats import RDF_XML, Syntax
from triplewire.documents.limits import Limits
from triplewire.errors import DocumentError, DocumentTooLarge

# What pyoxigraph writes in front of the reason; the place is in the exception as well.
_PLACE = re.compile(r"^Parser error (?:at|between) line \d+[^:]*: ")
_TRIPLE = attrgetter("triple")
_N_TRIPLES = RdfFormat.N_TRIPLES


def read(text: bytes, syntax: Syntax, *, uri: str, limits: Limits) -> bytes:
    """The triples as N-Triples lines, in the order and with the blank nodes of the text."""
    try:
        return _written(xml_literals.spelled(text) if syntax is RDF_XML else text, syntax, uri, limits)
    except (DocumentError, KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except SyntaxError as error:
        reason = _advice(_PLACE.sub("", error.msg), syntax)
        raise DocumentError(reason, uri=uri, line=error.lineno, column=error.offset) from None
    except BaseException as error:
        # A panic of the Rust parser arrives as a BaseException; it concerns this document only.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise DocumentError(f"not readable as {syntax.name}: {error}", uri=uri) from error


def _written(text: bytes, syntax: Syntax, uri: str, limits: Limits) -> bytes:
    quads: Iterable[Quad] = parse_rdf(text, format=syntax.format, base_iri=uri)
    # No syntax states more than two triples in a byte (Turtle's `(:[]:[])` comes nearest): a short text needs no count.
    is_bounded = 2 * len(text) <= limits.triples
    if not is_bounded:
        quads = islice(quads, limits.triples + 1)
    # A graph's syntax gives quads without a graph name, which serialize takes as they are: no Python step for each.
    triples: Iterable[Triple] | Iterable[Quad] = map(_TRIPLE, quads) if syntax.has_graphs else quads
    if not syntax.can_grow:
        lines = serialize(triples, format=_N_TRIPLES) or b""
    else:
        output = _BoundedOutput(uri, limits)
        serialize(triples, output, format=_N_TRIPLES)
        lines = output.getvalue()
    if not is_bounded and lines.count(b"\n") > limits.triples:
        reason = f"states more than {limits.triples} triples; split it, or raise Limits(triples=...)"
        raise DocumentTooLarge(reason, uri=uri)
    return lines


class _BoundedOutput(BytesIO):
    """Where N-Triples go until they are over the limit."""

    def __init__(self, uri: str, limits: Limits) -> None:
        super().__init__()
        self._uri = uri
        self._limit = limits.expanded

    def write(self, chunk: object, /) -> int:
        assert isinstance(chunk, bytes)
        if self.tell() + len(chunk) > self._limit:
            reason = f"expands to over {self._limit} bytes of N-Triples; split it, or raise Limits(expanded=...)"
            raise DocumentTooLarge(reason, uri=self._uri)
        return super().write(chunk)


def _advice(reason: str, syntax: Syntax) -> str:
    if "LoadDocumentCallback" in reason:
        return "a remote JSON-LD context is never fetched; write the context into the document"
    return f"not {syntax.name}: {reason}"
