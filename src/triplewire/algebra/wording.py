"""Wording: terms, conditions and triples as people read them in messages.

IRIs stay in angle brackets, so that whoever prints a message can shorten them with prefixes of their own; numbers and
booleans lose their types, which say nothing that their spelling does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyoxigraph import Triple

from triplewire.algebra.pattern import Call, Expression, TriplePattern, render
from triplewire.model import XSD, Term

_PLAIN = re.compile(
    rf'"(?:([+-]?[0-9]+)"\^\^<{XSD}integer>|([+-]?[0-9]*\.[0-9]+)"\^\^<{XSD}decimal>|(true|false)"\^\^<{XSD}boolean>)'
)


def plain(text: str) -> str:
    """A text with its numbers and booleans spelled without their types."""
    return _PLAIN.sub(lambda match: match[1] or match[2] or match[3], text)


def word_term(term: Term) -> str:
    """A term."""
    return plain(str(term))


def word_condition(condition: Expression) -> str:
    """A condition, without brackets around the whole of it."""
    text = plain(render(condition))
    infix = isinstance(condition, Call) and text.startswith("(") and text.endswith(")")
    return text[1:-1] if infix else text


def word_triple(triple: TriplePattern | Triple) -> str:
    """A triple, or a triple pattern."""
    return plain(" ".join(str(node) for node in (triple.subject, triple.predicate, triple.object)))


def word_list(items: Iterable[str], most: int = 5, joint: str = ", ") -> str:
    """Some of the items, and how many more there are."""
    shown = [*items]
    more = len(shown) - most
    return joint.join(shown[:most]) + (f"{joint}and {more} more" if more > 0 else "")
