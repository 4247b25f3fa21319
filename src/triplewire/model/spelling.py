"""From a document's lines to the texts of its terms, as they are told apart among many documents.

A blank node belongs to its document, and canonical names (c14n0, c14n1 ..) of two documents are the same. So among
many documents the name of a blank node begins with the number of its document.
"""

from __future__ import annotations

from collections.abc import Iterator


def scoped(document: int, text: str) -> str:
    """The spelling of a term of this document.

    >>> scoped(7, "_:c14n0")
    '_:d7xc14n0'
    """
    return f"_:d{document}x{text[2:]}" if text.startswith("_:") else text


def triples_of(document: int, content: bytes) -> Iterator[tuple[str, str, str]]:
    """The texts of the triples of canonical N-Triples lines: subject, predicate, object."""
    lines = [line for line in content.decode().split("\n") if line]
    if b"_:" not in content:  # most documents have no blank node, and all of them are read again and again
        for line in lines:
            subject, predicate, rest = line.split(" ", 2)
            yield subject, predicate, rest.removesuffix(" .")
        return
    for line in lines:
        subject, predicate, rest = line.split(" ", 2)
        yield scoped(document, subject), predicate, scoped(document, rest.removesuffix(" ."))
