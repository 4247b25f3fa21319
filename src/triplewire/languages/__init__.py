"""Text in, patterns out: the query languages.

Each module has `compile(text, context) -> Pattern` and `render(pattern, prefixes) -> str`; this package looks them up
by name, and normalizes what they give, so that equivalent queries become the same pattern whatever they were written
in, with the canonical bytes that an index reads. It never evaluates anything, never does IO.

The papers' languages (`gql`, `rules`, `qel`, `conjunctive`) share a `grammar`; each text is a `formula`, which becomes
`branches`, and `rendering` goes back (`paths`, for rules). `sparql` and `xpath` are read in their own ways. The
`context` has prefixes, named rules and limits; errors are made by the `places` they point to.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from triplewire.algebra.canonical import prepared
from triplewire.algebra.pattern import Pattern
from triplewire.errors import QueryError, UnsupportedQuery
from triplewire.languages.context import Context

LANGUAGES = ("sparql", "rules", "gql", "qel", "conjunctive", "xpath")
"""The languages, by the name that `compile` takes."""


def compile(
    text: str,
    *,
    language: str,
    prefixes: Mapping[str, str] | None = None,
    named: Mapping[str, Pattern] | None = None,
) -> Pattern:
    """The pattern that a text in one of LANGUAGES means, ready to be added to an index.

    `prefixes` maps prefixes to namespaces; the empty prefix is the vocabulary of bare names. `named` has the rules
    that a rule may use as its extension.
    """
    return prepared(read(text, language=language, prefixes=prefixes, named=named))


def read(
    text: str,
    *,
    language: str,
    prefixes: Mapping[str, str] | None = None,
    named: Mapping[str, Pattern] | None = None,
) -> Pattern:
    """The pattern of `compile` before it is normalized, with the names that the text has: for its author."""
    context = Context(prefixes=dict(prefixes or {}), named=dict(named or {}))
    context.check(text, language)
    pattern: Pattern = _module(language).compile(text, context)
    return pattern


def render(pattern: Pattern, *, language: str, prefixes: Mapping[str, str] | None = None) -> str:
    """The pattern as a text of the language; UnsupportedQuery if the language cannot say it.

    Compiling that text with the same prefixes gives the pattern again.
    """
    module = _module(language)
    if language != "xpath" and pattern.asks_xml:
        raise UnsupportedQuery("this asks for XML, which only xpath can say", language=language)
    return str(module.render(pattern, dict(prefixes or {})))


def _module(language: str):  # type: ignore[no-untyped-def]  # modules have no useful type
    if language not in LANGUAGES:
        raise QueryError(f"there is no such language; there are: {', '.join(LANGUAGES)}", language=language)
    return import_module(f"triplewire.languages.{language}")
