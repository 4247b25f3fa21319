"""Calls of XML-RPC, read within bounds.

A document type could declare entities, and a few bytes of them can mean gigabytes. Whether there is one is for the
parser to say and nobody else: a look at the bytes does not see it in UTF-16. So expat reads the call, as in Python's
own library, and ends at the first thing that no call has.
"""

from __future__ import annotations

from typing import Any, NoReturn
from xml.parsers import expat
from xmlrpc.client import Unmarshaller

_DEEPEST = 64
_MOST_ELEMENTS = 100_000


class _Reading:
    """What expat tells, handed on to the reader of Python's library if it may be."""

    def __init__(self) -> None:
        self.call = Unmarshaller(use_builtin_types=True)
        self.call.xml("", None)  # no encoding: expat has decoded the texts
        self.depth = self.elements = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.call.data
        self.parser.StartDoctypeDeclHandler = self.refuse_document_type
        self.parser.EntityDeclHandler = self.refuse_document_type
        self.parser.buffer_text = True

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self.elements += 1
        if self.depth > _DEEPEST or self.elements > _MOST_ELEMENTS:
            raise ValueError(f"it has more than {_MOST_ELEMENTS} elements, or goes deeper than {_DEEPEST}")
        self.call.start(name, attributes)

    def end(self, name: str) -> None:
        self.depth -= 1
        self.call.end(name)

    def refuse_document_type(self, *_declared: object) -> NoReturn:
        raise ValueError("a call has no document type and no entities of its own")


def read_call(body: bytes) -> tuple[tuple[Any, ...], str | None]:
    """The parameters and the name of the method; ExpatError, ValueError and others for what is no call."""
    reading = _Reading()
    reading.parser.Parse(body, True)
    return reading.call.close(), reading.call.getmethodname()
