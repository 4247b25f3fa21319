"""Text of a feed to well-formed XML: the text itself if it is, otherwise the nearest that can be made of it.

Why not leave this to feedparser's own way with broken text: it costs quadratic time for some of it, and XPath needs the
XML in any case. What ends before its root does is refused, not mended: half an item would pass for a new version of it.
"""

from __future__ import annotations

import re
from html.entities import html5

from lxml import etree

from triplewire.documents import markup
from triplewire.documents.limits import Limits
from triplewire.errors import DocumentError, DocumentTooLarge
from triplewire.model.characters import NOT_IN_XML

_AMPERSAND = re.compile(r"&(?:(#\d{1,7}|#[xX][0-9a-fA-F]{1,6})|([A-Za-z]\w{0,40}))?(;?)")
_LESS = re.compile(r"<(?![\w/!?:])|<(?=\d)")
_END_OF_ROOT = re.compile(
    r"</(?:[\w.-]+:)?(?:rss|feed|entry|RDF)\s*>(?:\s|<!--(?:[^-]|-(?!->))*+-->)*+\Z", re.IGNORECASE
)
_DECLARED_ENTITY = re.compile(r"<!ENTITY\s+([\w.-]+)")
_TAG_PREFIX = re.compile(r"</?([A-Za-z_][\w.-]*):[A-Za-z_]|\s([A-Za-z_][\w.-]*):[A-Za-z_][\w.-]*\s*=")
_ROOT = re.compile(r"<[A-Za-z_][\w.:-]*")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_TAIL = 4096

KNOWN_PREFIXES = {
    "atom": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "georss": "http://www.georss.org/georss",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "media": "http://search.yahoo.com/mrss/",
    "slash": "http://purl.org/rss/1.0/modules/slash/",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
    "wfw": "http://wellformedweb.org/CommentAPI/",
}
"""What a prefix means that a feed uses and forgot to declare."""


def mended(text: bytes, *, uri: str, limits: Limits) -> tuple[bytes, etree._Element]:
    """Well-formed XML without a document type, and its root; the first error of the text if none can be made."""
    try:
        return _checked(text, uri, limits)
    except DocumentTooLarge:
        raise
    except DocumentError as error:
        first = error
    repaired = _repaired(text.decode("utf-8", "replace"))
    if not _END_OF_ROOT.search(repaired[-_TAIL:]):
        raise DocumentError(f"{first.reason}; the feed is cut off", uri=uri, line=first.line, column=first.column)
    for recovers in (False, True):
        try:
            return _checked((_recovered(repaired) if recovers else repaired).encode(), uri, limits)
        except DocumentTooLarge:
            raise
        except (DocumentError, etree.LxmlError):
            continue
    raise first


def _checked(text: bytes, uri: str, limits: Limits) -> tuple[bytes, etree._Element]:
    markup.check(text, uri=uri, limits=limits)
    root = parsed(text, uri)
    if root.getroottree().docinfo.doctype:
        text = etree.tostring(root, encoding="utf-8")  # entities are replaced by what they stand for
    return text, root


def parsed(text: bytes, uri: str) -> etree._Element:
    """The root of a checked text; nothing is fetched, and lxml's own limits on entities and lengths hold."""
    parser = etree.XMLParser(resolve_entities="internal", no_network=True, load_dtd=False, encoding="utf-8")
    try:
        return etree.fromstring(text, parser)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        raise DocumentError(f"not well-formed XML: {error.msg}", uri=uri, line=line, column=column) from None


def _recovered(text: str) -> str:
    """What libxml2 makes of it: tags closed where they must be."""
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, load_dtd=False, encoding="utf-8")
    root = etree.fromstring(text.encode(), parser)
    if root is None:
        raise etree.LxmlError("nothing in it")
    return str(etree.tostring(root, encoding="unicode"))


def _repaired(text: str) -> str:
    text = NOT_IN_XML.sub("", text).strip()
    declared = _XML_ENTITIES | {*_DECLARED_ENTITY.findall(text)}

    def reference(match: re.Match[str]) -> str:
        number, name, end = match.groups()
        if end and (number or name in declared):
            return match[0]
        if end and name and (character := html5.get(f"{name};")):
            return character.replace("&", "&amp;").replace("<", "&lt;")
        return f"&amp;{match[0][1:]}"

    pieces = [
        piece if is_raw else _LESS.sub("&lt;", _AMPERSAND.sub(reference, piece)) for piece, is_raw in _pieces(text)
    ]
    return _with_prefixes_declared("".join(pieces))


def _pieces(text: str) -> list[tuple[str, bool]]:
    """The text in pieces; True marks CDATA, comments and the document type, in which an ampersand is one."""
    pieces, at = list[tuple[str, bool]](), 0
    ends = {"<![CDATA[": "]]>", "<!--": "-->", "<!DOCTYPE": ">"}
    for start in re.finditer(r"<!\[CDATA\[|<!--|<!DOCTYPE", text):
        if start.start() < at:
            continue
        end = ends[start[0]]
        if start[0] == "<!DOCTYPE" and "[" in text[start.start() : text.find(">", start.start())]:
            end = "]>"
        stop = text.find(end, start.end())
        if stop < 0:
            break  # it is not closed, so that nothing after it is either
        pieces += [(text[at : start.start()], False), (text[start.start() : stop + len(end)], True)]
        at = stop + len(end)
    return [*pieces, (text[at:], False)]


def _with_prefixes_declared(text: str) -> str:
    used = {one or other for one, other in _TAG_PREFIX.findall(text)} - {"xml", "xmlns"}
    missing = sorted(prefix for prefix in used if f"xmlns:{prefix}" not in text)
    if not missing:
        return text
    names = "".join(f' xmlns:{prefix}="{KNOWN_PREFIXES.get(prefix, f"urn:undeclared:{prefix}")}"' for prefix in missing)
    return _ROOT.sub(lambda root: root[0] + names, text, count=1)
