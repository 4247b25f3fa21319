"""The syntax of XPath 1.0 as values: expressions, paths, steps; their types, their text, their plain form.

Abbreviations are gone, and names are expanded: a name test has its namespace, not a prefix. So two texts that differ in
these only are one value. Nodes are frozen and hashable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NODES, BOOLEAN, NUMBER, STRING = "node-set", "boolean", "number", "string"

FUNCTIONS: Mapping[str, tuple[str, int, int]] = {
    **dict.fromkeys(("last", "position"), (NUMBER, 0, 0)),
    **dict.fromkeys(("number", "string-length"), (NUMBER, 0, 1)),
    **dict.fromkeys(("count", "sum", "floor", "ceiling", "round"), (NUMBER, 1, 1)),
    **dict.fromkeys(("local-name", "namespace-uri", "name", "string", "normalize-space"), (STRING, 0, 1)),
    **dict.fromkeys(("substring-before", "substring-after"), (STRING, 2, 2)),
    "substring": (STRING, 2, 3),
    "translate": (STRING, 3, 3),
    "concat": (STRING, 2, 1 << 30),
    **dict.fromkeys(("true", "false"), (BOOLEAN, 0, 0)),
    **dict.fromkeys(("boolean", "not", "lang"), (BOOLEAN, 1, 1)),
    **dict.fromkeys(("starts-with", "contains"), (BOOLEAN, 2, 2)),
    "id": (NODES, 1, 1),
}
"""The core functions (XPath 1.0, section 4): what each gives, and how many arguments it takes."""

OF_NODES = {"count": 0, "sum": 0, "local-name": 0, "namespace-uri": 0, "name": 0}
"""Functions whose argument must be a node-set."""

AXES = (
    "ancestor",
    "ancestor-or-self",
    "attribute",
    "child",
    "descendant",
    "descendant-or-self",
    "following",
    "following-sibling",
    "namespace",
    "parent",
    "preceding",
    "preceding-sibling",
    "self",
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number, as its digits: without zeros that say nothing."""

    digits: str

    @property
    def value(self) -> float:
        """The number itself."""
        return float(self.digits)


@dataclass(frozen=True, slots=True)
class TextLiteral:
    """A literal."""

    value: str


@dataclass(frozen=True, slots=True)
class CoreCall:
    """A core function."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Binary:
    """A comparison or arithmetic: = != < <= > >= + - * div mod."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negative:
    """A minus sign."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Several:
    """`and`, `or` or `|` of two or more parts."""

    operator: str
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Name:
    """A name test; `local` is * for any name, `namespace` None for any namespace (then `local` is * as well)."""

    namespace: str | None
    local: str


@dataclass(frozen=True, slots=True)
class KindTest:
    """A test of the kind of a node: node, text, comment or processing-instruction (perhaps of one target)."""

    kind: str
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path."""

    axis: str
    test: Name | KindTest
    predicates: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """Steps from the document (absolute), from the context node, or from the nodes of another expression."""

    is_absolute: bool
    steps: tuple[Step, ...]
    start: Expression | None = None
    filters: tuple[Expression, ...] = ()
    """Predicates of `start`."""


Expression = Number | TextLiteral | CoreCall | Binary | Negative | Several | Path

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
ANYTHING = KindTest("node")
HERE = Path(is_absolute=False, steps=(Step("self", ANYTHING),))
DOCUMENT = Path(is_absolute=True, steps=())


def type_of(expression: Expression) -> str:
    """What an expression gives: known before any document has come."""
    match expression:
        case Number() | Negative():
            return NUMBER
        case TextLiteral():
            return STRING
        case CoreCall(function):
            return FUNCTIONS[function][0]
        case Binary(operator):
            return BOOLEAN if operator in COMPARISONS else NUMBER
        case Several(operator):
            return NODES if operator == "|" else BOOLEAN
        case _:
            return NODES


def parts_of(expression: Expression) -> Iterator[Expression]:
    """The expressions directly inside, those in predicates of steps too."""
    match expression:
        case CoreCall(_, arguments):
            yield from arguments
        case Binary(_, left, right):
            yield left
            yield right
        case Negative(operand):
            yield operand
        case Several(_, parts):
            yield from parts
        case Path(_, steps, start, filters):
            if start is not None:
                yield start
            yield from filters
            for step in steps:
                yield from step.predicates


def is_positional(expression: Expression) -> bool:
    """True if it looks at the position of its own context node: predicates inside have contexts of their own."""
    match expression:
        case CoreCall(function, arguments):
            return function in ("position", "last") or any(map(is_positional, arguments))
        case Path(_, _, start, _):
            return start is not None and is_positional(start)
        case _:
            return any(map(is_positional, parts_of(expression)))


def is_filter_by_position(predicate: Expression) -> bool:
    """True if a predicate selects by position: by being a number, or by asking for it."""
    return type_of(predicate) == NUMBER or is_positional(predicate)


