"""The automaton as arrays, for the compiled pass: what documents have met of it so far, kept up with its changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from triplewire.matching.kernel.compiled import Array
from triplewire.matching.xml.automaton import OTHER, XML, Automaton, Look, State
from triplewire.matching.xml.kernel import (
    ANYTHING,
    COLUMNS,
    DEEP,
    DONE,
    EQUAL,
    EXISTS,
    FULL,
    NEW_STATE,
    NOWHERE,
    NUMBERS,
    PIECES,
    SAME,
    STRANGE,
    UNKNOWN,
    VALUES,
    find_label,
    hash_of,
    mark_text,
    scan,
)

_DEEPEST = 1_024
_FEW = 16
_ROOM_FOR_MARKS = 16


class Marks:
    """A filter of the texts that values are compared with: what is not marked, nobody waits for."""

    def __init__(self) -> None:
        self.array: Array = np.zeros(1 << 10, dtype=np.uint8)
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
        mark_text(raw, raw.size - 1, self.array)


@dataclass(frozen=True, slots=True)
class Found:
    """What the compiled pass has found in a document; looks are numbers."""

    values: list[list[int]]
    """Values that must be looked at, as the kernel's COLUMNS say."""
    told: list[int]
    """Looks where somebody waits for the place alone, or for a number that was passed."""
    met: Array
    """All looks that the document met; good until the next document."""


