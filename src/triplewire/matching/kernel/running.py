"""Running: a candidate's program over the document's triples, depth first with backtracking.

Step 0 takes the triple that woke the record. Each triple step enumerates the triples that fit what is bound so far,
by subject run, object chain or predicate chain; each test step passes or fails. Past the last step the partial match
is complete: it is written out, and the search goes back to the last step that binds a variable of some answer (the
record's cut), because what comes after it only has to exist.
"""

from __future__ import annotations

from triplewire.matching.kernel.classes import is_below
from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.numbers import (
    LOOSE,
    LOOSE_EXACT,
    SLACK,
    STRICT,
    STRICT_EXACT,
    compare,
    near,
)
from triplewire.matching.kernel.reading import find_known
from triplewire.matching.kernel.seeding import number_of
from triplewire.matching.layout import (
    AGAIN,
    BIND,
    BOUND,
    CONSTANT,
    CONTAINS,
    EMISSION,
    F_SIZE,
    F_SORTED,
    F_START,
    GE,
    GT,
    H_FLAGS,
    H_STEPS,
    H_VARIABLES,
    HEADER,
    LT,
    M_DOCUMENT,
    M_FLAGS,
    M_HIGH,
    M_LOW,
    M_RECORD,
    M_VARIABLES,
    MOST_STEPS_IN_PROGRAM,
    R_CONSTANTS,
    R_CUT,
    R_FAMILY,
    R_HEAD,
    R_PART,
    R_PROGRAM,
    STARTS,
    STEP,
    T_FIRST,
    T_GLOBAL,
    T_HEAD_O,
    T_HEAD_P,
    T_LENGTH,
    T_START,
    T_SUFFIX,
    T_TEXT,
    T_TEXT_LENGTH,
    TEST_CLASS,
    TEST_FAMILY,
    TEST_NUMBER,
    TEST_TEXT,
    TOO_MANY_ROWS,
    TOO_MANY_STEPS,
    UNCERTAIN,
    W_NEXT_O,
    W_NEXT_P,
    W_OBJECT,
    W_PREDICATE,
    W_RUN_END,
    W_SUBJECT,
    W_UNITS,
)


@compiled
def _has_text(mode: int, text: Array, start: int, length: int, strings: Array, part: int, part_length: int) -> bool:
    """True if the text contains, starts with or ends with the part."""
    first, last = start, start + length - part_length
    if last < first:
        return False
    if mode == STARTS:
        last = first
    elif mode != CONTAINS:
        first = last
    for at in range(first, last + 1):
        same = True
        for k in range(part_length):
            if text[at + k] != strings[part + k]:
                same = False
                break
        if same:
            return True
    return False


@compiled
def _slice(comparison: int, value: float, exact: bool, thresholds: Array, start: int, count: int) -> tuple[int, int]:
    """The sorted members whose threshold a value satisfies; a few more where the value is inexact."""
    upper = comparison in (GT, GE)
    slack = 0.0 if exact else SLACK * max(abs(value), 1e-300)
    goal = value + slack if upper else value - slack
    right = (comparison in (GE, LT)) if exact else upper
    low, high = start, start + count
    while low < high:
        middle = (low + high) // 2
        if thresholds[middle] < goal or (right and thresholds[middle] == goal):
            low = middle + 1
        else:
            high = middle
    return (start, low) if upper else (low, start + count)


@compiled
def _member_holds(comparison: int, value: float, exact: bool, threshold: float) -> bool:
    return compare(comparison, value, threshold) or (not exact and near(value, threshold))


@compiled
def _write(
    out: Array,
    used: int,
    document: int,
    record: int,
    low: int,
    high: int,
    flags: int,
    variables: int,
    bindings: int,
    work: Array,
    unit: int,
) -> int:
    """Write one match; gives the new end of the output, -1 if it is full."""
    if used + EMISSION + 2 * variables > out.size:
        return -1
    out[used + M_DOCUMENT] = document
    out[used + M_RECORD] = record
    out[used + M_LOW] = low
    out[used + M_HIGH] = high
    out[used + M_FLAGS] = flags
    out[used + M_VARIABLES] = variables
    used += EMISSION
    for v in range(variables):
        term = work[bindings + v]
        out[used] = work[T_START * unit + term]
        out[used + 1] = work[T_LENGTH * unit + term]
        used += 2
    return used


