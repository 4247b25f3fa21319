"""The content of a resource: its triples, with those of what it holds (MDV section 2.4; M7).

A resource *holds* what it references by a property that the schema declares strong, and every blank node that it
references, because nobody else can name that. Content follows this downwards, `holders` upwards. Both go by rounds:
one lookup serves all nodes of a round, however wide it is, and each node is asked for once, so cycles end.

Lookups are handed in. Downwards works on terms, for people who read contents; upwards on the numbers that a store
has for terms, because it looks for rows that are touched.

Invariant: r is among `holders({x})` if and only if the triples of x are in `content(r)`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import TypeVar

from pyoxigraph import BlankNode, NamedNode, Triple

from triplewire.model import Term

About = Callable[[Sequence[Term]], Iterable[Triple]]
"""Gives the triples that have one of these subjects."""

Key = tuple[int, int]
"""A predicate (0 for any) and an object."""

Backward = Callable[[Sequence[Key]], Iterable[Iterable[tuple[int, int, int]]]]
"""Gives for each key its triples."""

ANY = 0
"""The predicate of a key that asks for all of them; never the number of a term."""

Node = TypeVar("Node", bound=Hashable)


def content(resource: Term, about: About, strong: frozenset[str]) -> tuple[Triple, ...]:
    """The triples of a resource and of all that it holds, in the order of their text.

    `strong` has the IRIs of the properties that are strong references.
    """
    return contents([resource], about, strong)


def contents(resources: Iterable[Term], about: About, strong: frozenset[str]) -> tuple[Triple, ...]:
    """The triples of several resources and of all that they hold, each once, in the order of their text."""
    found: set[Triple] = set()

    def held(round: Sequence[Term]) -> Iterable[Term]:
        triples = [*about(round)]
        found.update(triples)
        return [node for triple in triples if (node := _held_by(triple, strong)) is not None]

    start: list[Term] = [node for node in resources if isinstance(node, NamedNode | BlankNode)]
    climb(start, held)
    return tuple(sorted(found, key=str))


def _held_by(triple: Triple, strong: frozenset[str]) -> Term | None:
    """What the subject holds because of this triple."""
    value = triple.object
    if isinstance(value, BlankNode) or (isinstance(value, NamedNode) and triple.predicate.value in strong):
        return value
    return None


def holders(
    changed: Iterable[int],
    backward: Backward,
    strong: Collection[int],
    blank: Callable[[Sequence[int]], Iterable[int]],
) -> set[int]:
    """The resources whose content has the triples of one of `changed`; these themselves among them.

    `strong` has the predicates that are strong references, `blank` picks the blank nodes out of a round.
    """

    def above(round: Sequence[int]) -> Iterable[int]:
        free = set(blank(round))
        keys = [(ANY, node) for node in round if node in free]
        keys += [(predicate, node) for node in round if node not in free for predicate in strong]
        return {subject for triples in backward(keys) for subject, _, _ in triples} if keys else ()

    return climb(changed, above)


def climb(start: Iterable[Node], above: Callable[[Sequence[Node]], Iterable[Node]]) -> set[Node]:
    """All that is reached from `start` by `above`, the start included; each round asks for all new nodes at once."""
    reached: set[Node] = set()
    fresh = [*dict.fromkeys(start)]
    while fresh:
        reached.update(fresh)
        fresh = [node for node in dict.fromkeys(above(fresh)) if node not in reached]
    return reached
