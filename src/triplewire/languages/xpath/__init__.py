"""XPath 1.0 over XML documents (the subscriptions of the brokering paper, section 4; N1).

    /menu/softdrinks[price > 1.80]

The whole language (`tokens`, `parser`), with the prefixes that the subscriber gives; a name without a prefix is in no
namespace, as XPath has it. Variables and extension functions are refused: nobody could give them their values.
"""

from __future__ import annotations

from collections.abc import Mapping

from triplewire.algebra.pattern import Pattern
from triplewire.algebra.xpath.query import PathQuery
from triplewire.algebra.xpath.syntax import render as rendered
from triplewire.errors import QuerySyntaxError, UnsupportedQuery
from triplewire.languages.context import Context
from triplewire.languages.xpath.parser import Parser
from triplewire.languages.xpath.tokens import LANGUAGE
from triplewire.model.prefixes import KNOWN_PREFIXES

__all__ = ["compile", "render"]


def compile(text: str, context: Context) -> PathQuery:
    """The query of an XPath text."""
    if not text.strip():
        raise QuerySyntaxError(
            "there is no expression", language=LANGUAGE, hint="For example: /menu/softdrinks[price > 1.80]"
        )
    prefixes = {**KNOWN_PREFIXES, **context.prefixes}
    return PathQuery.of(Parser.of(text, prefixes).expression())


def render(pattern: Pattern, prefixes: Mapping[str, str]) -> str:
    """The text of an XPath query, with these prefixes."""
    if not isinstance(pattern, PathQuery):
        raise UnsupportedQuery("XPath asks for XML, and this pattern asks for triples", language=LANGUAGE)
    names = {namespace: prefix for prefix, namespace in {**KNOWN_PREFIXES, **prefixes}.items() if prefix}
    missing = sorted(set(pattern.namespaces.values()) - names.keys())
    if missing:
        hint = f"Give it: prefixes={{'p': {missing[0]!r}}}"
        raise UnsupportedQuery(f"no prefix stands for {missing[0]}", language=LANGUAGE, hint=hint)
    return rendered(pattern.expression, names.__getitem__)
