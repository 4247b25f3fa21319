"""Values of terms: SPARQL 1.1's operator mapping (section 17.3), and the papers' looser reading of text.

Strict: numbers compare with numbers after promotion (integer, decimal, float, double), strings with strings, booleans
with booleans, times with times; anything else is an `Incomparable`, which is SPARQL's type error.
Loose: the text of a term counts, whatever its type; text that looks like a number is that number.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from pyoxigraph import Literal, NamedNode

from triplewire.model import RDF, XSD, Term
from triplewire.model.numbers import LONGEST_NUMBER, WHITE, Number, Single, number


class Incomparable(Exception):
    """SPARQL's type error: an expression that has it neither holds nor fails."""


XSD_STRING = NamedNode(XSD + "string")
XSD_BOOLEAN = NamedNode(XSD + "boolean")
XSD_INTEGER = NamedNode(XSD + "integer")
XSD_DECIMAL = NamedNode(XSD + "decimal")
XSD_FLOAT = NamedNode(XSD + "float")
XSD_DOUBLE = NamedNode(XSD + "double")

_STRING, _LANG_STRING = XSD + "string", RDF + "langString"
_LOOSE = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\Z")


def promote(left: Number, right: Number) -> tuple[Number, Number]:
    """Both numbers in the smallest type that holds both kinds (XPath's numeric promotion)."""
    if isinstance(left, float) or isinstance(right, float):
        wide = type(left) is float or type(right) is float
        kind = float if wide else Single
        return _as_float(left, kind), _as_float(right, kind)
    return left, right


def _as_float(value: Number, kind: type[float]) -> float:
    try:
        return kind(value)
    except OverflowError:
        return kind("inf") if value > 0 else kind("-inf")


@lru_cache(maxsize=65536)
def loose_number(text: str) -> Decimal | None:
    """The number that a text looks like, white space around it aside; exact."""
    text = text.strip(WHITE)
    return Decimal(text) if len(text) <= LONGEST_NUMBER and _LOOSE.match(text) else None


def text_of(term: Term) -> str:
    """SPARQL's STR: a literal's text or an IRI; a blank node has none."""
    if isinstance(term, Literal | NamedNode):
        return term.value
    raise Incomparable


def is_string(term: Term) -> bool:
    """True for plain and language-tagged strings."""
    return isinstance(term, Literal) and term.datatype.value in (_STRING, _LANG_STRING)


_ORDER = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def compare(operator: str, left: Term, right: Term) -> bool:
    """`left operator right` with SPARQL's typing; raises Incomparable for a type error."""
    a, b = typed(left), typed(right)
    if a is not None and b is not None and a[0] == b[0]:
        x, y = a[1], b[1]
        if a[0] == "number":
            x, y = promote(x, y)
        elif a[0] in ("time", "date"):
            return _compare_times(operator, x, y)
        return bool(_ORDER[operator](x, y))
    if operator in ("=", "!="):
        return _same_term(left, right, known=a is not None and b is not None) is (operator == "=")
    raise Incomparable


def _same_term(left: Term, right: Term, known: bool) -> bool:
    """RDFterm-equal: two literals that differ may still be equal in a type we do not know, so that is an error."""
    if left == right:
        return True
    if isinstance(left, Literal) and isinstance(right, Literal) and not known and not _distinct_by_kind(left, right):
        raise Incomparable
    return False


def _distinct_by_kind(left: Literal, right: Literal) -> bool:
    """Text with a language is never equal to another text with one, nor to a value of a known type."""
    return all(term.language is not None or typed(term) is not None for term in (left, right))


def typed(term: Term) -> tuple[str, Any] | None:
    """The kind of value and the value itself, for the types that SPARQL orders."""
    if not isinstance(term, Literal):
        return None
    datatype = term.datatype.value
    if datatype == _STRING:
        return "string", term.value
    if not datatype.startswith(XSD):
        return None
    value = number(term)
    if value is not None:
        return "number", value
    return _other(datatype[len(XSD) :], term.value.strip(WHITE))


def _other(name: str, text: str) -> tuple[str, Any] | None:
    if name == "boolean" and text in ("true", "1", "false", "0"):
        return "boolean", text in ("true", "1")
    if name == "dateTime":
        moment = _date_time(text)
        return None if moment is None else ("time", moment)
    if name == "date":
        day = _date(text)
        return None if day is None else ("date", day)
    return None


_DATE_TIME = re.compile(
    r"(-?[0-9]{4,})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]{1,400})?(Z|[+-][0-9]{2}:[0-9]{2})?\Z"
)
_DATE = re.compile(r"(-?[0-9]{4,})-([0-9]{2})-([0-9]{2})(Z|[+-][0-9]{2}:[0-9]{2})?\Z")


Moment = tuple[Fraction, bool]
"""Seconds since 1970 in UTC, exact, and whether the zone is known (it is taken for UTC if not)."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


@lru_cache(maxsize=65536)
def _date_time(text: str) -> Moment | None:
    match = _DATE_TIME.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[i]) for i in range(1, 7))
    midnight = (hour, minute, second) == (24, 0, 0) and not Fraction(match[7] or 0)
    extra = timedelta(days=1) if midnight else timedelta(0)
    try:
        moment = datetime(year, month, day, 0 if extra else hour, minute, second, tzinfo=_zone(match[8])) + extra
    except (ValueError, OverflowError):
        return None
    return (moment - _EPOCH) // _SECOND + Fraction(match[7] or 0), match[8] is not None


@lru_cache(maxsize=65536)
def _date(text: str) -> Moment | None:
    """A day is where it begins (XPath's op:date-less-than)."""
    match = _DATE.match(text)
    if match is None:
        return None
    try:
        moment = datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=_zone(match[4]))
    except (ValueError, OverflowError):
        return None
    return Fraction((moment - _EPOCH) // _SECOND), match[4] is not None


def _zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return UTC
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(text[1:3]), minutes=int(text[4:6])))


WIDEST_ZONE = Fraction(14 * 60 * 60)
"""No zone is further than this from UTC, in seconds."""


def _compare_times(operator: str, left: Moment, right: Moment) -> bool:
    """XML Schema 1.1's order: with a zone on one side only, they are not equal, and before or after each other only if
    they are so for every zone."""
    (a, a_zoned), (b, b_zoned) = left, right
    if a_zoned != b_zoned:
        if operator in ("=", "!="):
            return operator == "!="
        if abs(a - b) <= WIDEST_ZONE:
            raise Incomparable
    return bool(_ORDER[operator](a, b))


def compare_loosely(operator: str, left: Term, right: Term) -> bool:
    """`left operator right` as the papers' languages read it; `operator` without its tilde."""
    a, b = text_of(left), text_of(right)
    x, y = loose_number(a), loose_number(b)
    if x is not None and y is not None:
        return bool(_ORDER[operator](x, y))
    if operator not in ("=", "!=") and (x is None) != (y is None):
        raise Incomparable
    return bool(_ORDER[operator](a, b))