@compiled
def touch(
    found: int,
    candidates: Array,
    records: Array,
    constants: Array,
    code: Array,
    entries: Array,
    spent: Array,
    marks: Array,
) -> None:
    """Read a little of all that running the candidates will need.

    A program is too long for the processor to begin the next one while it waits for memory; these loops are not, so
    the waits overlap here instead of adding up there. A sum is written where nobody reads it, or the compiler would
    leave the reads out.
    """
    total = 0
    for candidate in range(found):
        total += records[candidates[candidate, 0], R_PROGRAM] + spent[candidates[candidate, 0], 0]
    for candidate in range(found):
        record = candidates[candidate, 0]
        total += constants[records[record, R_CONSTANTS]] + code[records[record, R_PROGRAM] + HEADER]
        total += entries[max(0, records[record, R_HEAD]), 0]
    marks[marks.size - 1] = total & 1


@compiled
def run(
    document: int,
    triples: int,
    found: int,
    candidates: Array,
    text: Array,
    starts: Array,
    strings: Array,
    numbers: Array,
    records: Array,
    constants: Array,
    code: Array,
    families: Array,
    thresholds: Array,
    parent_starts: Array,
    parents: Array,
    work: Array,
    unit: int,
    values: Array,
    queue: Array,
    marks: Array,
    spent: Array,
    most_rows: int,
    most_steps: int,
    out: Array,
    used: int,
) -> int:
    """Run every candidate; gives the new end of the output, -1 if it is full."""
    cursors = W_UNITS * unit
    bindings = cursors + 2 * MOST_STEPS_IN_PROGRAM
    for candidate in range(found):
        record, seed, hint = candidates[candidate, 0], candidates[candidate, 1], candidates[candidate, 2]
        if spent[record, 2] == seed + 1 or spent[record, 2] < 0:
            continue  # the same text woke it twice, or it has had its share
        spent[record, 2] = seed + 1
        program, base = records[record, R_PROGRAM], records[record, R_CONSTANTS]
        variables, steps = code[program + H_VARIABLES], code[program + H_STEPS]
        residual = code[program + H_FLAGS] & 1
        family, cut = records[record, R_FAMILY], records[record, R_CUT]
        uncertain = residual != 0
        low, high, comparison, value, exact = 0, 0, 0, 0.0, True
        depth, entering, taken = 0, True, 0
        while depth >= 0:
            if depth == steps:
                flags = UNCERTAIN if uncertain else 0
                if family < 0:
                    used = _write(out, used, document, record, 0, 0, flags, variables, bindings, work, unit)
                    spent[record, 1] += 1
                else:
                    if low < high:
                        used = _write(out, used, document, record, low, high, flags, variables, bindings, work, unit)
                        spent[record, 1] += 1
                    first = families[family, F_START]
                    for i in range(first + families[family, F_SORTED], first + families[family, F_SIZE]):
                        if used >= 0 and _member_holds(comparison, value, exact, thresholds[i]):
                            used = _write(out, used, document, record, i, i + 1, flags, variables, bindings, work, unit)
                            spent[record, 1] += 1
                if used < 0:
                    return -1
                if spent[record, 1] > most_rows:
                    spent[record, 2] = -1
                    return_to = _write(out, used, document, record, 0, 0, TOO_MANY_ROWS, 0, bindings, work, unit)
                    if return_to < 0:
                        return -1
                    used = return_to
                    break
                depth = steps - 1 if uncertain else cut
                entering = False
                continue
            taken += 1
            if taken & 0xFFF == 0:
                spent[record, 0] += 1
                if spent[record, 0] > most_steps >> 12:
                    spent[record, 2] = -1
                    used = _write(out, used, document, record, 0, 0, TOO_MANY_STEPS, 0, bindings, work, unit)
                    if used < 0:
                        return -1
                    break
            step = program + HEADER + STEP * depth
            operation, a, b, c = code[step], code[step + 1], code[step + 2], code[step + 3]
            passed = False
            if operation < TEST_NUMBER:
                mode_s, mode_p, mode_o = operation & 3, (operation >> 2) & 3, (operation >> 4) & 3
                s, p, o = -1, -1, -1
                lost = False
                if mode_s == CONSTANT:
                    s = find_known(constants[base - a - 1], work, unit)
                    lost = s < 0
                elif mode_s == BOUND:
                    s = work[bindings + a]
                if mode_p == CONSTANT:
                    p = find_known(constants[base - b - 1], work, unit)
                    lost = lost or p < 0
                elif mode_p == BOUND:
                    p = work[bindings + b]
                if mode_o == CONSTANT:
                    o = find_known(constants[base - c - 1], work, unit)
                    lost = lost or o < 0
                elif mode_o == BOUND:
                    o = work[bindings + c]
                at = -1
                if lost or (depth == 0 and not entering):
                    at = -1
                elif depth == 0:
                    at = seed
                elif not entering:
                    at = work[cursors + depth]
                elif s >= 0:
                    at = work[T_FIRST * unit + s]
                    while at >= 0 and p >= 0 and work[W_PREDICATE * unit + at] != p:
                        at = work[W_RUN_END * unit + at]
                        if at >= triples or work[W_SUBJECT * unit + at] != s:
                            at = -1
                elif o >= 0:
                    at = work[T_HEAD_O * unit + o]
                elif p >= 0:
                    at = work[T_HEAD_P * unit + p]
                else:
                    at = 0 if triples > 0 else -1
                while at >= 0:
                    ts, tp, to = work[W_SUBJECT * unit + at], work[W_PREDICATE * unit + at], work[W_OBJECT * unit + at]
                    fits = (s < 0 or s == ts) and (p < 0 or p == tp) and (o < 0 or o == to)
                    if fits and mode_s == BIND:
                        work[bindings + a] = ts
                    if fits and mode_p == BIND:
                        work[bindings + b] = tp
                    elif fits and mode_p == AGAIN:
                        fits = work[bindings + b] == tp
                    if fits and mode_o == BIND:
                        work[bindings + c] = to
                    elif fits and mode_o == AGAIN:
                        fits = work[bindings + c] == to
                    if depth == 0:
                        at = -1
                    elif s >= 0:
                        at += 1
                        if (
                            at >= triples
                            or work[W_SUBJECT * unit + at] != s
                            or (p >= 0 and work[W_PREDICATE * unit + at] != p)
                        ):
                            at = -1
                    elif o >= 0:
                        at = work[W_NEXT_O * unit + at]
                    elif p >= 0:
                        at = work[W_NEXT_P * unit + at]
                    else:
                        at = at + 1 if at + 1 < triples else -1
                    if fits:
                        passed = True
                        break
                work[cursors + depth] = at
            elif not entering:
                passed = False
            elif operation < TEST_TEXT:
                term = work[bindings + a]
                state = number_of(term, text, work, unit, values)
                if state & (STRICT if c else LOOSE):
                    is_exact = state & (STRICT_EXACT if c else LOOSE_EXACT) != 0
                    amount = values[term]
                    if not is_exact:
                        uncertain = True
                    if operation < TEST_FAMILY:
                        limit = numbers[constants[base - b - 1]]
                        passed = compare(operation - TEST_NUMBER, amount, limit) or (
                            not is_exact and near(amount, limit)
                        )
                    else:
                        comparison, value, exact = operation - TEST_FAMILY, amount, is_exact
                        first, count = families[family, F_START], families[family, F_SORTED]
                        low, high = _slice(comparison, value, exact, thresholds, first, count)
                        passed = low < high
                        for i in range(first + count, first + families[family, F_SIZE]):
                            passed = passed or _member_holds(comparison, value, exact, thresholds[i])
            elif operation < TEST_CLASS:
                term = work[bindings + a]
                start = work[T_TEXT * unit + term]
                suffix = work[T_SUFFIX * unit + term]
                end = work[T_START * unit + term] + work[T_LENGTH * unit + term]
                allowed = c == 0 or (suffix >= 0 and (suffix == end or text[suffix] == 64))
                if start >= 0 and allowed:
                    part = constants[base - b - 1]
                    at = starts[part] + 1
                    size = starts[part + 1] - at
                    length = work[T_TEXT_LENGTH * unit + term]
                    if operation == TEST_TEXT + CONTAINS and part == records[record, R_PART] and start <= hint:
                        passed = hint < start + length
                    if not passed:
                        passed = _has_text(operation - TEST_TEXT, text, start, length, strings, at, size)
            else:
                number = work[T_GLOBAL * unit + work[bindings + a]]
                wanted = constants[base - b - 1]
                passed = is_below(operation - TEST_CLASS, number, wanted, parent_starts, parents, queue, marks)
            if passed:
                depth += 1
                entering = True
            else:
                depth -= 1
                entering = False
    for candidate in range(found):
        record = candidates[candidate, 0]
        spent[record, 0] = 0
        spent[record, 1] = 0
        spent[record, 2] = 0
    return used
