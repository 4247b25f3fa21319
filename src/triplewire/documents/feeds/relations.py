"""Relations of Atom's links, as feedparser should see them (RFC 4287, section 4.2.7.2).

A registered relation may be written as its name or as an IRI, which mean the same; and names are told apart by case.
feedparser knows the names alone, and makes them lower case.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from lxml import etree

_LINK = "{http://www.w3.org/2005/Atom}link"
_REGISTERED = "http://www.iana.org/assignments/relation/"
_ANOTHER = "urn:relation:"


def plain(xml: bytes, root: Any) -> bytes:
    """The text of a feed in which registered relations are names, and no other name looks like one of them."""
    if not any(True for _ in _renamed(root)):
        return xml
    copy = deepcopy(root)
    for link, relation in list(_renamed(copy)):
        link.set("rel", relation)
    return bytes(etree.tostring(copy, encoding="utf-8", xml_declaration=True))


def _renamed(root: Any) -> Iterator[tuple[Any, str]]:
    """The links whose relation feedparser would misread, with what to call it instead."""
    for link in root.iter(_LINK):
        relation = link.get("rel", "").strip()
        if relation.startswith(_REGISTERED):
            yield link, relation.removeprefix(_REGISTERED)
        elif relation != relation.lower() and relation.lower() in _beside(link):
            yield link, _ANOTHER + relation


def _beside(link: Any) -> set[str]:
    """The relations that the links of the same entry have."""
    written = (other.get("rel", "alternate").strip() for other in link.getparent().iterchildren(_LINK))
    return {relation.removeprefix(_REGISTERED) for relation in written}
