"""`python -m triplewire.isolation.parser`: the process that reads documents for `parsing`."""

from __future__ import annotations

import sys

from triplewire.errors import DocumentError, DocumentTooLarge, TriplewireError
from triplewire.isolation.confinement import Confinement
from triplewire.isolation.parsing import TextToRead
from triplewire.isolation.processes import serve

_MEMORY = 3 << 30
"""Bytes that it may take to read: a document of 256 MiB of N-Triples, several times over."""


def parsed(message: object) -> object:
    """The document, or the error."""
    assert isinstance(message, TextToRead)
    try:
        return message.parsed()
    except TriplewireError as error:
        return error
    except MemoryError:
        return DocumentTooLarge("it takes more memory to read than there is for it; split it", uri=message.uri)
    except Exception as error:
        return DocumentError(f"it cannot be read: {type(error).__name__}", uri=message.uri)


if __name__ == "__main__":
    Confinement(memory=_MEMORY).limit()
    serve(sys.stdin.buffer, sys.stdout.buffer, parsed)
