"""Building XML: elements with texts, and their bytes."""

from __future__ import annotations

from lxml import etree


def add(parent: etree._Element, tag: str, text: str | None = None, **attributes: str) -> etree._Element:
    """A child with these attributes and this text."""
    child = etree.SubElement(parent, tag, attributes)
    child.text = text
    return child


def written(root: etree._Element) -> bytes:
    """The document, in UTF-8, with its declaration."""
    return bytes(etree.tostring(root, encoding="utf-8", xml_declaration=True, pretty_print=True))
