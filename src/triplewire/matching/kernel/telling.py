"""Telling: the subscriptions that want the records that matched."""

from __future__ import annotations

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.layout import (
    E_COLUMNS,
    E_NEXT,
    E_SUBSCRIPTION,
    EMISSION,
    M_FLAGS,
    M_HIGH,
    M_LOW,
    M_RECORD,
    M_VARIABLES,
    R_CONSTANTS,
    R_FAMILY,
    R_HEAD,
)

TOLD = 5
"""For each: subscription, place of the match in the output, columns, place of the record's constants, entry."""


@compiled
def tell(
    out: Array, at: int, used: int, records: Array, members: Array, entries: Array, told: Array, count: int
) -> tuple[int, int]:
    """Write a row for every entry of the matches from `at` to `used`, behind the `count` rows there are.

    Gives how many there are now (-1: no room), and all these matches' flags together.
    """
    flags = 0
    while at < used:
        record = out[at + M_RECORD]
        flags |= out[at + M_FLAGS]
        low, high = out[at + M_LOW], out[at + M_HIGH]
        if records[record, R_FAMILY] < 0:
            low, high = 0, 1
        for member in range(low, high):
            entry = records[record, R_HEAD] if records[record, R_FAMILY] < 0 else members[member]
            while entry >= 0:
                if count >= len(told):
                    return -1, flags
                told[count, 0] = entries[entry, E_SUBSCRIPTION]
                told[count, 1] = at
                told[count, 2] = entries[entry, E_COLUMNS]
                told[count, 3] = records[record, R_CONSTANTS]
                told[count, 4] = entry
                count += 1
                entry = entries[entry, E_NEXT]
        at += EMISSION + 2 * out[at + M_VARIABLES]
    return count, flags
