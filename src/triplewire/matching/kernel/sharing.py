"""Sharing: which atoms a conjunction has, and who else has them."""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.hashing import mix
from triplewire.matching.layout import (
    E_RECORD,
    E_SUBSCRIPTION,
    E_THRESHOLD,
    H_STEPS,
    HEADER,
    MOST_STEPS_IN_PROGRAM,
    R_CONSTANTS,
    R_PROGRAM,
    STEP,
    TEST_FAMILY,
    TEST_NUMBER,
    TEST_TEXT,
)


@compiled
def _is_object(variable: int, code: Array, program: int) -> bool:
    for i in range(code[program + H_STEPS]):
        step = program + HEADER + STEP * i
        if code[step] < TEST_NUMBER and code[step + 3] == variable:
            return True
    return False


@compiled
def atoms(program: int, base: int, threshold: int, code: Array, constants: Array, found: Array) -> int:
    """Write the identity of each atom of a program, in the order in which they run; gives how many.

    An atom is a triple pattern with the tests on its variables; a test belongs to the triples that have its variable
    as their object, or, if none has, to those that have it as their subject.
    """
    count, steps = 0, code[program + H_STEPS]
    for i in range(steps):
        step = program + HEADER + STEP * i
        if code[step] >= TEST_NUMBER:
            continue
        s, p, o = code[step + 1], code[step + 2], code[step + 3]
        identity = mix(
            1 + (s == o),
            constants[base - s - 1] if s < 0 else -1,
            constants[base - p - 1] if p < 0 else -1,
            constants[base - o - 1] if o < 0 else -1,
        )
        for j in range(steps):
            test = program + HEADER + STEP * j
            operation, a, b, c = code[test], code[test + 1], code[test + 2], code[test + 3]
            if operation < TEST_NUMBER or (a != o and (a != s or _is_object(a, code, program))):
                continue
            if TEST_FAMILY <= operation < TEST_TEXT:
                operation, constant = operation - TEST_FAMILY + TEST_NUMBER, threshold
            else:
                constant = constants[base - b - 1]
            identity += mix(operation + 3, constant, c, 1 if a == o else 0)
        found[count] = identity
        count += 1
    return count


@compiled
def sharers(
    wanted: Array,
    own: int,
    used: int,
    entries: Array,
    records: Array,
    subscriptions: int,
    constants: Array,
    code: Array,
) -> Array:
    """For each wanted atom, how many of the subscriptions but `own` have it; an entry without one is not in use."""
    last = np.full((wanted.size, subscriptions), False)
    found = np.zeros(MOST_STEPS_IN_PROGRAM, dtype=np.int64)
    for entry in range(used):
        record, subscription = entries[entry, E_RECORD], entries[entry, E_SUBSCRIPTION]
        if subscription < 0 or subscription == own:
            continue
        count = atoms(
            records[record, R_PROGRAM],
            records[record, R_CONSTANTS],
            entries[entry, E_THRESHOLD],
            code,
            constants,
            found,
        )
        for i in range(count):
            for k in range(wanted.size):
                if found[i] == wanted[k]:
                    last[k, subscription] = True
    totals = np.zeros(wanted.size, dtype=np.int64)
    for k in range(wanted.size):
        totals[k] = np.sum(last[k])
    return totals
