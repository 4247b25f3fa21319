"""Running: a candidate's program over the document's triples, depth first with backtracking.

Step 0 takes the triple that woke the record. Each triple step enumerates the triples that fit what is bound so far,
by subject run, object chain or predicate chain; each test step passes or fails. Past the last step the partial match
is complete: it is written out, and the search goes back to the last step that binds a variable of some answer (the
record's cut), because what comes after it only has to exist; without such a step (ASK) one match is enough.
"""

from __future__ import annotations

from triplewire.matching.kernel.classes import is_below
from triplewire.matching.kernel.compiled import Array, compiled, inlined
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
    RESIDUAL,
    S_RECORD,
    S_ROWS,
    S_SEED,
    S_STEPS,
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

AT = 64  # before a language tag


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
    marks: Array,
) -> None:
    """Read a little of all that running the candidates will need.

    A program is too long for the processor to begin the next one while it waits for memory; these loops are not, so
    the waits overlap here instead of adding up there. A sum is written where nobody reads it, or the compiler would
    leave the reads out.
    """
    total = 0
    for candidate in range(found):
        total += records[candidates[candidate, 0], R_PROGRAM]
    for candidate in range(found):
        record = candidates[candidate, 0]
        total += constants[records[record, R_CONSTANTS]] + code[records[record, R_PROGRAM] + HEADER]
        total += entries[max(0, records[record, R_HEAD]), 0]
    marks[marks.size - 1] = total & 1


@inlined
def _place(mode: int, reference: int, base: int, constants: Array, work: Array, unit: int, bindings: int) -> int:
    """The term that a place of a triple step must be: -1 if it is free, -2 if the document does not have it."""
    if mode == CONSTANT:
        found = find_known(constants[base - reference - 1], work, unit)
        return found if found >= 0 else -2
    return work[bindings + reference] if mode == BOUND else -1


@inlined
def _first(s: int, p: int, o: int, triples: int, work: Array, unit: int) -> int:
    """The first triple that may fit, found by subject, else by object, else by predicate; -1 if there is none."""
    if s >= 0:
        at = work[T_FIRST * unit + s]
        while at >= 0 and p >= 0 and work[W_PREDICATE * unit + at] != p:
            at = work[W_RUN_END * unit + at]
            if at >= triples or work[W_SUBJECT * unit + at] != s:
                at = -1
        return at
    if o >= 0:
        return work[T_HEAD_O * unit + o]
    if p >= 0:
        return work[T_HEAD_P * unit + p]
    return 0 if triples > 0 else -1


@inlined
def _next(at: int, s: int, p: int, o: int, triples: int, work: Array, unit: int) -> int:
    """The triple after this one that may fit; -1 if there is none."""
    if s >= 0:
        at += 1
        if at >= triples or work[W_SUBJECT * unit + at] != s or (p >= 0 and work[W_PREDICATE * unit + at] != p):
            return -1
        return at
    if o >= 0:
        return work[W_NEXT_O * unit + at]
    if p >= 0:
        return work[W_NEXT_P * unit + at]
    return at + 1 if at + 1 < triples else -1


@inlined
def _bind(mode: int, reference: int, term: int, work: Array, bindings: int) -> bool:
    """Give a variable its term, or compare with the one that the same triple has given it just now."""
    if mode == BIND:
        work[bindings + reference] = term
    return mode != AGAIN or work[bindings + reference] == term


@inlined
def _text_passes(
    operation: int,
    strict: int,
    term: int,
    part: int,
    hint: int,
    text: Array,
    starts: Array,
    strings: Array,
    work: Array,
    unit: int,
) -> bool:
    """A test of text; `hint` is where seeding has found the part already, or -1."""
    start = work[T_TEXT * unit + term]
    suffix = work[T_SUFFIX * unit + term]
    end = work[T_START * unit + term] + work[T_LENGTH * unit + term]
    if start < 0 or (strict and (suffix < 0 or (suffix != end and text[suffix] != AT))):
        return False
    length = work[T_TEXT_LENGTH * unit + term]
    if operation == TEST_TEXT + CONTAINS and start <= hint < start + length:
        return True
    at = starts[part] + 1
    return _has_text(operation - TEST_TEXT, text, start, length, strings, at, starts[part + 1] - at)


@inlined
def _emit(
    document: int,
    record: int,
    family: int,
    low: int,
    high: int,
    comparison: int,
    value: float,
    exact: bool,
    flags: int,
    variables: int,
    bindings: int,
    families: Array,
    thresholds: Array,
    work: Array,
    unit: int,
    out: Array,
    used: int,
) -> int:
    """Write a complete match, for all members of the family that it satisfies; gives the new end, -1 if it is full."""
    if family < 0 or low < high:
        used = _write(out, used, document, record, low, high, flags, variables, bindings, work, unit)
    if family >= 0:
        first = families[family, F_START]
        for i in range(first + families[family, F_SORTED], first + families[family, F_SIZE]):
            if used >= 0 and _member_holds(comparison, value, exact, thresholds[i]):
                used = _write(out, used, document, record, i, i + 1, flags, variables, bindings, work, unit)
    return used


@inlined
def _clear(spent: Array, found: int) -> int:
    """Empty as much of the table of what was spent as the candidates need; gives how much that is."""
    size = 16
    while size < 2 * found:
        size *= 2
    for i in range(size):
        spent[i, S_RECORD] = 0
    return size


