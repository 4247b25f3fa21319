"""Natives: terms as Python's own values, for people who count with them.

What Python cannot hold exactly stays the text that it is: an ill-typed literal, a year before 1, nanoseconds, a day
with a time zone, and every datatype that is not named here.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Self

from pyoxigraph import BlankNode, NamedNode

from triplewire.model.numbers import WHITE, number
from triplewire.model.terms import XSD, Term


class Text(str):
    """A text that knows its language; None where it has none. It is equal to any `str` of the same characters."""

    language: str | None

    def __new__(cls, text: str, language: str | None = None) -> Self:
        made = super().__new__(cls, text)
        made.language = language
        return made

    def __getnewargs__(self) -> tuple[str, str | None]:  # type: ignore[override]  # what pickle hands to __new__
        return str(self), self.language


Native = int | Decimal | float | bool | date | datetime | str

_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})?\Z"
)


def native(term: Term) -> Native:
    """The value of a term: a number, a truth, a day or a time where it is one, and a `Text` otherwise.

    An IRI is its text, and a blank node its label with `_:` before it.

    >>> from pyoxigraph import Literal
    >>> native(Literal("3", datatype=NamedNode(XSD + "integer")))
    3
    >>> native(Literal("chat", language="fr")).language
    'fr'
    """
    if isinstance(term, NamedNode):
        return term.value
    if isinstance(term, BlankNode):
        return str(term)
    found = number(term)
    if found is not None:
        return float(found) if isinstance(found, float) else found
    datatype = term.datatype.value
    other = _other(datatype[len(XSD) :], term.value.strip(WHITE)) if datatype.startswith(XSD) else None
    return Text(term.value, term.language) if other is None else other


def _other(name: str, text: str) -> bool | date | datetime | None:
    if name == "boolean":
        return _TRUTHS.get(text)
    try:
        if name == "date" and _DAY.match(text):
            return date.fromisoformat(text)
        if name in ("dateTime", "dateTimeStamp") and _MOMENT.match(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    return None
