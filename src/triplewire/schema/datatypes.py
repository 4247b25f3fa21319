"""Which text is a value of which datatype (XML Schema part 2), and which datatype is below which."""

from __future__ import annotations

import re

from pyoxigraph import Literal, NamedNode

from triplewire.algebra.values import typed
from triplewire.model import RDF, XSD
from triplewire.model.numbers import number
from triplewire.schema.vocabulary import LITERAL

_DERIVED = {
    "decimal": "integer",
    "integer": "long nonNegativeInteger nonPositiveInteger",
    "long": "int",
    "int": "short",
    "short": "byte",
    "nonNegativeInteger": "positiveInteger unsignedLong",
    "nonPositiveInteger": "negativeInteger",
    "unsignedLong": "unsignedInt",
    "unsignedInt": "unsignedShort",
    "unsignedShort": "unsignedByte",
    "string": "normalizedString",
    "normalizedString": "token",
    "token": "language NMTOKEN Name",
    "Name": "NCName",
    "NCName": "ID IDREF ENTITY",
    "dateTime": "dateTimeStamp",
    "duration": "dayTimeDuration yearMonthDuration",
}
_BROADER = {RDF + "langString": RDF + "PlainLiteral"} | {
    XSD + low: XSD + high for high, lows in _DERIVED.items() for low in lows.split()
}

_VALUED = frozenset(["boolean", "date", "dateTime"])
_ZONE = r"(Z|[+-]\d{2}:\d{2})?"
_SPELLINGS = {
    name: re.compile(spelling, re.ASCII)
    for name, spelling in {
        "time": rf"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?{_ZONE}|24:00:00(\.0+)?{_ZONE}",
        "gYear": rf"-?\d{{4,}}{_ZONE}",
        "gYearMonth": rf"-?\d{{4,}}-(0[1-9]|1[0-2]){_ZONE}",
        "gMonth": rf"--(0[1-9]|1[0-2]){_ZONE}",
        "gMonthDay": rf"--(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]){_ZONE}",
        "gDay": rf"---(0[1-9]|[12]\d|3[01]){_ZONE}",
        "dateTimeStamp": r"-?\d{4,}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})",
        "duration": r"-?P(?=.)(\d+Y)?(\d+M)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?",
        "yearMonthDuration": r"-?P(?=.)(\d+Y)?(\d+M)?",
        "dayTimeDuration": r"-?P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?",
        "hexBinary": r"([0-9A-Fa-f]{2})*",
        "base64Binary": r"([A-Za-z0-9+/ ]{2,})*={0,2}",
        "anyURI": r"[^\s<>\"{}|\\^`]*",
        "language": r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*",
    }.items()
}
_OTHERS = frozenset(
    RDF + name for name in ("langString", "dirLangString", "HTML", "XMLLiteral", "JSON", "PlainLiteral")
)
_STRING = XSD + "string"


def is_datatype(iri: str) -> bool:
    """True for the datatypes that need no declaration: those of RDF and XML Schema, and `rdfs:Literal`."""
    return iri == LITERAL or iri in _OTHERS or iri.startswith(XSD)


def broader(iri: str) -> list[str]:
    """The datatype and those that it is derived from, nearest first.

    >>> [iri.rpartition("#")[2] for iri in broader(XSD + "short")]
    ['short', 'int', 'long', 'integer', 'decimal']
    """
    chain = [iri]
    while chain[-1] in _BROADER:
        chain.append(_BROADER[chain[-1]])
    return chain


def is_plain(value: Literal) -> bool:
    """True for text without a datatype or language of its own: only how it is spelled can be judged."""
    return value.datatype.value == _STRING


def is_spelled(text: str, datatype: str) -> bool:
    """True if the text is a value of the datatype; every text is one of a datatype that is not known here."""
    if not datatype.startswith(XSD):
        return True
    name = datatype[len(XSD) :]
    if name in ("double", "float") or XSD + "decimal" in broader(datatype):
        return number(Literal(text, datatype=NamedNode(datatype))) is not None
    if name in _VALUED:
        return typed(Literal(text, datatype=NamedNode(datatype))) is not None
    spelling = _SPELLINGS.get(name)
    return spelling is None or spelling.fullmatch(text.strip()) is not None
