"""`triplewire languages`: what subscriptions may be written in."""

from __future__ import annotations

from typing import NamedTuple

from triplewire.cli.terminal import print_text


class Example(NamedTuple):
    """A language, the suffixes of its files, where it comes from, and a sentence of it."""

    language: str
    suffixes: str
    what: str
    text: str


EXAMPLES = (
    Example(
        "sparql", ".rq .sparql", "W3C SPARQL 1.1", 'SELECT ?d { ?d dcterms:title ?t FILTER CONTAINS(?t, "water") }'
    ),
    Example("rules", ".rules", "the rules of MDV", "search Dataset d register d where d.title contains 'water'"),
    Example("gql", ".gql", "the graphs of G-ToPSS", "SELECT ?d WHERE (?d, year, ?y) SUCHTHAT (?y > 2000)"),
    Example("qel", ".qel", "one resource, many properties", "ans(X) :- (X, title, T) and T contains 'water'"),
    Example("conjunctive", ".cq", "triples joined by ^", '?d, ?t : (?d, topic, "water") ^ (?d, title, ?t)'),
    Example("xpath", ".xpath", "XPath 1.0, over XML documents", "/menu/softdrinks[price > 1.80]"),
)


def run() -> None:
    """List the languages that subscriptions may be written in, with an example of each.

    docs/languages.md is the reference.
    """
    for language, suffixes, what, text in EXAMPLES:
        print_text(f"{language:<12} {suffixes:<12} {what}\n{'':<12} {text}\n")
