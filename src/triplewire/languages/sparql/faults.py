"""The errors of this language, made in one place: what is wrong, where, and what to do about it."""

from __future__ import annotations

from typing import Final

from lark import Token

from triplewire.errors import UnsupportedQuery
from triplewire.languages.places import TextPlace

LANGUAGE: Final = "sparql"


def place_of(token: Token) -> TextPlace:
    """Where a token begins."""
    return TextPlace.of(LANGUAGE, token)


_ABSENCE = "a standing query says what is there, and cannot wait for what is not"
_NO_ORDER = "a standing query reports each row when it appears or goes, so there is no list to sort or cut"
_COMPUTED = "the columns of a standing query are terms of the metadata, not computed ones"
_COUNTING = "a standing query reports single rows; a value over many rows would change with every one of them"
_ONE_GRAPH = "the metadata is one graph, the union of all documents"
_SELECT = "a standing query answers with rows"

_REASONS: Final[dict[str, tuple[str, str]]] = {
    "EXISTS": (_ABSENCE, "For something that is there, write its triples into the group; leave NOT EXISTS out"),
    "MINUS": (_ABSENCE, "Subscribe to what is left, and drop the unwanted rows when they arrive"),
    "BIND": (_COMPUTED, "Select the variables that the expression uses, or write a constant with VALUES"),
    "an expression in SELECT": (_COMPUTED, "Select the variables that the expression uses"),
    "a nested SELECT": ("its rows would be joined without its own variables", "Write its pattern into the outer group"),
    "GRAPH": (_ONE_GRAPH, "Leave GRAPH out, and subscribe with the scope `document` to stay inside one"),
    "FROM": (_ONE_GRAPH, "Leave FROM out"),
    "SERVICE": ("nobody tells us when the other server's answers change", "Register its documents here instead"),
    "ORDER BY": (_NO_ORDER, "Leave ORDER BY out"),
    "LIMIT": (_NO_ORDER, "Leave LIMIT out; a subscription has its own limit of rows"),
    "OFFSET": (_NO_ORDER, "Leave OFFSET out"),
    "GROUP BY": (_COUNTING, "Select the rows, and group them where they arrive"),
    "HAVING": (_COUNTING, "Select the rows, and group them where they arrive"),
    "an aggregate": (_COUNTING, "Select the rows, and count them where they arrive"),
    "CONSTRUCT": (_SELECT, "Write SELECT with the variables of the template"),
    "DESCRIBE": (_SELECT, "Write SELECT; every event brings the resources that its row names"),
    "an update": ("documents change by being registered, changed and deleted", "Write SELECT or ASK"),
}


def refusal(feature: str, place: TextPlace) -> UnsupportedQuery:
    """The refusal of one of SPARQL's features, with the reason and what to write instead."""
    reason, hint = _REASONS[feature]
    return place.refused(f"{feature} is not served: {reason}", hint=hint)


def function_refusal(name: str, place: TextPlace) -> UnsupportedQuery:
    """The refusal of a function that is not one of those served."""
    return place.refused(
        f"the function {name} is not served",
        hint="There are comparisons, && || ! IN, + - * /, CONTAINS, STRSTARTS, STRENDS, REGEX, STR, LANG, LANGMATCHES, "
        "DATATYPE, BOUND, LCASE, UCASE, STRLEN, sameTerm, isIRI, isBlank, isLiteral and isNumeric",
    )
