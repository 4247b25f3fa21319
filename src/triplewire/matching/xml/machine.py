"""The automaton as arrays, for the compiled pass: what documents have met of it so far, kept up with its changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from triplewire.matching.kernel.compiled import Array
from triplewire.matching.xml.automaton import OTHER, XML, Automaton, ElementState, TrieTable
from triplewire.matching.xml.grams import FoundGrams, Grams
from triplewire.matching.xml.kernel.names import A_NAMESPACE, NO_NAMESPACE, slot_of_name
from triplewire.matching.xml.kernel.tags import COLUMNS, DONE, FULL, NEW_STATE, NOWHERE, STRANGE, UNKNOWN, scan
from triplewire.matching.xml.kernel.values import (
    ABOVE,
    ANYTHING,
    BELOW,
    EQUAL,
    EXISTS,
    FLAGS,
    KEPT,
    LEAST,
    NUMBERS,
    PIECES,
    SAME,
    VALUES,
    mark_text,
)

Shape = tuple[int, int, int]
"""Nodes, bytes and levels of a document; of nodes, how many it may have at most."""

_DEEPEST = 1_024
_MOST_DECLARED = 64
"""Of so many namespaces at a tag, one is found by looking at each; where there are more, Python finds it by a hash."""
_FEW = 16
_ROOM_FOR_MARKS = 16
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"})
"""How canonical XML writes the value of an attribute, such as the declaration of a namespace."""


class Marks:
    """A filter of the texts that values are compared with: what is not marked, no entry waits for."""

    def __init__(self) -> None:
        self.array: Array = np.zeros(1 << 10, dtype=np.uint8)
        self.longest = 0
        """No text is longer, in bytes."""
        self._count = 0

    def add(self, text: str, everything: Iterable[str]) -> None:
        """Mark a text; all there are, when the filter has become too small."""
        self._count += 1
        if self._count * _ROOM_FOR_MARKS > 8 * self.array.size:
            self.array = np.zeros(self.array.size * 8, dtype=np.uint8)
            for each in everything:
                self._mark(each)
        self._mark(text)

    def _mark(self, text: str) -> None:
        raw = np.frombuffer(text.encode() + b"\0", dtype=np.uint8)
        self.longest = max(self.longest, raw.size - 1)
        mark_text(raw, raw.size - 1, self.array)


@dataclass(frozen=True, slots=True)
class PassFindings:
    """What the compiled pass has found in a document; looks are numbers."""

    values: list[list[int]]
    """Values that must be looked at: the look, and where the value is in `plain`."""
    told: list[int]
    """Looks where an entry waits for the place alone, or for a number that was passed."""
    met: Array
    """All looks that the document met; good until the next document."""
    plain: bytes
    """The values of the document, without references."""
    grams: FoundGrams
    """Grams in `plain`."""
    shape: Shape
    kept: Array
    """Values that entries have conditions on that are woken elsewhere; good until the next document."""


class Machine:
    """Numbers for the states and labels of an automaton, and the tables that the compiled pass reads."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._shape = self._content = -1
        self._turn = 0
        self._states: dict[ElementState, int] = {}
        self._by_number: list[ElementState] = []
        self.looks: list[TrieTable] = []
        self._look_numbers: dict[TrieTable, int] = {}
        self._vocabulary = Vocabulary((), ())
        self._make_states(_FEW)
        self._make_looks(_FEW)
        self._plain: Array = np.zeros(0, dtype=np.uint8)
        self._found: Array = np.zeros((256, COLUMNS), dtype=np.int64)
        self._kept: Array = np.zeros((256, COLUMNS - 1), dtype=np.int64)
        self._stack: Array = np.zeros((_DEEPEST, 3), dtype=np.int64)
        self._scopes: Array = np.zeros((_MOST_DECLARED, 3), dtype=np.int64)

    def _make_states(self, size: int) -> None:
        """Tables for so many states, with nothing in them: where labels of elements and of attributes lead."""
        self._moves: Array = np.full((2, size, len(self._vocabulary)), UNKNOWN, dtype=np.int32)
        self._places: Array = np.zeros((size, 3), dtype=np.int32)

    def _make_looks(self, size: int) -> None:
        self._flags: Array = np.zeros((size, 2), dtype=np.int64)
        self._numbers: Array = np.zeros((size, 4), dtype=np.float64)
        self._lists: Array = np.zeros((2, size), dtype=np.int64)

    def extremes(self, look: int) -> tuple[float, float]:
        """The least and the greatest number that the document has at a look; the other way round if none."""
        least, greatest = self._numbers[look, LEAST:].tolist()
        return least, greatest

    def run(self, raw: bytes, marks: Marks, grams: Grams) -> PassFindings | None:
        """Where a document is, and the values to look at; None if this does not serve it.

        It serves no document that is very deep, declares very many namespaces, or has too many states.
        """
        data = np.frombuffer(raw, dtype=np.uint8)
        if self._plain.size < 2 * data.size:
            self._plain = np.zeros(4 * data.size, dtype=np.uint8)
        self._bring_up()
        while True:
            self._turn += 1
            status, first, second, third, hits, nodes, deepest, keeping = scan(
                data,
                self._plain,
                self._moves,
                self._places,
                self._flags,
                self._numbers,
                self._lists,
                self._vocabulary.slots,
                self._vocabulary.entries,
                self._vocabulary.names,
                marks.array,
                marks.longest,
                *grams.tables(data.size),
                self._found,
                self._kept,
                self._stack,
                self._scopes,
                self._turn,
            )
            if status == DONE:
                values = self._found[:first, :3].tolist() if first else []
                told = self._lists[1, :third].tolist() if third else []
                return PassFindings(
                    values,
                    told,
                    self._lists[0, :second],
                    self._plain[: 2 * data.size].tobytes() if values or keeping else b"",
                    grams.found(hits),
                    (nodes, data.size, deepest),
                    self._kept[:keeping],
                )
            if status == FULL:
                self._found = np.zeros((len(self._found) * 4, COLUMNS), dtype=np.int64)
                self._kept = np.zeros((len(self._kept) * 4, COLUMNS - 1), dtype=np.int64)
            elif status == STRANGE or not self._learn(first, second, is_state=status == NEW_STATE):
                return None

    def _learn(self, number: int, label: int, *, is_state: bool) -> bool:
        """Ask the automaton for a state, or a look at an attribute, that is not in the table yet.

        False if it had too many states and has forgotten them: a document with more than it remembers would never end.
        """
        state, name = self._by_number[number], self._vocabulary.labels[label]
        if is_state:
            following = self._automaton.step(state, name)
            if self._automaton.shape != self._shape:
                return False
            self._moves[0, number, label] = self._number(following)
        else:
            look = self._automaton.look_at(state, name)
            self._moves[1, number, label] = self._look(look) if look.nodes else NOWHERE
        return True

    def _number(self, state: ElementState) -> int:
        found = self._states.get(state)
        if found is None:
            found = self._states[state] = len(self._by_number)
            self._by_number.append(state)
            if found >= len(self._places):
                moves, places = self._moves, self._places
                self._make_states(4 * found)
                self._moves[:, :found], self._places[:found] = moves, places
            text = self._look(state.text) if state.text is not None else NOWHERE
            self._places[found] = self._look(state.look), text, state.has_attributes
        return found

    def _look(self, look: TrieTable) -> int:
        found = self._look_numbers.get(look)
        if found is None:
            found = self._look_numbers[look] = len(self.looks)
            self.looks.append(look)
            if found >= len(self._flags):
                flags, numbers = self._flags, self._numbers
                self._make_looks(4 * found)
                self._flags[:found], self._numbers[:found] = flags, numbers
            self._describe(found)
        return found

    def _bring_up(self) -> None:
        """Begin anew when the trie has changed; describe the looks again when an entry came or went."""
        automaton = self._automaton
        if self._shape != automaton.shape:
            self._begin()
        if self._content != automaton.content:
            self._content = automaton.content
            for number in range(len(self.looks)):
                self._describe(number)

    def _describe(self, number: int) -> None:
        look = self.looks[number]
        self._flags[number, FLAGS] = _flags(look)
        self._numbers[number, ABOVE], self._numbers[number, BELOW] = _edges(look)

    def _begin(self) -> None:
        self._shape = self._automaton.shape
        self._vocabulary = Vocabulary(self._automaton.labels, self._automaton.namespaces)
        self._make_states(_FEW)
        self._make_looks(_FEW)
        self._states, self._by_number = {}, []
        self.looks, self._look_numbers = [], {}
        self._number(self._automaton.start)


