"""The index of XPath queries: added, removed, matched against one document at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any
from weakref import WeakSet

from lxml import etree

from triplewire.algebra.xpath.conditions import CONTAINS, EQUAL, EXISTS, SAME, Alternative, Condition, demand_of
from triplewire.algebra.xpath.cost import cost, safe_size
from triplewire.algebra.xpath.evaluate import compiled, tree_of
from triplewire.algebra.xpath.places import Tree
from triplewire.algebra.xpath.query import PathQuery
from triplewire.algebra.xpath.syntax import CoreCall
from triplewire.matching.xml.automaton import Automaton, TrieNode
from triplewire.matching.xml.grams import Grams
from triplewire.matching.xml.machine import Machine, Marks, Shape
from triplewire.matching.xml.scanning import Scan
from triplewire.matching.xml.watches import Entries, EntryPart

_RANK = {EQUAL: 0, SAME: 1, CONTAINS: 2, EXISTS: 4}
"""Which kinds of conditions are rarely met; those that are not here come before the last."""


@dataclass(slots=True, eq=False)
class StandingPath:
    """A query of the index: who wants it, and how it waits."""

    query: PathQuery
    is_exact: bool
    numbers: list[int] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    safe: int = -1
    """Documents of so many bytes are small enough, whatever they are like; -1: not known yet."""
    fine: set[Shape] = field(default_factory=set)
    """Shapes of larger documents that are small enough."""
    test: Callable[[Tree], Any] | None = None


@dataclass(slots=True, eq=False)
class PathEntry:
    """An alternative of a query: the condition that it waits with, and the others, each with its place."""

    standing: StandingPath
    waiting: Condition
    node: TrieNode
    others: tuple[tuple[TrieNode, Condition], ...]
    is_sure: bool


class PathMatches:
    """The XPath queries that one document matches: found at once, named when the caller asks.

    Invariant: it stays what it is when the index changes, because the index lets it name them before it does.
    """

    __slots__ = ("__weakref__", "_entries", "_lock", "_numbers", "_sure", "_verified", "failed")

    def __init__(
        self,
        entries: Sequence[PathEntry | None],
        lock: RLock,
        sure: list[Entries | EntryPart],
        verified: list[StandingPath],
        failed: dict[int, str],
    ) -> None:
        self._entries, self._lock, self._sure, self._verified = entries, lock, sure, verified
        self._numbers: dict[int, PathQuery] | None = None
        self.failed = failed
        """By the subscription's number, why its query could not be evaluated."""

    def numbers(self) -> dict[int, PathQuery]:
        """The numbers of the subscriptions that matched, with their queries."""
        with self._lock:
            if self._numbers is None:
                found = dict.fromkeys(self._verified)
                for entries in self._sure:
                    for number in entries:
                        entry = self._entries[number]
                        assert entry is not None, "the index lets matches be named before it changes"
                        found[entry.standing] = None
                self._numbers = {number: standing.query for standing in found for number in standing.numbers}
                self._sure, self._verified = [], []
            return self._numbers

    def reached(self, vectors: Mapping[int, int], whole: int) -> int:
        """See `Matches.reached`."""
        found = 0
        with self._lock:
            for number in self._each_number():
                found |= vectors.get(number, 0)
                if found & whole == whole:
                    break
        return found

    def _each_number(self) -> Iterator[int]:
        if self._numbers is not None:
            yield from self._numbers
        for standing in self._verified:
            yield from standing.numbers
        for entries in self._sure:
            for each in entries:
                entry = self._entries[each]
                assert entry is not None, "the index lets matches be named before it changes"
                yield from entry.standing.numbers

    def __bool__(self) -> bool:
        with self._lock:
            return bool(self._numbers or self._verified) or any(self._sure)


