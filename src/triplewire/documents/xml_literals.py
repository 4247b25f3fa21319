"""XML literals of RDF/XML in the spelling that its specification gives them (section 7.2.17): exclusive Canonical XML.

pyoxigraph writes all namespaces that are in scope into them, some twice, and leaves out comments. So what is inside
`rdf:parseType="Literal"` is spelled here, before it reads the text, and handed to it as the text of a typed literal.
"""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from lxml import etree

from triplewire.model import RDF

_PARSE_TYPE, _DATATYPE = f"{{{RDF}}}parseType", f"{{{RDF}}}datatype"
_OF_STRUCTURE = frozenset({"Resource", "Collection", "Triple"})
"""Any other value means `Literal` (section 7.2.20)."""


def spelled(text: bytes) -> bytes:
    """The same RDF/XML with its XML literals as texts; as it is where there are none, or where it is no XML."""
    if b"parseType" not in text:
        return text
    parser = etree.XMLParser(resolve_entities="internal", no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(text, parser)
        found = [element for element in root.iter(etree.Element) if _is_literal(element)]
        outermost = [element for element in found if not any(map(_is_literal, element.iterancestors()))]
        for element in outermost:
            _spell(element)
    except etree.LxmlError:  # the parser says what is wrong; a relative namespace has no canonical form
        return text
    return bytes(etree.tostring(root, encoding="utf-8")) if outermost else text


def _is_literal(element: Any) -> bool:
    return element.get(_PARSE_TYPE, "Resource") not in _OF_STRUCTURE


def _spell(element: Any) -> None:
    pieces = [_text(element.text)]
    for child in element:
        pieces.append(_canonical(child))
        pieces.append(_text(child.tail))
    for child in list(element):
        element.remove(child)
    element.text = "".join(pieces)
    del element.attrib[_PARSE_TYPE]
    element.set(_DATATYPE, f"{RDF}XMLLiteral")


def _canonical(node: Any) -> str:
    """A node in canonical form; lxml gives that of elements, and dies of a comment that is asked for alone."""
    if isinstance(node.tag, str):
        return str(etree.tostring(node, method="c14n", exclusive=True, with_tail=False).decode())
    return str(etree.tostring(node, encoding="unicode", with_tail=False))


def _text(text: str | None) -> str:
    return escape(text or "", {"\r": "&#xD;"})
