"""Cases: can these facts all be so, when the variables are of these kinds?

A `no` is a proof. A `yes` is exact for comparisons of one sort and for `contains`, `starts` and `ends` on free text:
a text that starts with, contains and ends with what it must, with a character between that occurs in no constant,
has nothing else in it. Where lines and texts meet in ways that are not followed up, the answer is `yes`.
"""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.algebra.covering.demands import outcome
from triplewire.algebra.covering.facts import TEXT, Fact, Holds, Opaque, Ordering, Place, Point, SameTerm
from triplewire.algebra.covering.lines import Line, Lines
from triplewire.algebra.covering.sorts import ALPHABETS, BY_TEXT, NUMERALS, Sort, TermKind, kind_of
from triplewire.algebra.pattern import Call, Expression, variable, variables_of
from triplewire.algebra.substitution import replace_variables
from triplewire.algebra.taxonomy import Taxonomy
from triplewire.algebra.values import loose_number

Assertion = tuple[Fact, bool]
_TESTS: dict[str, Callable[[str, str], bool]] = {
    "contains": lambda text, part: part in text,
    "starts": lambda text, part: text.startswith(part),
    "ends": lambda text, part: text.endswith(part),
}


def consistent(assertions: Sequence[Assertion], kinds: Mapping[str, TermKind], taxonomy: Taxonomy) -> bool:
    """False only if no terms of these kinds make all assertions so."""
    terms = Terms(kinds)
    for fact, positive in assertions:
        if isinstance(fact, SameTerm) and positive and not terms.merge(fact.left, fact.right):
            return False
    while True:
        lines = Lines(kinds)
        told = [(_rewritten(fact, terms), positive) for fact, positive in assertions]
        if not _draw(lines, told):
            return False
        found = _same_texts(lines.texts(), kinds)
        if not found:
            break
        if not all(terms.merge(a, b) for a, b in found):
            return False
    return (
        not any(isinstance(f, SameTerm) and not positive and f.left == f.right for f, positive in told)
        and _texts_agree(lines, told, kinds)
        and _opaque_agree(told, taxonomy)
    )


