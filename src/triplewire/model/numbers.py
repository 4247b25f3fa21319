"""Numbers: from a literal of one of XML Schema's numeric types to the number that it stands for."""

from __future__ import annotations

import re
import struct
from decimal import Decimal
from functools import lru_cache

from pyoxigraph import Literal

from triplewire.model.terms import XSD, Term

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)\Z")
_DOUBLE = re.compile(r"([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN)\Z")
_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-128, 127),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 255),
}
WHITE = " \t\r\n"
"""What may stand around the text of a number."""

LONGEST_NUMBER = 4000
"""More digits than this are not read as a number, strictly or loosely: nobody means them, and reading them is slow."""


class Single(float):
    """A value of xsd:float: a double that has been rounded to single precision."""

    def __new__(cls, value: float | str) -> Single:
        try:
            return super().__new__(cls, struct.unpack("f", struct.pack("f", float(value)))[0])
        except OverflowError:
            return super().__new__(cls, float("inf") if float(value) > 0 else float("-inf"))


Number = int | Decimal | Single | float


@lru_cache(maxsize=65536)
def number(term: Term) -> Number | None:
    """The number that a literal of a numeric type stands for; None if it is not one, or is ill-typed."""
    if not isinstance(term, Literal):
        return None
    datatype = term.datatype.value
    if not datatype.startswith(XSD):
        return None
    name, text = datatype[len(XSD) :], term.value.strip(WHITE)
    if name in _BOUNDS:
        return _bounded(text, *_BOUNDS[name]) if _INTEGER.match(text) else None
    if name == "decimal":
        return Decimal(text) if len(text) <= LONGEST_NUMBER and _DECIMAL.match(text) else None
    if name in ("double", "float"):
        if not _DOUBLE.match(text):
            return None
        return float(text) if name == "double" else Single(text)
    return None


def _bounded(text: str, least: int | None, most: int | None) -> int | None:
    if len(text) > LONGEST_NUMBER:
        return None
    value = int(text)
    return value if (least is None or value >= least) and (most is None or value <= most) else None
