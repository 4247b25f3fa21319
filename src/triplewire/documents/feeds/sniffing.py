"""Whether a text is a feed: by its root element, or by what a JSON object says it is."""

from __future__ import annotations

import json
import re

ATOM = "http://www.w3.org/2005/Atom"
_PEEK = 8192
_JSON_FEED = b"jsonfeed.org"
_JSON_FEED_VERSION = re.compile(r"https?://(?:www\.)?jsonfeed\.org/version/1(?:\.\d+)?/?")

# What may stand before the root; possessive, so that what only looks like a prologue costs no more than its length.
_PROLOGUE = re.compile(
    r"(?:\ufeff|\s|<\?[^>]*+>|<!--(?:[^-]|-(?!->))*+-->|<!DOCTYPE[^\[>]*+(?:\[[^\]]*+\]\s*+)?+>)*+", re.IGNORECASE
)
_ROOT = re.compile(r"<(?:[\w.-]+:)?(rss|feed|entry|RDF)\b([^>]*+)")
# Atom 0.3 is called purl.org/atom/ns#; RSS 0.90 has the two names of Netscape.
_NAMESPACES = re.compile(
    r"http://www\.w3\.org/2005/Atom|http://purl\.org/atom/|http://purl\.org/rss/1\.0/"
    r"|http://(?:my|channel)\.netscape\.com/rdf/simple/0\.9/"
)
# RDF may declare the namespace of RSS 1.0 and have nothing of it.
_PART = re.compile(rb"<(?:[\w.-]+:)?(?:channel|item)[\s/>]")


def is_feed(raw: bytes) -> bool:
    """Whether these bytes are a feed, whatever they are called."""
    return is_json_feed(raw) or _has_root_of_a_feed(raw)


def _has_root_of_a_feed(raw: bytes) -> bool:
    head = raw[:_PEEK]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = head.decode("utf-16", "ignore")
    elif head.startswith((b"<\0", b"\0<")):
        text = head.decode("utf-16-le" if head[1] == 0 else "utf-16-be", "ignore")
    elif b"rss" in head or b"tom" in head or b"rdf/simple" in head:
        text = head.decode("utf-8", "ignore")
    else:
        return False
    start = _PROLOGUE.match(text)
    root = _ROOT.match(text, start.end() if start else 0)
    if root is None or (root[1] != "rss" and not _NAMESPACES.search(root[2])):
        return False
    return root[1] != "RDF" or _PART.search(raw.replace(b"\0", b"")) is not None


def is_json_feed(raw: bytes) -> bool:
    """Whether these bytes are a JSON Feed; JSON-LD that mentions one is not."""
    if _JSON_FEED not in raw:
        return False
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    version = value.get("version") if isinstance(value, dict) and "@context" not in value else None
    return isinstance(version, str) and _JSON_FEED_VERSION.fullmatch(version) is not None
