"""Labels: the properties that say what a resource is called, and which of several names goes first."""

from __future__ import annotations

from triplewire.model import RDFS, Term

NAMES = tuple(
    f"<{iri}>"
    for iri in (
        "http://www.w3.org/2004/02/skos/core#prefLabel",
        f"{RDFS}label",
        "http://purl.org/dc/terms/title",
        "http://purl.org/dc/elements/1.1/title",
        "http://purl.org/rss/1.0/title",
        "http://xmlns.com/foaf/0.1/name",
        "https://schema.org/name",
        "http://schema.org/name",
        "http://www.w3.org/2006/vcard/ns#fn",
    )
)
"""Properties that say what a resource is called, the most telling first."""


def preference(name: Term) -> tuple[bool, str, str]:
    """To sort names by: one without a language or in English goes first."""
    language = getattr(name, "language", None) or ""
    return language not in ("", "en"), language, name.value
