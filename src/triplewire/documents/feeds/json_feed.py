"""JSON Feed (1.0 and 1.1) to Atom, so that all feeds go one way.

https://www.jsonfeed.org/version/1.1/. Readers are told to be forgiving: an id may be a number, an author an object or a
list, and what is of the wrong kind is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lxml import etree

from triplewire.documents import encoding, nesting
from triplewire.documents.feeds.sniffing import ATOM
from triplewire.documents.formats import JSON_LD
from triplewire.documents.limits import Limits
from triplewire.errors import DocumentError
from triplewire.model.characters import NOT_IN_XML

_XML = "http://www.w3.org/XML/1998/namespace"


def as_atom(raw: bytes, *, uri: str, limits: Limits) -> bytes:
    """The feed as Atom."""
    text = encoding.checked(raw, uri)
    nesting.check(text, JSON_LD, uri=uri, limits=limits)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"not JSON: {error}", uri=uri) from None
    if not isinstance(value.get("items"), list):
        raise DocumentError("this is a JSON Feed without items; give it a list of `items`", uri=uri)
    return bytes(etree.tostring(_feed(value), encoding="utf-8"))


def _feed(value: dict[str, Any]) -> etree._Element:
    feed = etree.Element(f"{{{ATOM}}}feed", nsmap={None: ATOM})
    texts = {"title": "title", "subtitle": "description", "logo": "icon"}
    _describe(feed, value, texts, {"alternate": "home_page_url"})
    feed.extend(_entry(item) for item in value["items"] if isinstance(item, dict))
    return feed


def _entry(item: dict[str, Any]) -> etree._Element:
    entry = etree.Element(f"{{{ATOM}}}entry")
    texts = {"id": "id", "title": "title", "published": "date_published", "updated": "date_modified"}
    _describe(entry, item, texts, {"alternate": "url", "related": "external_url", "image": "image"})
    html, text = _text(item, "content_html"), _text(item, "content_text")
    if summary := _text(item, "summary") or (text if html else ""):
        _add(entry, "summary", summary)
    if html or text:
        _add(entry, "content", html or text, type="html" if html else "text")
    for tag in _list(item, "tags"):
        if isinstance(tag, str):
            _add(entry, "category", term=_legal(tag))
    for file in _list(item, "attachments"):
        if isinstance(file, dict) and (href := _text(file, "url")):
            kind, length = _text(file, "mime_type"), _text(file, "size_in_bytes")
            _add(entry, "link", rel="enclosure", href=href, type=kind, length=length)
    return entry


def _describe(
    element: etree._Element, value: dict[str, Any], texts: Mapping[str, str], links: Mapping[str, str]
) -> None:
    """What feeds and items have alike: children with the texts of some keys, links of some relations, authors."""
    if language := _text(value, "language"):
        element.set(f"{{{_XML}}}lang", language)
    for name, key in texts.items():
        if text := _text(value, key):
            _add(element, name, text)
    for relation, key in links.items():
        if href := _text(value, key):
            _add(element, "link", rel=relation, href=href)
    for author in [*_list(value, "authors"), value.get("author")]:
        if isinstance(author, dict) and (name := _text(author, "name")):
            _add(_add(element, "author"), "name", name)


def _add(parent: etree._Element, name: str, text: str | None = None, **attributes: str) -> etree._Element:
    child = etree.SubElement(parent, f"{{{ATOM}}}{name}", attributes)
    child.text = text
    return child


def _text(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return ""
    return _legal(str(found))


def _legal(text: str) -> str:
    return NOT_IN_XML.sub("", text)


def _list(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else []
