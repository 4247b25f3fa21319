"""Splitting of keys that become hot: a key is shared out among places all over the circle.

A key that is split is kept in `FAN` shares, each under a key of its own, `#3 po …`, and a share may be split in turn,
`#3.1 po …`. By what a share is chosen depends on what the key is made of, and on how often it was split already:

    s, o    by the subject, or the object, of a triple. A subquery with a value there waits at one share, others at all
    d       by the document that states a triple. A subquery waits at all shares
    q       by the query. A triple goes to all shares

So a share does alone what the key did, for a part of it. What a key is split by is the same for all peers, and a key
that is split stays so: whoever finds that out, and in whatever order, the shares are the same, and two peers that have
split one key need not agree afterwards.

Invariant: a triple and a subquery that it could satisfy have a share in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from pyoxigraph import Triple, Variable

from triplewire.algebra.pattern import TriplePattern
from triplewire.network.ring.identifiers import identify
from triplewire.network.ring.messages import (
    EndQuery,
    ExtendMatching,
    Extension,
    IndexQuery,
    IndexTriple,
    Kept,
    Member,
    WatchContent,
)
from triplewire.network.ring.queries import Algorithm
from triplewire.network.ring.statements import KeyStatement, Origin

FAN = 8
"""Into how many shares a key is split."""

DEEPEST = 4
"""How often: no share has more numbers than this."""

Way = Literal["s", "o", "d", "q"]

_WAYS: Mapping[Algorithm, Mapping[str, tuple[Way, ...]]] = {
    "sqc": {"p": ("s", "q"), "o": ("s", "q"), "s": ("d",)},
    "mqc": {"p": ("s", "o"), "po": ("s", "d"), "sp": ("q",), "spo": ("q",), "s": ("d",), "o": ("s", "q")},
}
"""By what a key of these places is split first, then, and so on, and from the beginning again.

In MQC subqueries without values of others wait under p and po, and triples are what comes; under sp and spo subqueries
of many queries come for one subject. In SQC both come to the same keys. The content of a resource is told by document,
so what is stated of a subject is never torn apart.
"""


def base_of(key: str) -> str:
    """The key that a share is of; a key that is no share itself."""
    return key.split(" ", 1)[1] if key.startswith("#") else key


def share_key(key: str, number: int) -> str:
    """The key of a share.

    >>> share_key(share_key("p 7:<urn:p>", 3), 1)
    '#3.1 p 7:<urn:p>'
    """
    if not key.startswith("#"):
        return f"#{number} {key}"
    shares, base = key.split(" ", 1)
    return f"{shares}.{number} {base}"


def depth(key: str) -> int:
    """How often what is under a key was split until there was this one."""
    return key.split(" ", 1)[0].count(".") + 1 if key.startswith("#") else 0


class KeySplit:
    """How one key is split: which share each thing goes to."""

    def __init__(self, key: str, algorithm: Algorithm) -> None:
        self.key, self._depth = key, depth(key)
        ways = _WAYS[algorithm][base_of(key).split(" ", 1)[0]]
        self.way = ways[self._depth % len(ways)]

    def _number(self, text: str) -> int:
        return identify(f"{self._depth} {text}") % FAN

    def of_triple(self, triple: Triple) -> int | None:
        """The share of a triple; None where that is not decided by its values."""
        if self.way == "s":
            return self._number(str(triple.subject))
        return self._number(str(triple.object)) if self.way == "o" else None

    def of_pattern(self, pattern: TriplePattern) -> Sequence[int]:
        """The shares at which a subquery of any query waits."""
        if self.way in ("s", "o"):
            node = pattern.subject if self.way == "s" else pattern.object
            if not isinstance(node, Variable):
                return (self._number(str(node)),)
        return range(FAN)

    def of_document(self, origin: Origin) -> Iterable[int]:
        """The shares of what a document states, where its triples do not decide."""
        return (self._number(" ".join(origin)),) if self.way == "d" else range(FAN)

    def of_query(self, query: str) -> Iterable[int]:
        """The shares at which a query waits, where its pattern does not decide."""
        return (self._number(query),) if self.way == "q" else range(FAN)

    # -- messages

    def divides(self, body: Kept) -> bool:
        """Whether a message goes to one share, or in parts to several; and not whole to all of them."""
        match body:
            case IndexTriple():
                return self.way != "q"
            case ExtendMatching(extensions):
                return self.way == "q" or (self.way != "d" and len(self.of_pattern(extensions[0].pattern)) == 1)
        return False

    def shared(self, body: Kept) -> Iterator[tuple[str, Kept]]:
        """What of a message goes to which share, by its key."""
        for number, part in self._parts(body):
            yield share_key(self.key, number), part

    def _parts(self, body: Kept) -> Iterator[tuple[int, Kept]]:
        match body:
            case IndexTriple(origin, statement, gone):
                yield from self._statements(origin, statement, gone)
            case IndexQuery(query, number):
                numbers = self.of_query(query.key) if self.way == "q" else self.of_pattern(query.triples[number])
                yield from ((each, body) for each in numbers)
            case ExtendMatching(extensions):
                yield from self._extensions(extensions)
            case EndQuery(query_key):
                yield from ((each, body) for each in self.of_query(query_key))
            case WatchContent():
                yield from ((each, body) for each in range(FAN))

    def _statements(
        self, origin: Origin, statement: KeyStatement, gone: frozenset[Triple]
    ) -> Iterator[tuple[int, IndexTriple]]:
        if self.way in ("d", "q"):
            yield from ((each, IndexTriple(origin, statement, gone)) for each in self.of_document(origin))
            return
        stated, ended = self.by_share(statement.triples), self.by_share(gone)
        for number in sorted({*stated, *ended}):
            part = KeyStatement(statement.version, statement.time, frozenset(stated.get(number, ())))
            yield number, IndexTriple(origin, part, frozenset(ended.get(number, ())))

    def by_share(self, triples: Iterable[Triple]) -> dict[int, list[Triple]]:
        """Triples by the share that their values decide."""
        found: dict[int, list[Triple]] = {}
        for triple in triples:
            number = self.of_triple(triple)
            assert number is not None, "values decide"
            found.setdefault(number, []).append(triple)
        return found

    def _extensions(self, extensions: Iterable[Extension]) -> Iterator[tuple[int, ExtendMatching]]:
        found: dict[int, list[Extension]] = {}
        for each in extensions:
            for number, part in self._extension(each):
                found.setdefault(number, []).append(part)
        for number in sorted(found):
            yield number, ExtendMatching(tuple(found[number]))

    def _extension(self, extension: Extension) -> Iterator[tuple[int, Extension]]:
        for number, members in self.of_members(extension.pattern, extension.members).items():
            yield number, Extension(extension.pattern, extension.binding, extension.support, tuple(members))

    def of_members(self, pattern: TriplePattern, members: Iterable[Member]) -> dict[int, list[Member]]:
        """Queries that wait for one pattern, by the shares at which they do."""
        if self.way != "q":
            return {number: [*members] for number in self.of_pattern(pattern)}
        found: dict[int, list[Member]] = {}
        for member in members:
            found.setdefault(self._number(member[0].key), []).append(member)
        return found
