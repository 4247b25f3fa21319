"""UTF-8 text to N-Triples by pyoxigraph, with its errors turned into ours: the gate to the parser.

The parser cannot be stopped, and what nests too deeply ends the process. So what would be too dear or too deep is
looked for first, here, where no way to the parser goes around it.

Invariant: but for `model.flat`, which reads lines, nothing else calls the parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from io import BytesIO
from itertools import islice
from operator import attrgetter

from pyoxigraph import Quad, RdfFormat, Triple, serialize
from pyoxigraph import parse as parse_rdf

from triplewire.documents import contexts, markup, nesting, xml_literals
from triplewire.documents.formats import JSON_LD, RDF_XML, TRIG, TURTLE, Syntax
from triplewire.documents.limits import Limits
from triplewire.errors import DocumentError, DocumentTooLarge

# What pyoxigraph writes in front of the reason; the place is in the exception as well.
_PLACE = re.compile(r"^Parser error (?:at|between) line \d+[^:]*: ")
_TRIPLE = attrgetter("triple")
_N_TRIPLES = RdfFormat.N_TRIPLES


def read(text: bytes, syntax: Syntax, *, uri: str, limits: Limits, checked: markup.Markup | None = None) -> bytes:
    """The triples as N-Triples lines, in the order and with the blank nodes of the text.

    XML that was `checked` already is not checked again.
    """
    if checked is None:
        _check(text, syntax, uri, limits)
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


def _check(text: bytes, syntax: Syntax, uri: str, limits: Limits) -> None:
    """DocumentError for what the parser could die of, or work on for too long."""
    if syntax is RDF_XML:
        markup.check(text, uri=uri, limits=limits)
        return
    try:
        nesting.check(text, syntax, uri=uri, limits=limits)
    except DocumentError as refusal:
        _tell_earlier_mistake(text, syntax, refusal, uri, limits)
        raise
    if syntax is JSON_LD:
        contexts.check(text, uri=uri, limits=limits)
    elif syntax is TURTLE or syntax is TRIG:
        contexts.check_prefixes(text, uri=uri, limits=limits)


def _tell_earlier_mistake(text: bytes, syntax: Syntax, refusal: DocumentError, uri: str, limits: Limits) -> None:
    """`DocumentError` if the lines before the refused one are wrong: `<<` may come of a mistake that is further up."""
    if refusal.line is None or isinstance(refusal, DocumentTooLarge):
        return
    before = b"".join(text.splitlines(keepends=True)[: refusal.line - 1])
    try:
        read(before, syntax, uri=uri, limits=limits)
    except DocumentError as mistake:
        is_the_cut = "nexpected end" in mistake.reason  # a statement that goes on in the refused line
        if mistake.line is not None and not is_the_cut:
            raise mistake from None


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
