"""JSON Feed (1.0 and 1.1) to Atom, so that all feeds go one way.

https://www.jsonfeed.org/version/1.1/. Readers are told to be forgiving: an id may be a number, an author an object or a
list, and what is of the wrong kind is left out.
"""

from __future__ import annotations

import json
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
    if language := _text(value, "language"):
        feed.set(f"{{{_XML}}}lang", language)
    _add(feed, "title", _text(value, "title"))
    _add(feed, "subtitle", _text(value, "description"))
    _link(feed, "alternate", _text(value, "home_page_url"))
    _add(feed, "logo", _text(value, "icon"))
    _authors(feed, value)
    for item in value["items"]:
        if isinstance(item, dict):
            feed.append(_entry(item))
    return feed


def _entry(item: dict[str, Any]) -> etree._Element:
    entry = etree.Element(f"{{{ATOM}}}entry")
    if language := _text(item, "language"):
        entry.set(f"{{{_XML}}}lang", language)
    for relation, key in (("alternate", "url"), ("related", "external_url"), ("image", "image")):
        _link(entry, relation, _text(item, key))
    for name, key in (("id", "id"), ("title", "title"), ("published", "date_published"), ("updated", "date_modified")):
        _add(entry, name, _text(item, key))
    html, text = _text(item, "content_html"), _text(item, "content_text")
    if summary := _text(item, "summary") or (text if html else ""):
        _add(entry, "summary", summary)
    if html or text:
        _add(entry, "content", html or text).set("type", "html" if html else "text")
    for tag in _list(item, "tags"):
        if isinstance(tag, str):
            _add(entry, "category", "", empty=True).set("term", _legal(tag))
    for attachment in _list(item, "attachments"):
        if isinstance(attachment, dict):
            _attachment(entry, attachment)
    _authors(entry, item)
    return entry


def _authors(parent: etree._Element, value: dict[str, Any]) -> None:
    for author in [*_list(value, "authors"), value.get("author")]:
        if isinstance(author, dict) and (name := _text(author, "name")):
            _add(_add(parent, "author", "", empty=True), "name", name)


def _attachment(entry: etree._Element, value: dict[str, Any]) -> None:
    link = _link(entry, "enclosure", _text(value, "url"))
    if link is not None:
        link.set("type", _text(value, "mime_type"))
        link.set("length", _text(value, "size_in_bytes"))


def _link(parent: etree._Element, rel: str, href: str) -> etree._Element | None:
    if not href:
        return None
    link = _add(parent, "link", "", empty=True)
    link.set("rel", rel)
    link.set("href", href)
    return link


def _add(parent: etree._Element, name: str, text: str, *, empty: bool = False) -> etree._Element:
    """A child with this text; none, though it is given back, if there is no text and it would need one."""
    child = etree.Element(f"{{{ATOM}}}{name}")
    if text:
        child.text = text
    if text or empty:
        parent.append(child)
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
