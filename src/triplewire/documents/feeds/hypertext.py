"""HTML in feeds: to plain text, and to markup that is safe to show.

feedparser can clean markup itself, in time that is quadratic for some of it (a megabyte of `<!--` takes minutes).
lxml's parser is linear, and an allowlist is short.
"""

from __future__ import annotations

import re
from html import escape
from urllib.parse import urljoin, urlsplit

from lxml import etree


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DROPPED = _words(
    "script style iframe frame frameset object embed applet form input button select textarea link meta base head title"
    " noscript template svg math canvas audio video source track"
)
"""What goes with everything in it, or has nothing in it."""

_KEPT = _words(
    "a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure"
    " h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td"
    " tfoot th thead time tr tt u ul var wbr"
)
_BLOCKS = _KEPT & _words(
    "blockquote br caption dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre summary table tbody"
    " td tfoot th thead tr ul"
)
_ATTRIBUTES = _words("alt cite colspan datetime dir height href lang rowspan src start title width")
_ADDRESSES = frozenset({"href", "src", "cite"})
_SCHEMES = frozenset({"", "http", "https", "mailto", "ftp", "tel", "xmpp", "magnet", "geo"})
_ROUNDS = 8
_SPACE = re.compile(r"\s+")
_INVISIBLE = re.compile(r"[\x00-\x20\x7f-\x9f\xad\u200b-\u200f\u2028-\u202f\ufeff]")
_LOOKS_LIKE_MARKUP = re.compile(r"<[A-Za-z/!]|&(?:#?\w+);")


def has_markup(text: str) -> bool:
    """Whether a text that may be HTML has anything in it that would not be the same as plain text."""
    return _LOOKS_LIKE_MARKUP.search(text) is not None


def plain(text: str) -> str:
    """A text with its white space made single.

    >>> plain("  two \\n words ")
    'two words'
    """
    return _SPACE.sub(" ", text).strip()


def text_of(html: str) -> str:
    """What a reader sees of this HTML, on one line.

    >>> text_of("<p>Tea &amp; <b>cake</b></p><p>at four</p><script>x()</script>")
    'Tea & cake at four'
    """
    if not has_markup(html):
        return plain(html)
    body = _body(html)
    return "" if body is None else plain("".join(_texts(body)))


def clean(html: str, base: str) -> str:
    """This HTML without anything that acts: known elements and attributes only, addresses resolved, of known schemes.

    >>> clean('<p onclick="x()">See <a href="b?c">b</a><script>y()</script></p>', "https://example.org/a")
    '<p>See <a href="https://example.org/b?c">b</a></p>'
    """
    if not has_markup(html):
        return html.strip()
    cleaned = _cleaned(html, base)
    for _ in range(_ROUNDS):  # a reader's parser must see what was cleaned here: as written, it reads as itself
        again = _cleaned(cleaned, base)
        if again == cleaned:
            return cleaned
        cleaned = again
    return escape(text_of(html), quote=False)


def _cleaned(html: str, base: str) -> str:
    body = _body(html)
    if body is None:
        return ""
    etree.strip_elements(body, *_DROPPED, with_tail=False)
    etree.strip_tags(body, *{str(element.tag) for element in body.iterdescendants()} - _KEPT)
    for element in body.iterdescendants():
        _clean_attributes(element, base)
    body.attrib.clear()
    text: str = etree.tostring(body, encoding="unicode", method="html")
    return text[len("<body>") : -len("</body>")].strip()


def safe_address(address: str, base: str) -> str | None:
    """An address, resolved; None if it is of a scheme that acts, such as `javascript:`, or of none."""
    address = _INVISIBLE.sub("", address) if ":" in address else address.strip()
    try:
        resolved = urljoin(base, address)
        scheme = urlsplit(resolved).scheme.lower()
    except ValueError:
        return None
    return resolved if scheme in _SCHEMES else None


def _body(html: str) -> etree._Element | None:
    parser = etree.HTMLParser(no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(f"<html><body>{html}</body></html>", parser)
    except (etree.LxmlError, ValueError):
        return None
    return None if root is None else root.find("body")


def _texts(body: etree._Element) -> list[str]:
    found, skipped = list[str](), 0
    for action, element in etree.iterwalk(body, events=("start", "end")):
        is_block, is_dropped = element.tag in _BLOCKS, element.tag in _DROPPED
        if action == "start":
            skipped += is_dropped
            if not skipped:
                found += [" " if is_block else "", element.text or ""]
        else:
            skipped -= is_dropped
            if not skipped and element is not body:
                found += [" " if is_block else "", element.tail or ""]
    return found


def _clean_attributes(element: etree._Element, base: str) -> None:
    for name, value in list(element.attrib.items()):
        address = safe_address(str(value), base) if name in _ADDRESSES else None
        if name not in _ATTRIBUTES or (name in _ADDRESSES and address is None):
            del element.attrib[name]
        elif address is not None:
            element.attrib[name] = address
