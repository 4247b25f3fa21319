"""Wording: terms, conditions and triples as people read them in messages.

IRIs stay in angle brackets, so that the command line or a page can shorten them with its own prefixes; numbers and
booleans lose their types, which say nothing that their spelling does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, count

from pyoxigraph import NamedNode, Triple, Variable

from triplewire.algebra.pattern import IS_A, Call, Conjunction, Expression, Pattern, TriplePattern, columns_of, render
from triplewire.algebra.substitution import renamed
from triplewire.model import RDF, XSD, Term

_PLAIN = re.compile(
    rf'"(?:([+-]?[0-9]+)"\^\^<{XSD}integer>|([+-]?[0-9]*\.[0-9]+)"\^\^<{XSD}decimal>|(true|false)"\^\^<{XSD}boolean>)'
)
_TYPE = NamedNode(RDF + "type")
_RELATIONS = {
    "descendant": "is below",
    "descendant-or-self": "is, or is below,",
    "ancestor": "is above",
    "child": "is directly below",
}
_MADE_NAME = re.compile(r"_+(?:step)?[0-9]+|\w+·[0-9]+")
"""A variable that no text named: `normalize` numbers them, and languages name the places of paths and of rules."""
_WORD_BACKWARDS = re.compile(r"\w*+", re.ASCII)  # from the end: to look for where it begins would be quadratic


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


def word_place(condition: Expression) -> str:
    """A condition, and one against the taxonomy as people say it: something is below something."""
    if isinstance(condition, Call) and condition.function in IS_A:
        node, other = condition.arguments
        return f"{render(node)} {_RELATIONS[condition.function]} {render(other)}"
    return word_condition(condition)


def word_triple(triple: TriplePattern | Triple) -> str:
    """A triple, or a triple pattern."""
    return plain(" ".join(str(node) for node in (triple.subject, triple.predicate, triple.object)))


def word_list(items: Iterable[str], most: int = 5, joint: str = ", ") -> str:
    """Some of the items, and how many more there are."""
    shown = [*items]
    more = len(shown) - most
    return joint.join(shown[:most]) + (f"{joint}and {more} more" if more > 0 else "")


def readable(pattern: Pattern) -> Pattern:
    """The same pattern, no longer in normal form: variables that the text did not name are named by use."""
    if pattern.asks_xml:
        return pattern
    return Pattern(pattern.answer, tuple(_readable(branch, pattern.answer) for branch in pattern.branches))


def _readable(branch: Conjunction, answer: tuple[str, ...]) -> Conjunction:
    hidden = sorted(n for n in columns_of(branch) if _MADE_NAME.fullmatch(n) and n not in answer)
    triples = [*branch.triples, *(triple for optional in branch.optionals for triple in optional.triples)]
    taken, names = {*columns_of(branch), *answer}, {}
    for name in hidden:
        word = _use(name, triples)
        names[name] = fresh = next(w for w in chain([word], (f"{word}{n}" for n in count(2))) if w not in taken)
        taken.add(fresh)
    return renamed(branch, names)


def _use(name: str, triples: Iterable[TriplePattern]) -> str:
    """What a variable is in the triples: the value of a property, something of a class, a property, a resource."""
    found = {3: "resource"}
    for subject, predicate, value in triples:
        if _is(value, name) and (word := _last_word(predicate)):
            found.setdefault(0, word)
        elif _is(subject, name) and predicate == _TYPE and (word := _last_word(value)):
            found.setdefault(1, word)
        elif _is(predicate, name):
            found.setdefault(2, "property")
    word = found[min(found)]
    return word[0].lower() + word[1:]


def _is(node: object, name: str) -> bool:
    return isinstance(node, Variable) and node.value == name


def _last_word(node: object) -> str | None:
    """The end of an IRI, as far as it can be a variable's name."""
    match = _WORD_BACKWARDS.match(node.value.rstrip("/#")[::-1]) if isinstance(node, NamedNode) else None
    return (match[0][::-1].lstrip("0123456789_") or None) if match else None