@inlined
def _own(record: int, spent: Array, mask: int) -> int:
    """The row in which a record's spending is noted; a new one begins with nothing."""
    own = (record * 0x9E3779B1 >> 8) & mask
    while spent[own, S_RECORD] != 0 and spent[own, S_RECORD] != record + 1:
        own = (own + 1) & mask
    if spent[own, S_RECORD] == 0:
        spent[own, S_RECORD] = record + 1
        spent[own, S_STEPS] = 0
        spent[own, S_ROWS] = 0
        spent[own, S_SEED] = 0
    return own


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
    mask = _clear(spent, found) - 1
    for candidate in range(found):
        record, seed, hint = candidates[candidate, 0], candidates[candidate, 1], candidates[candidate, 2]
        own = _own(record, spent, mask)
        if spent[own, S_SEED] == seed + 1 or spent[own, S_SEED] < 0:
            continue  # the same text woke it twice, or it has had its share
        spent[own, S_SEED] = seed + 1
        program, base = records[record, R_PROGRAM], records[record, R_CONSTANTS]
        variables, steps = code[program + H_VARIABLES], code[program + H_STEPS]
        family, cut = records[record, R_FAMILY], records[record, R_CUT]
        uncertain = code[program + H_FLAGS] & RESIDUAL != 0
        low, high, comparison, value, exact = 0, 0, 0, 0.0, True
        depth, entering, taken, over = 0, True, 0, 0
        budget = most_steps - spent[own, S_STEPS]
        while depth >= 0 and over == 0:
            if depth == steps:
                used = _emit(
                    document, record, family, low, high, comparison, value, exact, UNCERTAIN if uncertain else 0,
                    variables, bindings, families, thresholds, work, unit, out, used,
                )  # fmt: skip
                if used < 0:
                    return -1
                spent[own, S_ROWS] += 1
                if spent[own, S_ROWS] > most_rows:
                    over = TOO_MANY_ROWS
                depth = steps - 1 if uncertain else (cut if cut > 0 else -1)  # step 0 has no other triple
                entering = False
                continue
            taken += 1
            if taken > budget:
                over = TOO_MANY_STEPS
            step = program + HEADER + STEP * depth
            operation, a, b, c = code[step], code[step + 1], code[step + 2], code[step + 3]
            passed = False
            if operation < TEST_NUMBER:
                mode_s, mode_p, mode_o = operation & 3, (operation >> 2) & 3, (operation >> 4) & 3
                s = _place(mode_s, a, base, constants, work, unit, bindings)
                p = _place(mode_p, b, base, constants, work, unit, bindings)
                o = _place(mode_o, c, base, constants, work, unit, bindings)
                if s == -2 or p == -2 or o == -2 or (depth == 0 and not entering):
                    at = -1
                elif depth == 0:
                    at = seed
                else:
                    at = _first(s, p, o, triples, work, unit) if entering else work[cursors + depth]
                while at >= 0 and not passed:
                    ts, tp, to = work[W_SUBJECT * unit + at], work[W_PREDICATE * unit + at], work[W_OBJECT * unit + at]
                    if (s < 0 or s == ts) and (p < 0 or p == tp) and (o < 0 or o == to):
                        _bind(mode_s, a, ts, work, bindings)
                        passed = _bind(mode_p, b, tp, work, bindings) and _bind(mode_o, c, to, work, bindings)
                    at = _next(at, s, p, o, triples, work, unit) if depth > 0 else -1
                work[cursors + depth] = at
            elif not entering:
                passed = False
            elif operation < TEST_TEXT:
                term = work[bindings + a]
                state = number_of(term, text, work, unit, values)
                if state & (STRICT if c else LOOSE):
                    is_exact = state & (STRICT_EXACT if c else LOOSE_EXACT) != 0
                    uncertain = uncertain or not is_exact
                    if operation < TEST_FAMILY:
                        limit = numbers[constants[base - b - 1]]
                        passed = _member_holds(operation - TEST_NUMBER, values[term], is_exact, limit)
                    else:
                        comparison, value, exact = operation - TEST_FAMILY, values[term], is_exact
                        first, count = families[family, F_START], families[family, F_SORTED]
                        low, high = _slice(comparison, value, exact, thresholds, first, count)
                        passed = low < high
                        for i in range(first + count, first + families[family, F_SIZE]):
                            passed = passed or _member_holds(comparison, value, exact, thresholds[i])
            elif operation < TEST_CLASS:
                part = constants[base - b - 1]
                known = hint if part == records[record, R_PART] else -1
                passed = _text_passes(operation, c, work[bindings + a], part, known, text, starts, strings, work, unit)
            else:
                number = work[T_GLOBAL * unit + work[bindings + a]]
                wanted = constants[base - b - 1]
                passed = is_below(operation - TEST_CLASS, number, wanted, parent_starts, parents, queue, marks)
            depth += 1 if passed else -1
            entering = passed
        spent[own, S_STEPS] += taken
        if over != 0 or (cut < 0 and spent[own, S_ROWS] > 0 and not uncertain):
            spent[own, S_SEED] = -1  # it has had its share; or one match is all that is wanted of it
        if over != 0:
            low = families[family, F_START] if family >= 0 else 0
            high = low + families[family, F_SIZE] if family >= 0 else 0
            used = _write(out, used, document, record, low, high, over, 0, bindings, work, unit)
            if used < 0:
                return -1
    return used
