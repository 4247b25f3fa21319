"""What an expression means for one row: SPARQL 1.1 section 17, with the papers' looser comparisons beside it.

An expression gives a term or raises Incomparable (SPARQL's type error). A condition holds if its effective boolean
value is true; an error is not true, so a row whose condition is an error is not an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import re2
from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from triplewire.algebra.pattern import IS_A, LOOSE, STRICT, Call, Expression
from triplewire.algebra.taxonomy import EMPTY, Taxonomy
from triplewire.algebra.values import (
    XSD_BOOLEAN,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_FLOAT,
    XSD_INTEGER,
    XSD_STRING,
    Incomparable,
    compare,
    compare_loosely,
    is_string,
    promote,
    text_of,
)
from triplewire.model import XSD, Term
from triplewire.model.numbers import Number, Single, number

MOST_REGEX = 1000
"""The length of a regular expression; a longer one is an error."""

TRUE = Literal("true", datatype=XSD_BOOLEAN)
FALSE = Literal("false", datatype=XSD_BOOLEAN)
Row = Mapping[str, Term]


def holds(condition: Expression, row: Row, taxonomy: Taxonomy = EMPTY) -> bool:
    """True if the condition is true of the row; false if it is false or an error."""
    try:
        return truth(value(condition, row, taxonomy))
    except Incomparable:
        return False


def value(expression: Expression, row: Row, taxonomy: Taxonomy = EMPTY) -> Term:
    """The term that the expression gives for the row; raises Incomparable for a type error."""
    if isinstance(expression, Variable):
        try:
            return row[expression.value]
        except KeyError:
            raise Incomparable from None
    if not isinstance(expression, Call):
        return expression
    name = expression.function
    if name in ("and", "or"):
        return _connect(name == "or", expression.arguments, row, taxonomy)
    terms = [value(argument, row, taxonomy) for argument in expression.arguments]
    if name in IS_A:
        return _boolean(taxonomy.relates(name, terms[0], terms[1]))
    return _FUNCTIONS[name](*terms)


def _connect(decisive: bool, arguments: tuple[Expression, ...], row: Row, taxonomy: Taxonomy) -> Term:
    """Three-valued `and`/`or`: a decisive value wins over an error."""
    error = False
    for argument in arguments:
        try:
            if truth(value(argument, row, taxonomy)) is decisive:
                return _boolean(decisive)
        except Incomparable:
            error = True
    if error:
        raise Incomparable
    return _boolean(not decisive)


def truth(term: Term) -> bool:
    """The effective boolean value (SPARQL 1.1 section 17.2.2)."""
    if not isinstance(term, Literal):
        raise Incomparable
    if term.datatype == XSD_BOOLEAN:
        return term.value.strip() in ("true", "1")
    if term.datatype == XSD_STRING:
        return term.value != ""
    found = number(term)
    if found is not None:
        return found == found and found != 0
    if term.datatype.value.startswith(XSD) and _is_numeric_type(term.datatype):
        return False
    raise Incomparable


def _is_numeric_type(datatype: NamedNode) -> bool:
    """A numeric type, also when the literal at hand is not valid in it (the negative ones have no 1)."""
    return any(number(Literal(text, datatype=datatype)) is not None for text in ("1", "-1"))


def _boolean(flag: bool) -> Literal:
    return TRUE if flag else FALSE


def _literal(term: Term) -> Literal:
    if not isinstance(term, Literal):
        raise Incomparable
    return term


def _string(term: Term) -> Literal:
    if not is_string(term):
        raise Incomparable
    return _literal(term)


def _number(term: Term) -> Number:
    found = number(term)
    if found is None:
        raise Incomparable
    return found


def _text_pair(first: Term, second: Term) -> tuple[str, str]:
    """The texts of two string arguments that are compatible (SPARQL 1.1 section 17.4.3.1.2)."""
    text, part = _string(first), _string(second)
    if part.language is not None and part.language != text.language:
        raise Incomparable
    return text.value, part.value


_IDLE_SPACE = re.compile(r"(\\.|\[\^?\]?(?:\\.|[^\]\\])*\])|[ \t\r\n]+", re.DOTALL)
"""What the flag x takes out of a regular expression: white space that is neither escaped nor in a character class."""


@lru_cache(maxsize=4096)
def _compiled(pattern: str, flags: str) -> Any:
    """RE2, because its time is linear in the text whatever the pattern: subscribers are not trusted.

    The pattern's length is bounded, because it is the other factor of that time.
    """
    if set(flags) - set("ismx") or len(pattern) > MOST_REGEX:
        raise Incomparable
    if "x" in flags:
        pattern = _IDLE_SPACE.sub(lambda match: match[1] or "", pattern)
    prefix = "".join(sorted(set(flags) & set("ism")))
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile((f"(?{prefix})" if prefix else "") + pattern, options)
    except re2.error:
        raise Incomparable from None


def _regex(text: Term, pattern: Term, flags: Term | None = None) -> Term:
    compiled = _compiled(_string(pattern).value, "" if flags is None else _string(flags).value)
    return _boolean(compiled.search(_string(text).value) is not None)


def _langmatches(tag: Term, wanted: Term) -> Term:
    have, want = _literal(tag).value.lower(), _literal(wanted).value.lower()
    if want == "*":
        return _boolean(have != "")
    return _boolean(have == want or have.startswith(want + "-"))


def _cased(change: Callable[[str], str]) -> Callable[[Term], Term]:
    def apply(term: Term) -> Term:
        text = _string(term)
        return Literal(change(text.value), language=text.language or None)

    return apply


def _literal_of(result: Number) -> Literal:
    if isinstance(result, Single):
        return Literal(_float_text(result), datatype=XSD_FLOAT)
    if isinstance(result, float):
        return Literal(_float_text(result), datatype=XSD_DOUBLE)
    if isinstance(result, Decimal):
        return Literal(format(result, "f"), datatype=XSD_DECIMAL)
    return Literal(str(result), datatype=XSD_INTEGER)


def _float_text(result: float) -> str:
    return {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(float(result)), repr(float(result)))


def _arithmetic(name: str) -> Callable[[Term, Term], Term]:
    def apply(left: Term, right: Term) -> Term:
        a, b = promote(_number(left), _number(right))
        try:
            return _literal_of(_operate(name, a, b))
        except (ArithmeticError, ValueError):  # ValueError: an integer too long to be written down
            raise Incomparable from None

    return apply


def _operate(name: str, a: Any, b: Any) -> Number:
    if isinstance(a, Decimal) or isinstance(b, Decimal) or (name == "/" and isinstance(a, int)):
        a, b = Decimal(a), Decimal(b)
    single = isinstance(a, Single)
    if name == "+":
        result = a + b
    elif name == "-":
        result = a - b
    elif name == "*":
        result = a * b
    elif isinstance(a, float) and b == 0:
        result = float("nan") if a == 0 or a != a else float("inf") * (1 if a > 0 else -1)
    else:
        result = a / b
    return Single(result) if single else result


def _negate(term: Term) -> Term:
    found = _number(term)
    return _literal_of(Single(-found) if isinstance(found, Single) else -found)


def _comparison(name: str) -> Callable[[Term, Term], Term]:
    if name in LOOSE:
        return lambda left, right: _boolean(compare_loosely(name[1:], left, right))
    return lambda left, right: _boolean(compare(name, left, right))


def _on_text(test: Callable[[str, str], bool]) -> Callable[[Term, Term], Term]:
    return lambda first, second: _boolean(test(*_text_pair(first, second)))


_FUNCTIONS: dict[str, Callable[..., Term]] = {
    **{name: _comparison(name) for name in (*STRICT, *LOOSE)},
    **{name: _arithmetic(name) for name in "+-*/"},
    "negate": _negate,
    "same": lambda left, right: _boolean(left == right),
    "not": lambda term: _boolean(not truth(term)),
    "contains": _on_text(lambda text, part: part in text),
    "starts": _on_text(str.startswith),
    "ends": _on_text(str.endswith),
    "regex": _regex,
    "lang": lambda term: Literal(_literal(term).language or ""),
    "langmatches": _langmatches,
    "datatype": lambda term: _literal(term).datatype,
    "str": lambda term: Literal(text_of(term)),
    "lcase": _cased(str.lower),
    "ucase": _cased(str.upper),
    "strlen": lambda term: Literal(str(len(_string(term).value)), datatype=XSD_INTEGER),
    "isiri": lambda term: _boolean(isinstance(term, NamedNode)),
    "isblank": lambda term: _boolean(isinstance(term, BlankNode)),
    "isliteral": lambda term: _boolean(isinstance(term, Literal)),
    "isnumeric": lambda term: _boolean(number(term) is not None),
}
