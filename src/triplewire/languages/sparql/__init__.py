"""SPARQL 1.1 SELECT and ASK as standing queries.

What comes in: a text. What goes out: the pattern that it means, with SPARQL's typing and error rules; or, with the
place in the text, that it is no SPARQL (QuerySyntaxError), or SPARQL that no standing query serves (UnsupportedQuery).
The text goes through `tokens`, `parser` (an LALR grammar), `reader` (names resolved, abbreviations written out:
`terms`, `statements`, `operations`), which makes values of it (`syntax`), and `groups` (groups become `branches`, with
`filters` for each; joins distribute over UNION and VALUES). `rendering` goes the other way; `faults` are the errors.

One thing differs from a SPARQL server on purpose: `rdfs:subClassOf*` and `rdfs:subPropertyOf*` ask the taxonomy,
not the triples (the is-a of G-ToPSS).
"""

from __future__ import annotations

from triplewire.algebra.pattern import Pattern
from triplewire.languages.context import Context
from triplewire.languages.sparql.groups import translate
from triplewire.languages.sparql.parser import parse
from triplewire.languages.sparql.reader import read
from triplewire.languages.sparql.rendering import render
from triplewire.languages.sparql.tokens import tokenize

__all__ = ["compile", "render"]


def compile(text: str, context: Context) -> Pattern:
    """The pattern of a SELECT or ASK; raises QuerySyntaxError or UnsupportedQuery."""
    tokens = tokenize(text)
    return translate(read(parse(tokens), tokens, context.prefixes))