class Terms:
    """Which variables hold the same term, or a known one."""

    def __init__(self, kinds: Mapping[str, TermKind]) -> None:
        self._kinds = kinds
        self._of: dict[str, Expression] = {}

    def find(self, place: Expression) -> Expression:
        """What stands for a variable: itself, another variable, or a constant."""
        while isinstance(place, Variable) and place.value in self._of:
            place = self._of[place.value]
        return place

    def merge(self, a: Expression, b: Expression) -> bool:
        """Note that both are one term; False if they cannot be."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return True
        if not isinstance(a, Variable):
            a, b = b, a
        if not isinstance(a, Variable):
            return False
        one, two = self._kind(a), self._kind(b)
        if one.sort is not two.sort or (None not in (one.numeric, two.numeric) and one.numeric != two.numeric):
            return False
        self._of[a.value] = b
        return True

    def _kind(self, place: Expression) -> TermKind:
        if isinstance(place, Variable):
            return self._kinds[place.value]
        assert not isinstance(place, Call)
        return kind_of(place)

    def names(self) -> dict[str, Expression]:
        """The variables that something else stands for, with what it is."""
        return {name: self.find(variable(name)) for name in self._of}


def _rewritten(fact: Fact, terms: Terms) -> Fact:
    names = terms.names()
    if not names:
        return fact

    def renamed(expression: Expression) -> Expression:
        return replace_variables(expression, names)  # type: ignore[arg-type]  # an expression may stand for one as well

    def new(place: Place) -> Place:
        return place if isinstance(place, Point) else renamed(place)

    if isinstance(fact, Ordering):
        return fact._replace(left=new(fact.left), right=new(fact.right))
    if isinstance(fact, SameTerm):
        return SameTerm(renamed(fact.left), renamed(fact.right))
    if isinstance(fact, Holds):
        return Holds(new(fact.text), fact.test, fact.part)
    return Opaque(renamed(fact.expression))


def _draw(lines: Lines, told: Iterable[Assertion]) -> bool:
    """Put all comparisons on their lines, and what `starts` says of the order of texts; False if they cannot be."""
    for fact, positive in told:
        if isinstance(fact, Ordering):
            lines.add(fact, positive)
        elif isinstance(fact, Holds) and positive and fact.test == "starts":
            following = _after_all_that_start_with(fact.part)
            if following is not None and not isinstance(fact.text, Point) and variables_of(fact.text):
                lines.within(fact.text, fact.part, following)
    lines.tie_numbers()
    lines.texts()
    return not lines.broken()


def _after_all_that_start_with(prefix: str) -> str | None:
    """The first text after all that start with the prefix; None if we do not know one."""
    if not prefix or not 0 < ord(prefix[-1]) < 0xD7FF:
        return None
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _same_texts(texts: Line, kinds: Mapping[str, TermKind]) -> list[tuple[Expression, Expression]]:
    """Pairs that must be the same term because they have the same text, in a sort whose terms are their texts."""
    found: list[tuple[Expression, Expression]] = []
    variables = [place for place in texts.places if isinstance(place, Variable) and kinds[place.value].sort in BY_TEXT]
    for a, b in combinations(variables, 2):
        if kinds[a.value].sort is kinds[b.value].sort and texts.equal(a, b):
            found.append((a, b))
    for a in variables:
        value = texts.value_at(a)
        if value is not None:
            term = _term(value, kinds[a.value].sort)
            if term is not None:
                found.append((a, term))
    return found


def _term(text: str, sort: Sort) -> Expression | None:
    if sort is Sort.STRING:
        return Literal(text)
    try:
        return NamedNode(text)
    except ValueError:
        return None


def _texts_agree(lines: Lines, told: Iterable[Assertion], kinds: Mapping[str, TermKind]) -> bool:
    """False if some text cannot pass and fail the tests that it must."""
    tests: defaultdict[Place, list[tuple[Holds, bool]]] = defaultdict(list)
    for fact, positive in told:
        if isinstance(fact, Holds):
            tests[fact.text].append((fact, positive))
        elif isinstance(fact, Ordering) and fact.line == TEXT:
            for place in (fact.left, fact.right):
                tests.setdefault(place, [])
    return all(_text_agrees(text, asked, lines, kinds) for text, asked in tests.items())


def _text_agrees(text: Place, asked: list[tuple[Holds, bool]], lines: Lines, kinds: Mapping[str, TermKind]) -> bool:
    value = _known_text(text, lines.texts())
    if value is not None:
        return _value_agrees(value, text, kinds) and all(_TESTS[t.test](value, t.part) is yes for t, yes in asked)
    passed = [test for test, positive in asked if positive]
    failed = [test for test, positive in asked if not positive]
    if any(not _spellable(test.part, text, kinds) for test in passed):
        return False
    if not all(_compatible(one, two) for one, two in combinations(passed, 2)):
        return False
    return not any(_forced(test, passed, lines) for test in failed)


def _known_text(text: Place, line: Line) -> str | None:
    if not isinstance(text, Variable | Call):
        return str(text.value)
    value = line.value_at(text)
    if value is None and isinstance(text, Call):
        inner = _known_text(text.arguments[0], line)
        return None if inner is None else _CHANGES[text.function](inner)
    return value  # type: ignore[no-any-return]


_CHANGES = {"lcase": str.lower, "ucase": str.upper}


def _value_agrees(value: str, text: Place, kinds: Mapping[str, TermKind]) -> bool:
    """False if the place cannot have this text: it looks like a number and must not, or the other way round."""
    if not _spellable(value, text, kinds):
        return False
    kind = kinds[text.value] if isinstance(text, Variable) else None
    return kind is None or kind.numeric is None or kind.numeric == (loose_number(value) is not None)


def _spellable(part: str, text: Place, kinds: Mapping[str, TermKind]) -> bool:
    """False if the text cannot have this part: letters in a number, capitals in what `lcase` gives."""
    if isinstance(text, Call):
        unwanted = string.ascii_uppercase if text.function == "lcase" else string.ascii_lowercase
        return not set(part) & set(unwanted)
    if not isinstance(text, Variable):
        return True
    kind = kinds[text.value]
    if kind.sort in ALPHABETS and not set(part) <= ALPHABETS[kind.sort]:
        return False
    return kind.numeric is not True or set(part) <= NUMERALS


def _compatible(one: Holds, two: Holds) -> bool:
    """False for two different beginnings, or two different ends."""
    if one.test != two.test or one.test == "contains":
        return True
    test = _TESTS[one.test]
    return test(one.part, two.part) or test(two.part, one.part)


def _forced(test: Holds, passed: list[Holds], lines: Lines) -> bool:
    """True if a text that passes the others passes this one too."""
    if test.part == "" or any(_implies(other, test) for other in passed):
        return True
    following = _after_all_that_start_with(test.part) if test.test == "starts" else None
    return following is not None and lines.between(test.text, test.part, following)


def _implies(one: Holds, two: Holds) -> bool:
    if two.test == "contains":
        return two.part in one.part
    return one.test == two.test and _TESTS[two.test](one.part, two.part)


def _opaque_agree(told: Iterable[Assertion], taxonomy: Taxonomy) -> bool:
    """False if a condition that is not looked into must hold and not hold, or is known to do the other."""
    seen: dict[Expression, bool] = {}
    for expression, positive in [(fact.expression, yes) for fact, yes in told if isinstance(fact, Opaque)]:
        if not variables_of(expression) and (outcome(expression, taxonomy) is True) is not positive:
            return False
        if seen.setdefault(expression, positive) is not positive:
            return False
    return not any(positive and _weaker(e, seen) for e, positive in seen.items())


_WEAKER = {"child": ("descendant", "descendant-or-self"), "descendant": ("descendant-or-self",)}


def _weaker(expression: Expression, seen: Mapping[Expression, bool]) -> bool:
    """True if a weaker is-a between the same two is known not to hold."""
    if not isinstance(expression, Call):
        return False
    weaker = (Call(name, expression.arguments) for name in _WEAKER.get(expression.function, ()))
    return any(seen.get(other) is False for other in weaker)
