"""The automaton as arrays, for the compiled pass: what documents have met of it so far, kept up with its changes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from triplewire.matching.kernel.compiled import Array
from triplewire.matching.xml.automaton import OTHER, Automaton, State
from triplewire.matching.xml.kernel import (
    ANY_TEXT,
    ANY_VALUE,
    ATTRIBUTES,
    COLUMNS,
    DEEP,
    DONE,
    FULL,
    NUMBERS,
    TEXT,
    TEXT_NUMBERS,
    VALUES,
    WATCHED,
    find_label,
    hash_of,
    scan,
)

_DEEPEST = 1_024
_FEW = 16
_ROOM_FOR_MARKS = 8


class Marks:
    """A filter of the texts that values are compared with: what is not marked, nobody waits for."""

    def __init__(self) -> None:
        self.array: Array = np.zeros(1 << 12, dtype=np.bool_)
        self._count = 0

    def add(self, text: str, everything: Iterable[str]) -> None:
        """Mark a text; all there are, when the filter has become too small."""
        self._count += 1
        if self._count * _ROOM_FOR_MARKS > self.array.size:
            self.array = np.zeros(self.array.size * 16, dtype=np.bool_)
            for each in everything:
                self._mark(each)
        self._mark(text)

    def _mark(self, text: str) -> None:
        raw = np.frombuffer(text.encode() + b"\0", dtype=np.uint8)
        self.array[hash_of(raw, 0, raw.size - 1) & (self.array.size - 1)] = True


class Machine:
    """Numbers for the states and labels of an automaton, and the tables that the compiled pass reads."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._shape = self._content = -1
        self._turn = 0
        self.states: list[State] = []
        self._numbers: dict[State, int] = {}
        self._labels: list[str] = []
        self._slots: Array = np.zeros(1, dtype=np.int32)
        self._bounds: Array = np.zeros(1, dtype=np.int64)
        self._names: Array = np.zeros(1, dtype=np.uint8)
        self._transitions: Array = np.full((_FEW, 1), -1, dtype=np.int32)
        self._flags: Array = np.zeros(_FEW, dtype=np.int32)
        self._visited: Array = np.zeros(_FEW, dtype=np.int64)
        self._heard: Array = np.zeros(_FEW, dtype=np.int64)
        self._met: Array = np.zeros(_FEW, dtype=np.int64)
        self._found: Array = np.zeros((256, COLUMNS), dtype=np.int64)
        self._stack: Array = np.zeros((_DEEPEST, 3), dtype=np.int64)

    def run(self, raw: bytes, marks: Marks) -> tuple[list[State], list[list[int]]] | None:
        """The states of a document's elements, and the values to look at; None if it is too deep for this."""
        data = np.frombuffer(raw, dtype=np.uint8)
        while True:
            self._bring_up()
            self._turn += 1
            status, first, second = scan(
                data,
                self._transitions,
                self._flags,
                self._slots,
                self._bounds,
                self._names,
                marks.array,
                self._visited,
                self._heard,
                self._turn,
                self._met,
                self._found,
                self._stack,
            )
            if status == DONE:
                met = self._met[:second].tolist()
                return [self.states[number] for number in met], self._found[:first].tolist()
            if status == FULL:
                self._found = np.zeros((len(self._found) * 4, COLUMNS), dtype=np.int64)
            elif status == DEEP:
                return None
            else:
                self._learn(first, second)

    def _learn(self, number: int, label: int) -> None:
        """Ask the automaton for a state that is not in the table yet."""
        name = OTHER if label == 0 else self._labels[label - 1]
        following = self._automaton.step(self.states[number], name)
        if self._automaton.shape == self._shape:  # else all begins anew
            self._transitions[number, label] = self._number(following)

    def _number(self, state: State) -> int:
        found = self._numbers.get(state)
        if found is None:
            found = self._numbers[state] = len(self.states)
            self.states.append(state)
            if found >= len(self._flags):
                self._grow()
            self._flags[found] = _flags(state)
        return found

    def _grow(self) -> None:
        size = 4 * len(self._flags)
        wider = np.full((size, self._transitions.shape[1]), -1, dtype=np.int32)
        wider[: len(self._transitions)] = self._transitions
        flags = np.zeros(size, dtype=np.int32)
        flags[: len(self._flags)] = self._flags
        self._transitions, self._flags = wider, flags
        self._visited, self._heard, self._met = (np.zeros(size, dtype=np.int64) for _ in range(3))

    def _bring_up(self) -> None:
        """Begin anew when the trie has changed; look again who waits where, when somebody came or went."""
        automaton = self._automaton
        if self._shape != automaton.shape:
            self._begin()
        if self._content != automaton.content:
            self._content = automaton.content
            for number, state in enumerate(self.states):
                self._flags[number] = _flags(state)

    def _begin(self) -> None:
        self._shape = self._automaton.shape
        self._labels = self._automaton.plain_labels()
        names = [label.encode() for label in self._labels]
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
        self._transitions = np.full((_FEW, len(names) + 1), -1, dtype=np.int32)
        self._flags = np.zeros(_FEW, dtype=np.int32)
        self._visited, self._heard, self._met = (np.zeros(_FEW, dtype=np.int64) for _ in range(3))
        self.states, self._numbers = [], {}
        self._number(self._automaton.start)


def _flags(state: State) -> int:
    look, text = state.look, state.text
    flags = WATCHED if state.is_watched else 0
    if look.has_values:
        flags |= VALUES
        flags |= ANY_VALUE if look.sure.pieces or look.maybe.pieces else 0
        flags |= NUMBERS if look.sure.has_numbers or look.maybe.has_numbers else 0
    if text is not None:
        flags |= TEXT
        wants_all = text.sure.pieces or text.maybe.pieces
        flags |= ANY_TEXT if wants_all else 0
        flags |= TEXT_NUMBERS if text.sure.has_numbers or text.maybe.has_numbers else 0
    return flags | (ATTRIBUTES if state.has_attributes else 0)
