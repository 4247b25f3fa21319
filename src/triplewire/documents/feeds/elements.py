"""The XML of a feed, in parts: the channel without its items, and each item alone in what surrounds it.

An item is kept in its feed's elements (`/rss/channel/item`, `/feed/entry`), so that a path means the same as in the
whole, but without the rest of the channel: another item, or a new build date, is no new version of this one.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy

from lxml import etree

from triplewire.documents.xml import written

_ITEMS = frozenset({"item", "entry"})
_TAGS = frozenset({"category", "subject", "keywords"})
_AROUND = frozenset({"channel", "RDF", "rss", "feed"})


def items_of(root: etree._Element) -> list[etree._Element]:
    """The elements that are items, in the order of the text."""
    if _local(root) == "entry":
        return [root]
    return [element for element in root.iter() if _local(element) in _ITEMS and _local(element.getparent()) in _AROUND]


def most_tags(root: etree._Element) -> int:
    """How many categories and keywords one item, or the channel, has at most; words, to be on the safe side."""
    owners: Counter[etree._Element | None] = Counter()
    items = set(items_of(root))
    for element in root.iter():
        if _local(element) in _TAGS:
            owner = next((each for each in element.iterancestors() if each in items), None)
            owners[owner] += max(1, len((element.text or "").split()))
    return max(owners.values(), default=0)


def id_of(item: etree._Element) -> str:
    """The guid or id of an item as it is written; feedparser makes an address of what is none."""
    names = (f"{{{etree.QName(item).namespace}}}id" if _local(item) == "entry" else "guid",)
    return next((" ".join((child.text or "").split()) for child in item.iterchildren(*names)), "")


def alone(item: etree._Element) -> bytes:
    """The XML of one item in the elements around it, which keep their attributes.

    Of the namespaces only those that are used are declared: some feeds have hundreds, which each item would repeat.
    """
    inner = deepcopy(item)
    inner.tail = None
    for outer in item.iterancestors():
        namespace = etree.QName(outer).namespace
        nsmap = {outer.prefix: namespace} if namespace else None
        around = etree.Element(outer.tag, dict(outer.attrib), nsmap=nsmap)
        around.append(inner)
        inner = around
    return written(inner)


def without_items(root: etree._Element) -> bytes:
    """The XML of the channel."""
    if _local(root) == "entry":
        return b""
    channel = deepcopy(root)
    for item in items_of(channel):
        parent = item.getparent()
        assert parent is not None, "only a root has none, and no root is found here"
        item.tail = None
        parent.remove(item)
    return written(channel)


def _local(element: etree._Element | None) -> str:
    if element is None or not isinstance(element.tag, str):
        return ""
    return str(etree.QName(element).localname)
