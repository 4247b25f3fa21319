"""The automaton: the places of all expressions as one tree of steps, and its states as documents ask for them.

The steps of all places form a trie, so that what they share at their beginning is there once (YFilter). An element of a
document is at some of its nodes. Which ones follows from where its parent is, and from its label; that is computed
when a document first has it, and remembered (a lazy DFA). So a document costs one lookup for a tag, however many places
are watched, and places that do not occur cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from triplewire.algebra.xpath.conditions import ANY, TEXT, Condition, ElementPlace
from triplewire.matching.xml.watches import Watch

MOST_STATES = 20_000
"""So many states are remembered; then all are forgotten, and made again as they are asked for."""
OTHER = "\0"
"""A label that stands for all that no place names."""
XML = "{http://www.w3.org/XML/1998/namespace}"
"""How labels of the namespace begin that needs no declaration."""
_MOST_STRANGERS = 1_000
"""A state remembers so many labels; those that no place names share one state, so a document cannot fill the memory."""


@dataclass(slots=True, eq=False)
class TrieNode:
    """A step of places: those that go on from here, and what waits here.

    `sure` waits with conditions that are the whole expression; `maybe` with those that are a part of it.
    """

    parent: TrieNode | None
    key: tuple[str, str]
    children: dict[str, TrieNode] = field(default_factory=dict)
    descendants: dict[str, TrieNode] = field(default_factory=dict)
    attributes: dict[str, TrieNode] = field(default_factory=dict)
    text: dict[str, TrieNode] = field(default_factory=dict)
    sure: dict[int, Condition] = field(default_factory=dict)
    maybe: dict[int, Condition] = field(default_factory=dict)
    counts: dict[tuple[str, str | float], int] = field(default_factory=dict)
    """How many wait by the same kind of test with the same value."""
    looks: list[TrieTable] = field(default_factory=list)
    """Where documents meet this node: kept up to date when something is added."""
    uses: int = 0
    """How many conditions go through here."""
    checks: int = 0
    """How many entries that wait elsewhere have a condition on values here."""

    def edges(self, kind: str) -> dict[str, TrieNode]:
        """The nodes that one kind of step leads to."""
        edges: dict[str, TrieNode] = getattr(self, kind)
        return edges

    def add(self, condition: Condition, entry: int, is_sure: bool) -> None:
        """Let an entry wait here."""
        (self.sure if is_sure else self.maybe)[entry] = condition
        key = condition.kind, condition.value
        self.counts[key] = self.counts.get(key, 0) + 1
        for look in self.looks:
            look.add(condition, entry, is_sure)

    def remove(self, condition: Condition, entry: int, is_sure: bool) -> None:
        """Let an entry go."""
        del (self.sure if is_sure else self.maybe)[entry]
        key = condition.kind, condition.value
        self.counts[key] -= 1
        if not self.counts[key]:
            del self.counts[key]
        for look in self.looks:
            look.remove(condition, entry, is_sure)


class TrieTable:
    """What is to be done where a document meets some nodes of the trie: all that waits at them, in one table."""

    __slots__ = ("has_values", "maybe", "nodes", "sure")

    def __init__(self, nodes: Iterable[TrieNode]) -> None:
        self.nodes = frozenset(nodes)
        self.sure, self.maybe = Watch(), Watch()
        for node in self.nodes:
            node.looks.append(self)
            for watch, waiting in ((self.sure, node.sure), (self.maybe, node.maybe)):
                for entry, condition in waiting.items():
                    watch.add(condition, entry)
        self.has_values = self.sure.has_values or self.maybe.has_values

    def add(self, condition: Condition, entry: int, is_sure: bool) -> None:
        """An entry waits at one of the nodes now."""
        (self.sure if is_sure else self.maybe).add(condition, entry)
        self.has_values = self.sure.has_values or self.maybe.has_values

    def remove(self, condition: Condition, entry: int, is_sure: bool) -> None:
        """An entry waits no more."""
        (self.sure if is_sure else self.maybe).remove(condition, entry)
        self.has_values = self.sure.has_values or self.maybe.has_values


class ElementState:
    """Where an element is: at the nodes of `here`; those of `below` are passed, and have descendant steps."""

    __slots__ = ("attributes", "below", "has_attributes", "here", "is_watched", "look", "next", "text")

    def __init__(self, here: frozenset[TrieNode], below: frozenset[TrieNode]) -> None:
        self.here, self.below = here, below
        self.next: dict[str, ElementState] = {}
        self.look = TrieTable(here)
        self.is_watched = any(node.parent is not None for node in here)
        """False if no place of any expression ends or goes on here."""
        self.has_attributes = any(node.attributes for node in here)
        self.attributes: dict[str, TrieTable] = {}
        texts = [node.text[TEXT] for node in here if node.text]
        self.text = TrieTable(texts) if texts else None


class Automaton:
    """Places, and the states that documents have met."""

    def __init__(self) -> None:
        self._root = TrieNode(None, ("", ""))
        self._labels: dict[str, int] = {}
        self._wild: dict[str, int] = {}
        self._states: dict[tuple[frozenset[TrieNode], frozenset[TrieNode]], ElementState] = {}
        self._start: ElementState | None = None
        self.shape = self.content = 0
        """How often the trie has changed, and how often an entry came to wait in it, or went."""

    # -- places

    def enter(self, place: ElementPlace) -> TrieNode:
        """The node of a place, used once more."""
        node = self._root
        for kind, label in _edges(place):
            edges = node.edges(kind)
            following = edges.get(label)
            if following is None:
                following = edges[label] = TrieNode(node, (kind, label))
                self.forget()
            self._count(label, 1)
            following.uses += 1
            node = following
        return node

    def leave(self, node: TrieNode) -> None:
        """Use a node once less; what nobody uses goes."""
        at: TrieNode | None = node
        while at is not None and at.parent is not None:
            kind, label = at.key
            self._count(label, -1)
            at.uses -= 1
            if not at.uses:
                del at.parent.edges(kind)[label]
                self.forget()
            at = at.parent

    def _count(self, label: str, change: int) -> None:
        counts = self._wild if label.endswith("}*") else self._labels
        key = label[:-1] if counts is self._wild else label
        counts[key] = counts.get(key, 0) + change
        if not counts[key]:
            del counts[key]

    def forget(self) -> None:
        """The trie has changed: what states know is out of date."""
        self.shape += 1
        for state in self._states.values():
            for look in (state.look, state.text, *state.attributes.values()):
                for node in look.nodes if look is not None else ():
                    node.looks.clear()
        self._states.clear()
        self._start = None

    @property
    def labels(self) -> Iterator[str]:
        """The names that places have."""
        return (label for label in self._labels if label not in (ANY, TEXT))

    @property
    def namespaces(self) -> Iterator[str]:
        """The namespaces of which places have all names, as labels begin with them."""
        return iter(self._wild)

    # -- states

    @property
    def start(self) -> ElementState:
        """Where the document itself is."""
        if self._start is None:
            here = frozenset({self._root})
            self._start = self._state(here, here if self._root.descendants else frozenset())
        return self._start

    def step(self, state: ElementState, label: str) -> ElementState:
        """Where a child element with a label is."""
        known = self._known(label)
        found = state.next.get(known)
        if found is not None and len(state.next) < _MOST_STRANGERS:
            state.next[label] = found
        if found is None:
            here = {
                *_reached((node.children for node in state.here), known),
                *_reached((node.descendants for node in state.below), known),
            }
            passed = {node for node in here if node.descendants}
            below = state.below if passed <= state.below else state.below | passed
            found = state.next[known] = self._state(frozenset(here), below)
        return found

    def look_at(self, state: ElementState, attribute: str) -> TrieTable:
        """What an attribute of an element meets."""
        known = self._known(attribute)
        found = state.attributes.get(known)
        if found is None:
            found = state.attributes[known] = TrieTable(_reached((node.attributes for node in state.here), known))
        return found

    def _known(self, label: str) -> str:
        """The label, or one that stands for all that no place names: strange documents must not fill the memory."""
        if label in self._labels:
            return label
        if self._wild and label[0] == "{" and (namespace := label[: label.rindex("}") + 1]) in self._wild:
            return namespace + OTHER
        return OTHER

    def _state(self, here: frozenset[TrieNode], below: frozenset[TrieNode]) -> ElementState:
        found = self._states.get((here, below))
        if found is None:
            if len(self._states) >= MOST_STATES:
                self.forget()
            found = self._states[here, below] = ElementState(here, below)
        return found


def _edges(place: ElementPlace) -> Iterator[tuple[str, str]]:
    for is_descendant, label in place.steps:
        yield ("descendants" if is_descendant else "children"), label
    if place.leaf:
        yield ("text", TEXT) if place.leaf == TEXT else ("attributes", place.leaf[1:])


def _reached(edges: Iterable[dict[str, TrieNode]], label: str) -> Iterator[TrieNode]:
    wild = label[: label.rindex("}") + 1] + ANY if label[0] == "{" else None
    for own in edges:
        if own:
            if label in own:
                yield own[label]
            if ANY in own:
                yield own[ANY]
            if wild is not None and wild in own:
                yield own[wild]