class Machine:
    """Numbers for the states and labels of an automaton, and the tables that the compiled pass reads."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._shape = self._content = -1
        self._turn = 0
        self._states: dict[State, int] = {}
        self._by_number: list[State] = []
        self.looks: list[Look] = []
        self._look_numbers: dict[Look, int] = {}
        self._labels: list[str] = []
        self._slots: Array = np.zeros(1, dtype=np.int32)
        self._bounds: Array = np.zeros(1, dtype=np.int64)
        self._names: Array = np.zeros(1, dtype=np.uint8)
        self._make_states(_FEW)
        self._make_looks(_FEW)
        self._found: Array = np.zeros((256, COLUMNS), dtype=np.int64)
        self._stack: Array = np.zeros((_DEEPEST, 3), dtype=np.int64)

    def _make_states(self, size: int) -> None:
        """Tables for so many states, with nothing in them."""
        width = len(self._labels)
        self._transitions: Array = np.full((size, width), UNKNOWN, dtype=np.int32)
        self._attributes: Array = np.full((size, width), UNKNOWN, dtype=np.int32)
        self._places: Array = np.zeros((size, 3), dtype=np.int32)

    def _make_looks(self, size: int) -> None:
        """Tables for so many looks, with nothing in them."""
        self._flags: Array = np.zeros(size, dtype=np.int32)
        self._edges: Array = np.zeros((size, 2), dtype=np.float64)
        self._seen, self._met, self._told = (np.zeros(size, dtype=np.int64) for _ in range(3))
        self.extremes: Array = np.zeros((size, 2), dtype=np.float64)
        """The least and the greatest number of each look that the document met; the other way round if none."""

    def run(self, raw: bytes, marks: Marks, ends: Array, pieces: int) -> Found | None:
        """Where a document is, and the values to look at; None if this does not serve it.

        It serves no document with namespaces, references, comments or instructions, that is very deep or has too many
        states; references must be looked for before. `ends` is where so many pieces of text were found in it.
        """
        data = np.frombuffer(raw, dtype=np.uint8)
        self._bring_up()
        while True:
            self._turn += 1
            status, first, second, third = scan(
                data,
                self._transitions,
                self._attributes,
                self._places,
                self._flags,
                self._edges,
                self._slots,
                self._bounds,
                self._names,
                marks.array,
                ends,
                pieces,
                self._seen,
                self._turn,
                self.extremes,
                self._met,
                self._told,
                self._found,
                self._stack,
            )
            if status == DONE:
                values = self._found[:first].tolist() if first else []
                return Found(values, self._told[:third].tolist() if third else [], self._met[:second])
            if status == FULL:
                self._found = np.zeros((len(self._found) * 4, COLUMNS), dtype=np.int64)
            elif status in (DEEP, STRANGE) or not self._learn(first, second, is_state=status == NEW_STATE):
                return None

    def _learn(self, number: int, label: int, *, is_state: bool) -> bool:
        """Ask the automaton for a state, or a look at an attribute, that is not in the table yet.

        False if it had too many states and has forgotten them: a document with more than it remembers would never end.
        """
        state, name = self._by_number[number], self._labels[label]
        if is_state:
            following = self._automaton.step(state, name)
            if self._automaton.shape != self._shape:
                return False
            self._transitions[number, label] = self._number(following)
        else:
            look = self._automaton.look_at(state, name)
            self._attributes[number, label] = self._look(look) if look.nodes else NOWHERE
        return True

    def _number(self, state: State) -> int:
        found = self._states.get(state)
        if found is None:
            found = self._states[state] = len(self._by_number)
            self._by_number.append(state)
            if found >= len(self._places):
                transitions, attributes, places = self._transitions, self._attributes, self._places
                self._make_states(4 * found)
                self._transitions[:found], self._attributes[:found], self._places[:found] = (
                    transitions,
                    attributes,
                    places,
                )
            text = self._look(state.text) if state.text is not None else NOWHERE
            self._places[found] = self._look(state.look), text, state.has_attributes
        return found

    def _look(self, look: Look) -> int:
        found = self._look_numbers.get(look)
        if found is None:
            found = self._look_numbers[look] = len(self.looks)
            self.looks.append(look)
            if found >= len(self._flags):
                flags, edges = self._flags, self._edges
                self._make_looks(4 * found)
                self._flags[:found], self._edges[:found] = flags, edges
            self._flags[found], self._edges[found] = _flags(look), _edges(look)
        return found

    def _bring_up(self) -> None:
        """Begin anew when the trie has changed; look again who waits where, when somebody came or went."""
        automaton = self._automaton
        if self._shape != automaton.shape:
            self._begin()
        if self._content != automaton.content:
            self._content = automaton.content
            for number, look in enumerate(self.looks):
                self._flags[number], self._edges[number] = _flags(look), _edges(look)

    def _begin(self) -> None:
        self._shape = self._automaton.shape
        labels = self._automaton.plain_labels()
        names = [(f"xml:{label[len(XML) :]}" if label.startswith(XML) else label).encode() for label in labels]
        self._labels = [OTHER, *labels, XML + OTHER]
        self._bounds = np.cumsum([0, *map(len, names)], dtype=np.int64)
        self._names = np.frombuffer(b"".join(names) + b"\0", dtype=np.uint8)
        self._slots = np.zeros(1 << (4 * len(names) + 1).bit_length(), dtype=np.int32)
        for label, name in enumerate(names, 1):
            raw = np.frombuffer(name, dtype=np.uint8)
            at = hash_of(raw, 0, raw.size) & (self._slots.size - 1)
            while self._slots[at]:
                at = (at + 1) & (self._slots.size - 1)
            self._slots[at] = label
            assert find_label(raw, 0, raw.size, self._slots, self._bounds, self._names) == label
        self._make_states(_FEW)
        self._make_looks(_FEW)
        self._states, self._by_number = {}, []
        self.looks, self._look_numbers = [], {}
        self._number(self._automaton.start)


def _flags(look: Look) -> int:
    """What waits at a look, in the kernel's words."""
    sure, maybe = look.sure, look.maybe
    flags = EXISTS if sure.exists or maybe.exists else 0
    if look.has_values:
        flags |= VALUES
        flags |= EQUAL if sure.equal or maybe.equal else 0
        flags |= PIECES if sure.pieces or maybe.pieces else 0
        flags |= ANYTHING if sure.short or maybe.short else 0
        flags |= NUMBERS if sure.has_numbers or maybe.has_numbers else 0
        flags |= SAME if maybe.same or sure.same else 0
    return flags


def _edges(look: Look) -> tuple[float, float]:
    """The thresholds that are passed first, upwards and, negated, downwards."""
    sure, maybe = look.sure, look.maybe
    return min(sure.above.first, maybe.above.first), min(sure.below.first, maybe.below.first)