# -- text

_LOOSE = {"or": 1, "and": 2, "=": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4}
_TIGHT = {"+": 5, "-": 5, "*": 6, "div": 6, "mod": 6, "|": 8}
PRECEDENCE = _LOOSE | _TIGHT
_NEGATIVE = 7
_PRIMARY = 9
Prefix = Callable[[str], str]
"""From a namespace to the prefix that stands for it."""


def render(expression: Expression, prefix: Prefix) -> str:
    """The expression as XPath, in the shortest form that is common; namespaces as these prefixes."""
    return _render(expression, prefix, 0)


def _render(expression: Expression, prefix: Prefix, outer: int) -> str:
    text, own = _rendered(expression, prefix)
    return f"({text})" if own < outer else text


def _rendered(expression: Expression, prefix: Prefix) -> tuple[str, int]:
    match expression:
        case Number(digits):
            return digits, _PRIMARY
        case TextLiteral(value):
            return (f"'{value}'" if "'" not in value else f'"{value}"'), _PRIMARY
        case CoreCall(function, arguments):
            return f"{function}({', '.join(_render(a, prefix, 0) for a in arguments)})", _PRIMARY
        case Binary(operator, left, right):
            own = PRECEDENCE[operator]
            return f"{_render(left, prefix, own)} {operator} {_render(right, prefix, own + 1)}", own
        case Negative(operand):
            return f"-{_render(operand, prefix, _NEGATIVE)}", _NEGATIVE
        case Several(operator, parts):
            own = PRECEDENCE[operator]
            return f" {operator} ".join(_render(part, prefix, own + 1) for part in parts), own
        case Path():  # a slash alone would take a following * or name for its step
            return _rendered_path(expression, prefix), 0 if expression == DOCUMENT else _PRIMARY


def _rendered_path(path: Path, prefix: Prefix) -> str:
    if path.start is None:
        text = ""
    else:
        text = _render(path.start, prefix, _PRIMARY)
        text = f"({text})" if isinstance(path.start, Path) else text
        text += "".join(f"[{render(predicate, prefix)}]" for predicate in path.filters)
    if path.is_absolute and not path.steps:
        return "/"
    for number, step in enumerate(path.steps):
        is_first = number == 0 and path.start is None and not path.is_absolute
        if step.axis == "descendant" and not any(map(is_filter_by_position, step.predicates)):
            text += ".//" if is_first else "//"
            text += _rendered_step(Step("child", step.test, step.predicates), prefix)
        else:
            text += ("" if is_first else "/") + _rendered_step(step, prefix)
    return text


def _rendered_step(step: Step, prefix: Prefix) -> str:
    predicates = "".join(f"[{render(predicate, prefix)}]" for predicate in step.predicates)
    if step.test == ANYTHING and not predicates and step.axis in ("self", "parent"):
        return "." if step.axis == "self" else ".."
    axis = {"child": "", "attribute": "@"}.get(step.axis, f"{step.axis}::")
    return f"{axis}{rendered_test(step.test, prefix)}{predicates}"


def rendered_test(test: Name | KindTest, prefix: Prefix) -> str:
    """A node test as XPath."""
    if isinstance(test, KindTest):
        return f"{test.kind}({'' if test.target is None else _rendered(TextLiteral(test.target), prefix)[0]})"
    return f"{prefix(test.namespace)}:{test.local}" if test.namespace else test.local


def namespaces_of(expression: Expression) -> set[str]:
    """The namespaces that its names are in."""
    tests = (step.test for step in steps_of(expression))
    return {test.namespace for test in tests if isinstance(test, Name) and test.namespace}


def steps_of(expression: Expression) -> Iterator[Step]:
    """All steps of all paths in an expression."""
    waiting: list[Expression] = [expression]
    while waiting:
        one = waiting.pop()
        waiting.extend(parts_of(one))
        if isinstance(one, Path):
            yield from one.steps


# -- plain form, for files and stores

_CLASSES = {
    "Number": Number,
    "Text": TextLiteral,
    "Call": CoreCall,
    "Binary": Binary,
    "Negative": Negative,
    "Several": Several,
    "Name": Name,
    "Kind": KindTest,
    "Step": Step,
    "Path": Path,
}
_NAMES = {made: name for name, made in _CLASSES.items()}


def plain(value: object) -> Any:
    """The expression as lists and texts, for JSON."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if (name := _NAMES.get(type(value))) is not None:
        return {name: [plain(getattr(value, field)) for field in type(value).__slots__]}  # type: ignore[attr-defined]  # all have them
    return value


def from_plain(value: Any) -> Any:
    """The expression that was made plain."""
    if isinstance(value, list):
        return tuple(from_plain(item) for item in value)
    if isinstance(value, dict):
        ((name, fields),) = value.items()
        return _CLASSES[name](*(from_plain(field) for field in fields))
    return value
