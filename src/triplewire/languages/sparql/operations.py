"""Reading expressions: operators and functions become the algebra's names."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from pyoxigraph import Variable

from triplewire.algebra.expressions import FALSE
from triplewire.languages.places import TextPlace
from triplewire.languages.sparql import syntax
from triplewire.languages.sparql.faults import LANGUAGE, function_refusal, place_of
from triplewire.languages.sparql.terms import SparqlTermReader
from triplewire.languages.sparql.tokens import BUILTINS

MOST_DEEP: Final = 100
"""Levels of one expression; a sum or product of n terms has n of them."""

SERVED: Final = {
    "STR": "str",
    "LANG": "lang",
    "LANGMATCHES": "langmatches",
    "DATATYPE": "datatype",
    "BOUND": "bound",
    "LCASE": "lcase",
    "UCASE": "ucase",
    "STRLEN": "strlen",
    "CONTAINS": "contains",
    "STRSTARTS": "starts",
    "STRENDS": "ends",
    "REGEX": "regex",
    "sameTerm": "same",
    "isIRI": "isiri",
    "isURI": "isiri",
    "isBlank": "isblank",
    "isLiteral": "isliteral",
    "isNumeric": "isnumeric",
}
"""SPARQL's functions, in its spelling, and the algebra's names for them."""

_FUNCTIONS: Final = {name.upper(): function for name, function in SERVED.items()}


def _operation(function: str, arguments: tuple[syntax.Expression, ...], place: TextPlace) -> syntax.Operation:
    """An operation, unless it is so deep that walking it could exhaust the stack."""
    made = syntax.Operation(function, arguments, place)
    if made.depth > MOST_DEEP:
        raise place.refused(
            f"an expression of more than {MOST_DEEP} levels is not served", hint="Split it into several FILTERs"
        )
    return made


def _first_place(children: list[Any]) -> TextPlace:
    """Where the first operation among them stands: `&&` and `||` themselves keep no place."""
    return next((child.place for child in children if isinstance(child, syntax.Operation)), TextPlace(LANGUAGE, 1, 1))


class _SignedProduct(NamedTuple):
    """`-2 * ?x` in `?y -2 * ?x`: a term of a sum that brings its own sign."""

    product: syntax.Expression


class OperationReader(SparqlTermReader):
    """The rules from `disjunction` down."""

    def disjunction(self, children: list[Any]) -> syntax.Expression:
        """`||`."""
        return _operation("or", tuple(children), _first_place(children))

    def conjunction(self, children: list[Any]) -> syntax.Expression:
        """`&&`."""
        return _operation("and", tuple(children), _first_place(children))

    def comparison(self, children: list[Any]) -> syntax.Expression:
        """`=` and its kin."""
        left, sign, right = children
        return _operation(str(sign), (left, right), place_of(sign))

    def member(self, children: list[Any]) -> syntax.Expression:
        """`IN`: an `or` of equalities (section 17.4.1.9)."""
        left, keyword, choices = children
        tests = tuple(_operation("=", (left, choice), place_of(keyword)) for choice in choices)
        if not tests:
            return FALSE
        return tests[0] if len(tests) == 1 else _operation("or", tests, place_of(keyword))

    def no_member(self, children: list[Any]) -> syntax.Expression:
        """`NOT IN`."""
        return _operation("not", (self.member(children),), place_of(children[1]))

    def sum(self, children: list[Any]) -> syntax.Expression:
        """`+` and `-`, from the left."""
        result, rest = children[0], iter(children[1:])
        for part in rest:
            if isinstance(part, _SignedProduct):
                result = _operation("+", (result, part.product), _first_place([result]))
            else:
                result = _operation(str(part), (result, next(rest)), place_of(part))
        return result  # type: ignore[no-any-return]

    def product(self, children: list[Any]) -> syntax.Expression:
        """`*` and `/`, from the left."""
        result = children[0]
        for sign, operand in zip(children[1::2], children[2::2], strict=True):
            result = _operation(str(sign), (result, operand), place_of(sign))
        return result  # type: ignore[no-any-return]

    def signed_product(self, children: list[Any]) -> _SignedProduct:
        """A signed number after a term: the sign is an operator (the note on grammar rule 116)."""
        return _SignedProduct(self.product(children))

    def negate(self, children: list[Any]) -> syntax.Expression:
        """Unary `-`."""
        return _operation("negate", (children[1],), place_of(children[0]))

    def plus(self, children: list[Any]) -> syntax.Expression:
        """Unary `+`: the number itself, an error for anything else; which is what two minus signs are."""
        return self.negate([children[0], self.negate(children)])

    # `not` is a word of Python's, so this rule's method is set below.
    def _not(self, children: list[Any]) -> syntax.Expression:
        return _operation("not", (children[1],), place_of(children[0]))

    def arguments(self, children: list[Any]) -> list[syntax.Expression]:
        """What stands between a function's brackets."""
        return children

    def builtin(self, children: list[Any]) -> syntax.Expression:
        """A function of SPARQL's."""
        token, arguments = children
        name, place = token.upper(), place_of(token)
        allowed = BUILTINS[name]
        if len(arguments) not in allowed:
            many = f"{allowed[0]}" if len(allowed) == 1 else f"{allowed[0]} to {allowed[-1]}"
            raise place.wrong(f"{token} takes {many} arguments, not {len(arguments)}")
        if name == "BOUND" and not isinstance(arguments[0], Variable):
            raise place.wrong("BOUND asks about a variable", expected=("a variable",))
        if name not in _FUNCTIONS:
            self.refusals.append(function_refusal(str(token), place))
            return FALSE
        return _operation(_FUNCTIONS[name], tuple(arguments), place)


setattr(OperationReader, "not", OperationReader._not)