def _flags(look: TrieTable) -> int:
    sure, maybe = look.sure, look.maybe
    flags = EXISTS if sure.exists or maybe.exists else 0
    if look.has_values:
        flags |= VALUES
        flags |= EQUAL if sure.equal or maybe.equal else 0
        flags |= PIECES if sure.pieces or maybe.pieces else 0
        flags |= ANYTHING if sure.short or maybe.short else 0
        flags |= NUMBERS if sure.has_numbers or maybe.has_numbers else 0
        flags |= SAME if maybe.same or sure.same else 0
    return flags | KEPT if any(node.checks for node in look.nodes) else flags


def _edges(look: TrieTable) -> tuple[float, float]:
    """The thresholds that are passed first, upwards and, negated, downwards."""
    sure, maybe = look.sure, look.maybe
    return min(sure.above.first, maybe.above.first), min(sure.below.first, maybe.below.first)


class Vocabulary:
    """Numbers for labels: namespaces and names in them are entries of one table; `kernel.names` tells how."""

    def __init__(self, labels: Iterable[str], namespaces: Iterable[str]) -> None:
        self.labels: list[str] = []
        """By number. That of a namespace stands for all names in it that no place has."""
        self._names: list[bytes] = []
        self._owners: list[int] = []
        self._add(OTHER, b"", NO_NAMESPACE)
        parted = sorted(map(_parted, labels))
        owners = {"": NO_NAMESPACE}
        for namespace in dict.fromkeys([XML, *sorted({*namespaces, *(owner for owner, _ in parted if owner)})]):
            declared = namespace[1:-1].translate(_ESCAPED).encode()
            owners[namespace] = self._add(namespace + OTHER, declared, A_NAMESPACE)
        for owner, local in parted:
            self._add(owner + local, local.encode(), owners[owner])
        self._make_table()

    def __len__(self) -> int:
        return len(self.labels)

    def _add(self, label: str, name: bytes, owner: int) -> int:
        self.labels.append(label)
        self._names.append(name)
        self._owners.append(owner)
        return len(self.labels) - 1

    def _make_table(self) -> None:
        sizes = [*map(len, self._names)]
        ends = np.cumsum(sizes)
        self.entries: Array = np.stack([ends - sizes, ends, self._owners], axis=1).astype(np.int64)
        self.names: Array = np.frombuffer(b"".join(self._names) + b"\0", dtype=np.uint8)
        self.slots: Array = np.zeros(1 << (4 * len(sizes)).bit_length(), dtype=np.int32)
        for number in range(1, len(sizes)):
            first, end, owner = self.entries[number].tolist()
            at = slot_of_name(self.names, first, end, owner, self.slots, self.entries, self.names)
            self.slots[at] = number


def _parted(label: str) -> tuple[str, str]:
    local = label[label.rindex("}") + 1 :] if label[0] == "{" else label
    return label[: len(label) - len(local)], local
