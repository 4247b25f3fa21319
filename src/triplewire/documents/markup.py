"""What an XML text would cost, and where it is not well-formed, found with expat before another parser reads it.

pyoxigraph needs quadratic time for deep elements, expands internal entities without bound, and does not say where an
XML error is; libxml2 builds a whole tree before it could be stopped. Expat streams, says the line and column, and
fetches nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn
from xml.parsers import expat

from triplewire.documents.limits import Limits
from triplewire.documents.nesting import too_deep, triple_terms_not_served
from triplewire.errors import DocumentError, DocumentTooLarge

_REFERENCE = re.compile(rb"&([^\s;&<>#]+);")


@dataclass(frozen=True, slots=True)
class Markup:
    """What is known of an XML text before it is read: its root as the text writes it, and whether it has entities."""

    root: str
    attributes: Mapping[str, str]
    has_entities: bool

    @property
    def name(self) -> tuple[str, str]:
        """The namespace and the local name of the root; what it declares itself is all that can count."""
        prefix, _, local = self.root.rpartition(":")
        return self.attributes.get(f"xmlns:{prefix}" if prefix else "xmlns", ""), local


def check(text: bytes, *, uri: str, limits: Limits) -> Markup:
    """`DocumentError` if the text is not well-formed or has external entities, `DocumentTooLarge` if over a limit."""
    return _Check(text, uri, limits).run()


class _Check:
    def __init__(self, text: bytes, uri: str, limits: Limits) -> None:
        self.text, self.uri, self.limits = text, uri, limits
        self.depth = self.elements = 0
        self.root, self.attributes = "", dict[str, str]()
        self.entities: dict[str, int] = {}
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self.start_element
        self.parser.EndElementHandler = self.end_element
        self.parser.EntityDeclHandler = self.entity_declared
        self.parser.EndDoctypeDeclHandler = self.doctype_ended

    def run(self) -> Markup:
        try:
            self.parser.Parse(self.text, True)
        except expat.ExpatError as error:
            reason = f"not well-formed XML: {expat.ErrorString(error.code)}"
            raise DocumentError(reason, uri=self.uri, line=error.lineno, column=error.offset + 1) from None
        return Markup(self.root, self.attributes, bool(self.entities))

    def place(self) -> tuple[int, int]:
        return self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1

    def refuse(self, reason: str, kind: type[DocumentError] = DocumentTooLarge) -> NoReturn:
        line, column = self.place()
        raise kind(reason, uri=self.uri, line=line, column=column)

    def start_element(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self.elements += 1 + len(attributes)
        if attributes:
            if "Triple" in attributes.values():
                self.refuse_triple_terms(attributes)
            if max(map(len, attributes.values())) > self.limits.attribute:
                most = f"{self.limits.attribute:,} characters"
                self.refuse(f"it has an attribute of over {most}; split it, or raise Limits(attribute=...)")
        if self.elements > self.limits.elements:
            most = f"{self.limits.elements:,} elements and attributes"
            self.refuse(f"it has over {most}; split it, or raise Limits(elements=...)")
        if not self.root:
            self.root, self.attributes = name, attributes
        if self.depth > self.limits.nesting:
            raise too_deep(self.uri, self.limits, *self.place())

    def refuse_triple_terms(self, attributes: dict[str, str]) -> None:
        if any(name.endswith(":parseType") and value == "Triple" for name, value in attributes.items()):
            raise triple_terms_not_served(self.uri, *self.place())

    def end_element(self, _name: str) -> None:
        self.depth -= 1

    def entity_declared(self, name: str, _is_parameter: bool, value: str | None, *_ids: str | None) -> None:
        if value is None:
            reason = f"the external entity {name!r} is never fetched; write its text into the document"
            self.refuse(reason, DocumentError)
        # Which of two declarations counts differs between parsers: the larger one is safe.
        self.entities[name] = max(self.entities.get(name, 0), self.expansion(value.encode()))
        self.check_expansion(self.entities[name])

    def doctype_ended(self) -> None:
        """All entities are known here, and none is used yet."""
        if self.entities:
            self.check_expansion(self.expansion(self.text))

    def expansion(self, text: bytes) -> int:
        uses = Counter(_REFERENCE.findall(text))
        sizes = self.entities
        return len(text) + sum(count * sizes.get(name.decode("utf-8", "replace"), 0) for name, count in uses.items())

    def check_expansion(self, size: int) -> None:
        if size > self.limits.expanded:
            most = f"{self.limits.expanded} bytes"
            self.refuse(f"its entities expand to over {most}; raise Limits(expanded=...) if this is meant")
