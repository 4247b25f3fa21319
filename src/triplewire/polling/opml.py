"""Lists of feeds as OPML 2.0, which feed readers exchange."""

from __future__ import annotations

from collections.abc import Iterable

from lxml import etree

from triplewire.documents import Limits, markup
from triplewire.documents.feeds.mending import parsed
from triplewire.documents.feeds.recoding import utf8
from triplewire.errors import DocumentError
from triplewire.model.characters import NOT_IN_XML
from triplewire.polling.schedule import Followed


def read(text: bytes, *, name: str) -> list[Followed]:
    """The feeds that an OPML file lists, in folders or not, each once; `DocumentError` if it is none."""
    checked = utf8(text, name, media_type=None, is_text=False)
    markup.check(checked, uri=name, limits=Limits())
    root = parsed(checked, name)
    if root.tag != "opml":
        raise DocumentError("this is not OPML: its root is not <opml>", uri=name)
    found: dict[str, Followed] = {}
    for outline in root.iter("outline"):
        # `xmlUrl` is the name; some programs write it in other cases
        attributes = {str(key).lower(): str(value).strip() for key, value in outline.attrib.items()}
        if url := attributes.get("xmlurl"):
            found.setdefault(url, Followed(url, url, attributes.get("title") or attributes.get("text", "")))
    return list(found.values())


def write(feeds: Iterable[Followed], *, title: str) -> bytes:
    """The feeds as OPML, by the addresses at which they are found now."""
    root = etree.Element("opml", {"version": "2.0"})
    etree.SubElement(etree.SubElement(root, "head"), "title").text = NOT_IN_XML.sub("", title)
    body = etree.SubElement(root, "body")
    for feed in feeds:
        name = NOT_IN_XML.sub("", feed.title) or feed.url
        etree.SubElement(body, "outline", {"type": "rss", "text": name, "title": name, "xmlUrl": feed.url})
    return bytes(etree.tostring(root, encoding="utf-8", xml_declaration=True, pretty_print=True))