class PathIndex:
    """Standing XPath queries; subscriptions are known by numbers, and equal queries are one."""

    def __init__(self, max_steps: int) -> None:
        self._max_steps = max_steps
        self._automaton = Automaton()
        self._machine, self._marks = Machine(self._automaton), Marks()
        self._grams = Grams()
        self._standing: dict[PathQuery, StandingPath] = {}
        self._by_number: dict[int, StandingPath] = {}
        self.entries: list[PathEntry | None] = []
        self._free: list[int] = []
        self._lock = RLock()
        """Held while entries change, and while matches are named by them: others may look at matches meanwhile."""
        self._untold: WeakSet[PathMatches] = WeakSet()
        """Matches that a caller holds, and has perhaps not looked at."""
        self._always: dict[StandingPath, None] = {}
        """Queries that nothing in a document rules out: they are evaluated every time."""

    def __len__(self) -> int:
        return len(self._by_number)

    def __contains__(self, number: int) -> bool:
        return number in self._by_number

    def query(self, number: int) -> PathQuery:
        """The query of a subscription."""
        return self._by_number[number].query

    # -- how they wait

    def standing(self, number: int) -> StandingPath:
        """How the query of a subscription waits."""
        return self._by_number[number]

    def entry(self, number: int) -> PathEntry:
        """An alternative of a query."""
        found = self.entries[number]
        assert found is not None
        return found

    def is_unguarded(self, standing: StandingPath) -> bool:
        """True if a query has no condition, and is evaluated on every document."""
        return standing in self._always

    def sharing(self, condition: Condition, but: StandingPath) -> int:
        """How many other subscriptions wait with the same condition."""
        alike = {entry.standing for entry in self.entries if entry is not None and entry.waiting[:4] == condition[:4]}
        return sum(len(standing.numbers) for standing in alike if standing is not but) + len(but.numbers) - 1

    # -- changes

    def _change(self) -> None:
        """Let all matches that callers hold name their queries, before entries change."""
        for matches in list(self._untold):
            matches.numbers()
        self._untold.clear()

    def add(self, number: int, query: PathQuery) -> None:
        """Add a subscription."""
        with self._lock:
            self._change()
            standing = self._standing.get(query)
            if standing is None:
                standing = self._standing[query] = self._enter(query)
            standing.numbers.append(number)
            self._by_number[number] = standing

    def remove(self, number: int) -> None:
        """Remove a subscription."""
        with self._lock:
            self._change()
            standing = self._by_number.pop(number)
            standing.numbers.remove(number)
            if not standing.numbers:
                del self._standing[standing.query]
                self._always.pop(standing, None)
                for entry in standing.entries:
                    self._take_out(entry)

    def _enter(self, query: PathQuery) -> StandingPath:
        demand = demand_of(query.expression)
        standing = StandingPath(query, demand.is_exact)
        if frozenset() in demand.alternatives:
            self._always[standing] = None
        else:
            for alternative in demand.alternatives:
                standing.entries.append(self._wait(standing, alternative))
        return standing

    def _wait(self, standing: StandingPath, alternative: Alternative) -> int:
        """Wait with the condition that is likely to be met least often."""
        nodes = {condition: self._automaton.enter(condition.place) for condition in sorted(alternative, key=str)}
        waiting = min(nodes, key=lambda condition: self._likelihood(condition, nodes[condition]))
        others = tuple((node, condition) for condition, node in nodes.items() if condition is not waiting)
        for other, condition in others:
            other.checks += condition.kind != EXISTS
        is_sure = standing.is_exact and not others
        node = nodes[waiting]
        if waiting.kind == CONTAINS:
            waiting = waiting._replace(gram=self._grams.add(str(waiting.value)))
        entry = PathEntry(standing, waiting, node, others, is_sure)
        number = self._free.pop() if self._free else len(self.entries)
        if number == len(self.entries):
            self.entries.append(entry)
        else:
            self.entries[number] = entry
        node.add(waiting, number, is_sure)
        self._automaton.content += 1
        if waiting.kind == EQUAL:
            self._marks.add(str(waiting.value), self._texts())
        return number

    def _texts(self) -> Iterator[str]:
        for entry in self.entries:
            if entry is not None and entry.waiting.kind == EQUAL:
                yield str(entry.waiting.value)

    def _likelihood(self, condition: Condition, node: TrieNode) -> tuple[int, int, int]:
        alike = node.counts.get((condition.kind, condition.value), 0)
        return _RANK.get(condition.kind, 3), alike, -len(condition.place.steps)

    def _take_out(self, number: int) -> None:
        entry = self.entries[number]
        assert entry is not None
        entry.node.remove(entry.waiting, number, entry.is_sure)
        self._automaton.content += 1
        if entry.waiting.kind == CONTAINS:
            self._grams.remove(str(entry.waiting.value), entry.waiting.gram)
        self._automaton.leave(entry.node)
        for other, condition in entry.others:
            other.checks -= condition.kind != EXISTS
            self._automaton.leave(other)
        self.entries[number] = None
        self._free.append(number)

    # -- matching

    def match(self, xml: bytes) -> PathMatches:
        """The queries that the XML of a document matches."""
        scan = Scan(self._automaton, self._grams, xml, self._machine, self._marks)
        verified: list[StandingPath] = []
        failed: dict[int, str] = {}
        if self._always or any(scan.maybe):
            budget = _Budget(xml, self._max_steps, scan)
            for standing in self._candidates(scan):
                if standing.is_exact and standing in self._always:
                    verified.append(standing)
                elif (problem := budget.problem(standing)) is not None:
                    failed.update(dict.fromkeys(standing.numbers, problem))
                else:
                    self._verify(standing, budget.tree, verified, failed)
        matches = PathMatches(self.entries, self._lock, scan.sure, verified, failed)
        self._untold.add(matches)
        return matches

    def _candidates(self, scan: Scan) -> Iterable[StandingPath]:
        """The queries that are left to evaluate: the document may meet all conditions of an alternative."""
        found = dict.fromkeys(self._always)
        for entries in scan.maybe:
            for number in entries:
                entry = self.entries[number]
                assert entry is not None
                if all(scan.may_meet(node, condition) for node, condition in entry.others):
                    found[entry.standing] = None
        return found

    def _verify(self, standing: StandingPath, tree: Tree, verified: list[StandingPath], failed: dict[int, str]) -> None:
        test = standing.test
        if test is None:
            test = standing.test = compiled(CoreCall("boolean", (standing.query.expression,)))
        try:
            if test(tree):
                verified.append(standing)
        except etree.XPathError as error:
            failed.update(dict.fromkeys(standing.numbers, f"it could not be evaluated on this document: {error}"))


