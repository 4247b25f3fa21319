"""A SPARQL query as a tree of values: what the text says, before it is known what it means for each branch."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode, Variable

from triplewire.languages.places import TextPlace

Node = NamedNode | Literal | Variable


@dataclass(frozen=True, slots=True)
class Sequence:
    """`first/second/…`"""

    parts: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """`one|other|…`"""

    parts: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Inverse:
    """`^path`"""

    path: Path


@dataclass(frozen=True, slots=True)
class Ascent:
    """`rdfs:subClassOf*` or `rdfs:subPropertyOf+`: up the taxonomy; `relation` is the algebra's is-a test."""

    relation: str
    place: TextPlace


Path = NamedNode | Sequence | Alternatives | Inverse | Ascent


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A triple pattern, perhaps with a path as its predicate."""

    subject: Node
    path: Path | Variable
    object: Node

    @property
    def variables(self) -> list[str]:
        """The names of its variables, in order."""
        return [node.value for node in (self.subject, self.path, self.object) if isinstance(node, Variable)]


@dataclass(frozen=True, slots=True)
class Operation:
    """A function of expressions: one of the algebra's names, or `bound`. `depth` and `size` count operations."""

    function: str
    arguments: tuple[Expression, ...]
    place: TextPlace
    depth: int = field(init=False, compare=False, default=1)
    size: int = field(init=False, compare=False, default=1)

    def __post_init__(self) -> None:
        inner = [argument for argument in self.arguments if isinstance(argument, Operation)]
        object.__setattr__(self, "depth", 1 + max((operation.depth for operation in inner), default=0))
        object.__setattr__(self, "size", 1 + sum(operation.size for operation in inner))


Expression = NamedNode | Literal | Variable | Operation


@dataclass(frozen=True, slots=True)
class Triples:
    """Statements that all hold."""

    statements: tuple[PathPattern, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on the group that it stands in."""

    condition: Expression
    place: TextPlace


@dataclass(frozen=True, slots=True)
class OptionalPart:
    """A group that adds columns."""

    group: GroupPattern
    place: TextPlace


@dataclass(frozen=True, slots=True)
class Union:
    """One group or several alternatives."""

    groups: tuple[GroupPattern, ...]


@dataclass(frozen=True, slots=True)
class Values:
    """Rows of constants; None where a row says UNDEF."""

    names: tuple[str, ...]
    rows: tuple[tuple[NamedNode | Literal | None, ...], ...]
    place: TextPlace


@dataclass(frozen=True, slots=True)
class GroupPattern:
    """What stands between braces, in the order of the text."""

    parts: tuple[Part, ...]


Part = Triples | Filter | OptionalPart | Union | Values


@dataclass(frozen=True, slots=True)
class SelectQuery:
    """A SELECT or ASK. `columns` is None for `*`, and empty for ASK.

    `hidden` has the variables of blank nodes, `used` all variables that the text names anywhere.
    """

    columns: tuple[str, ...] | None
    where: GroupPattern
    values: Values | None
    hidden: frozenset[str]
    used: frozenset[str]
    place: TextPlace
