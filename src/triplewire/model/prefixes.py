"""Prefixes that everybody knows: queries in every language may use them without saying what they stand for.

The page in the browser has the same (`hub/page/terms.js`); a test compares the two. A text's own declarations and the
caller's prefixes win over these.
"""

from __future__ import annotations

from triplewire.model.terms import RDF, RDFS, XSD

KNOWN_PREFIXES = {
    "rdf": RDF,
    "rdfs": RDFS,
    "xsd": XSD,
    "dc": "http://purl.org/dc/elements/1.1/",
    "dct": "http://purl.org/dc/terms/",
    "dcterms": "http://purl.org/dc/terms/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "schema": "https://schema.org/",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "rss": "http://purl.org/rss/1.0/",
    "void": "http://rdfs.org/ns/void#",
    "prov": "http://www.w3.org/ns/prov#",
}


def how_to_give(prefix: str) -> str:
    """What to do about a prefix that is not known, in Python and on the command line.

    >>> how_to_give("ex")
    "hand it in: prefixes={'ex': '...'} in Python, -p ex=... on the command line"
    """
    return f"hand it in: prefixes={{{prefix!r}: '...'}} in Python, -p {prefix}=... on the command line"