class _Budget:
    """What evaluating may cost on one document; its tree is built when something is evaluated."""

    def __init__(self, xml: bytes, max_steps: int, scan: Scan) -> None:
        self._xml, self._max_steps, self._scan = xml, max_steps, scan
        self._tree: Tree = None
        self._shape: Shape | None = None

    @property
    def tree(self) -> Tree:
        if self._tree is None:
            self._tree = tree_of(self._xml)
        return self._tree

    def problem(self, standing: StandingPath) -> str | None:
        """Why a query is not evaluated on this document, if it is not."""
        if standing.safe < 0:
            standing.safe = safe_size(standing.query.expression, self._max_steps)
        if len(self._xml) <= standing.safe:
            return None
        if self._shape is None:
            self._shape = self._scan.shape
        rough = _rounded_up(self._shape)
        if rough in standing.fine:
            return None
        if self._steps(standing, rough) <= self._max_steps:
            standing.fine.add(rough)
            return None
        steps = self._steps(standing, self._shape)
        if steps <= self._max_steps:
            return None
        return (
            f"it might take {steps:.1e} steps on this document, more than {self._max_steps:,}; "
            "make it more selective, or raise max_steps"
        )

    def _steps(self, standing: StandingPath, shape: Shape) -> float:
        nodes, size, depth = shape
        return cost(standing.query.expression, nodes=nodes, size=size, depth=depth)


def _rounded_up(shape: Shape) -> Shape:
    """Powers of two, so that documents of about one size are judged once."""
    nodes, size, depth = (1 << number.bit_length() for number in shape)
    return nodes, size, depth
