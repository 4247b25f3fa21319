"""Families of thresholds in flat arrays, next to a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from triplewire.matching.kernel.families import add_member, find_member, new_family, remove_member, room_for_member
from triplewire.matching.layout import C_THRESHOLDS, COUNTED, F_SIZE, F_SORTED, F_START, FAMILY_COLUMNS

THRESHOLDS = st.integers(-40, 40).map(float)


class Families:
    """Two families in one pool, so that one moves behind the other."""

    def __init__(self) -> None:
        self.counts = np.zeros(len(COUNTED), dtype=np.int64)
        self.families = np.zeros((2, FAMILY_COLUMNS), dtype=np.int32)
        self.thresholds, self.members = np.zeros(1024), np.zeros(1024, dtype=np.int32)
        assert [new_family(self.counts, self.families) for _ in range(2)] == [0, 1]

    def find(self, family: int, threshold: float) -> int:
        return int(find_member(family, threshold, self.families, self.thresholds))

    def add(self, family: int, threshold: float, entry: int) -> None:
        needed = self.counts[C_THRESHOLDS] + room_for_member(family, self.families)
        place = add_member(family, threshold, self.counts, self.families, self.thresholds, self.members)
        assert self.counts[C_THRESHOLDS] == needed, "a member takes as much room as was told"
        assert self.members[place] == -1
        self.members[place] = entry

    def remove(self, family: int, threshold: float) -> None:
        remove_member(family, self.find(family, threshold), self.families, self.thresholds, self.members)

    def check(self, family: int, expected: dict[float, int]) -> None:
        row = self.families[family]
        start, size = int(row[F_START]), int(row[F_SIZE])
        held = dict(zip(self.thresholds[start : start + size], self.members[start : start + size], strict=True))
        assert held == expected
        assert size == len(expected)
        ordered = self.thresholds[start : start + row[F_SORTED]]
        assert (np.diff(ordered) > 0).all()


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), THRESHOLDS), max_size=150))
def test_families_hold_what_a_dictionary_holds(changes):
    """Each change adds a member that is not there, or removes it."""
    families, expected = Families(), ({}, {})
    for entry, (family, threshold) in enumerate(changes):
        assert (families.find(family, threshold) >= 0) == (threshold in expected[family])
        if threshold in expected[family]:
            families.remove(family, threshold)
            del expected[family][threshold]
        else:
            families.add(family, threshold, entry)
            expected[family][threshold] = entry
        for number in (0, 1):
            families.check(number, expected[number])
