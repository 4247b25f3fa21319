"""How deep the brackets of a text go, and whether it has triple terms, found without parsing.

Both are looked for before the parser runs, because the parser cannot be stopped: pyoxigraph overflows its stack on
triple terms within triple terms, and needs quadratic time for JSON objects within JSON objects.
Most texts have fewer brackets than the limit and are not scanned at all.
"""

from __future__ import annotations

import re

import numpy as np

from triplewire.documents.formats import JSON_LD, Syntax
from triplewire.documents.limits import Limits
from triplewire.errors import DocumentError, DocumentTooLarge

# What brackets do not count in: comments, long and short strings, IRIs, escapes in names. Everything is possessive and
# an unclosed string ends with its line or text, so the scan is linear. `<<` is never taken for the start of an IRI: a
# comment after it, as in `<<(#>`, would otherwise hide it.
_QUOTED_TURTLE = re.compile(
    rb'#[^\n\r]*+|"""(?:[^"\\]++|\\.|"(?!""))*+(?:"""|\Z|\\)|\'\'\'(?:[^\'\\]++|\\.|\'(?!\'\'))*+(?:\'\'\'|\Z|\\)'
    rb'|"(?:[^"\\\n\r]++|\\.)*+"?|\'(?:[^\'\\\n\r]++|\\.)*+\'?|(?<!<)<[^<>"{}|^`\x00-\x20]*+>|\\.',
    re.DOTALL,
)
_QUOTED_JSON = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)

_STEP = np.zeros(256, dtype=np.int8)
_STEP[list(b"([{")] = 1
_STEP[list(b")]}")] = -1


def check(text: bytes, syntax: Syntax, *, uri: str, limits: Limits) -> None:
    """`DocumentError` if the text has triple terms, `DocumentTooLarge` if its brackets go too deep."""
    is_json = syntax is JSON_LD
    # N-Triples are full of `<` but have `(` only in triple terms, and one byte is found far faster than two.
    has_triple_terms = not is_json and (syntax.can_grow or b"(" in text) and b"<<" in text
    has_brackets = text.count(b"[") + text.count(b"{") + text.count(b"(") > limits.nesting
    if not (has_triple_terms or has_brackets):
        return
    quoted = _QUOTED_JSON if is_json else _QUOTED_TURTLE
    bare = quoted.sub(b" ", text)
    if has_triple_terms and b"<<" in bare:
        raise triple_terms_not_served(uri, *position(text, quoted.sub(_blank, text).find(b"<<")))
    if _first_too_deep(bare, limits.nesting) >= 0:
        raise too_deep(uri, limits, *position(text, _first_too_deep(quoted.sub(_blank, text), limits.nesting)))


def triple_terms_not_served(uri: str, line: int | None = None, column: int | None = None) -> DocumentError:
    """The error for RDF 1.2's statements about statements."""
    reason = "triple terms and annotations (RDF 1.2) are not served; state such triples with a resource of their own"
    return DocumentError(reason, uri=uri, line=line, column=column)


def too_deep(uri: str, limits: Limits, line: int, column: int) -> DocumentTooLarge:
    """The error for what goes deeper than the limit."""
    reason = f"nested deeper than {limits.nesting}; flatten it, or raise Limits(nesting=...)"
    return DocumentTooLarge(reason, uri=uri, line=line, column=column)


def position(text: bytes, at: int) -> tuple[int, int]:
    """The line and the column, from 1, of a place in UTF-8 text."""
    line_start = text.rfind(b"\n", 0, at) + 1
    return text.count(b"\n", 0, at) + 1, len(text[line_start:at].decode("utf-8", "replace")) + 1


def _blank(match: re.Match[bytes]) -> bytes:
    """As many spaces, so that places stay; slow, so only for a text that is refused."""
    return b" " * (match.end() - match.start())


def _first_too_deep(bare: bytes, limit: int) -> int:
    depth = np.cumsum(_STEP[np.frombuffer(bare, dtype=np.uint8)], dtype=np.int64)
    return int(np.argmax(depth > limit)) if depth.size and int(depth.max()) > limit else -1
