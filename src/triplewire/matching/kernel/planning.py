"""Planning: where a record waits, and in which order its program runs.

A *body* is a conjunction as numbers, in the order of its normal form:

    variables, triples, tests, flags, constants, then (s, p, o) for each triple, then (operation, a, b, c) for each test

where a place is a variable (0, 1, …) or a constant (-1, -2, …: the first, the second, …).
"""

from __future__ import annotations

import numpy as np

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.hashing import mix, second_hash
from triplewire.matching.kernel.numbers import single_bits
from triplewire.matching.layout import (
    AGAIN,
    BIND,
    BOUND,
    CONSTANT,
    EQ,
    FREE_ALL,
    FREE_O,
    FREE_S,
    FREE_SO,
    H_CONSTANTS,
    H_FLAGS,
    H_STEPS,
    H_VARIABLES,
    HEADER,
    LT,
    NUMBER,
    OBJECT_BELOW_OR_SELF,
    PO,
    PS,
    PSO,
    R_CUT,
    R_PROGRAM,
    STEP,
    SUBJECT_BELOW_OR_SELF,
    TEST_CLASS,
    TEST_FAMILY,
    TEST_NUMBER,
    TEST_TEXT,
    TEXT_1,
    TEXT_8,
    TRIPLE,
    P,
)

B_VARIABLES, B_TRIPLES, B_TESTS, B_FLAGS, B_CONSTANTS = range(5)
BODY = 5

_WEIGHTS = np.ones(FREE_ALL + 1)
_WEIGHTS[PO] = _WEIGHTS[PS] = 2.0
_WEIGHTS[TEXT_1 : TEXT_8 + 1] = (1e3, 500, 250, 100, 80, 70, 60, 50)  # they make every such text be scanned
_WEIGHTS[OBJECT_BELOW_OR_SELF : SUBJECT_BELOW_OR_SELF + 3] = 50.0  # and these, that the taxonomy be climbed
_WEIGHTS[P] = 16.0
_WEIGHTS[FREE_SO], _WEIGHTS[FREE_S], _WEIGHTS[FREE_O], _WEIGHTS[FREE_ALL] = 4.0, 16.0, 16.0, 1000.0
"""How many documents a key of each kind is likely to wake its records for, relative to the others."""


@compiled
def hash_body(body: Array, ids: Array) -> int:
    """A hash of the conjunction, whatever the order of its triples and tests."""
    triples, tests = body[B_TRIPLES], body[B_TESTS]
    total = mix(body[B_VARIABLES], triples, tests, body[B_FLAGS])
    for t in range(triples):
        i = BODY + 3 * t
        total += mix(1, body[i], body[i + 1], body[i + 2])
    for t in range(tests):
        i = BODY + 3 * triples + 4 * t
        total += mix(2 + body[i], body[i + 1], body[i + 2], body[i + 3])
    for i in range(ids.size):
        total = mix(3, total, ids[i], i)
    return total


@compiled
def _popular(key: int, popularity: Array, change: int) -> int:
    """How many conjunctions have a key, after a change; an upper bound, from two counters of a count-min sketch."""
    i, j = (key >> 16) & (popularity.size - 1), (key >> 38) & (popularity.size - 1)
    popularity[i] = max(0, popularity[i] + change)
    if i != j:
        popularity[j] = max(0, popularity[j] + change)
    return min(popularity[i], popularity[j])


@compiled
def _text_key(
    predicate: int, part: int, starts: Array, strings: Array, popularity: Array, change: int
) -> tuple[int, int, int, int]:
    """The rarest gram of a text, as (key, kind, popularity, its offset); kind -1 for an empty text."""
    start, end = starts[part] + 1, starts[part + 1]
    if end == start:
        return 0, -1, 0, 0
    size = min(8, end - start)  # a short text is its own gram, so that only true matches are found by it
    kind = TEXT_1 + size - 1
    best, best_count, offset = 0, -1, 0
    for i in range(start, end - size + 1):
        gram = np.int64(0)
        for k in range(size):
            gram |= np.int64(strings[i + k]) << (8 * k)
        key = mix(kind, predicate, int(gram), 0)
        count = _popular(key, popularity, change)
        if best_count < 0 or count < best_count:
            best, best_count, offset = key, count, i - start
    return best, kind, best_count, offset


@compiled
def choose_access(
    body: Array,
    ids: Array,
    starts: Array,
    strings: Array,
    numbers: Array,
    popularity: Array,
    change: int,
) -> tuple[int, int, int, int, int]:
    """The triple that a record should wait for, as (triple, kind of access, key, text, offset of its gram in the text).

    Without a text, -1 and the hash of the next best key, of another triple: a document without that cannot match.

    Of all its keys the one that the fewest conjunctions share: what many share, many documents have. `change` is
    added to the popularity of each of its keys: 1 when it is added, -1 when it is removed.
    """
    best_triple, best_kind, best_key, best_score = -1, 0, 0, 0.0
    best_part, best_offset = -1, 0
    first, second, first_score, second_score, first_triple = -1, -1, 0.0, 0.0, -1
    triples, tests = body[B_TRIPLES], body[B_TESTS]
    for t in range(triples):
        s, p, o = body[BODY + 3 * t], body[BODY + 3 * t + 1], body[BODY + 3 * t + 2]
        sid = ids[-s - 1] if s < 0 else -1
        oid = ids[-o - 1] if o < 0 else -1
        if p >= 0:
            if s < 0 and o < 0:
                kind, key = FREE_SO, mix(FREE_SO, sid, oid, 0)
            elif s < 0:
                kind, key = FREE_S, mix(FREE_S, sid, 0, 0)
            elif o < 0:
                kind, key = FREE_O, mix(FREE_O, oid, 0, 0)
            else:
                kind, key = FREE_ALL, mix(FREE_ALL, 0, 0, 0)
        else:
            pid = ids[-p - 1]
            if s < 0 and o < 0:
                kind, key = PSO, mix(PSO, pid, sid, oid)
            elif o < 0:
                kind, key = PO, mix(PO, pid, oid, 0)
            elif s < 0:
                kind, key = PS, mix(PS, pid, sid, 0)
            else:
                kind, key = P, mix(P, pid, 0, 0)
        score = (_popular(key, popularity, change) + 1) * _WEIGHTS[kind]
        if p < 0:
            if first < 0 or score < first_score:
                second, second_score = first, first_score
                first, first_score, first_triple = second_hash(key), score, t
            elif second < 0 or score < second_score:
                second, second_score = second_hash(key), score
        if best_triple < 0 or score < best_score:
            best_triple, best_kind, best_key, best_score = t, kind, key, score
            best_part, best_offset = -1, 0
        if p >= 0:
            continue
        for i in range(tests):
            at = BODY + 3 * triples + 4 * i
            operation, a, b = body[at], body[at + 1], body[at + 2]
            kind, part, offset = -1, -1, 0
            if operation == TEST_NUMBER + EQ and a == o:
                kind, key = NUMBER, mix(NUMBER, pid, single_bits(numbers[ids[-b - 1]]), 0)
                count = _popular(key, popularity, change)
            elif TEST_TEXT <= operation < TEST_CLASS and a == o:
                part = ids[-b - 1]
                key, kind, count, offset = _text_key(pid, part, starts, strings, popularity, change)
            elif operation >= TEST_CLASS and (a in (o, s)):
                kind = (OBJECT_BELOW_OR_SELF if a == o else SUBJECT_BELOW_OR_SELF) + operation - TEST_CLASS
                key = mix(kind, pid, ids[-b - 1], 0)
                count = _popular(key, popularity, change)
            if kind >= 0:
                score = (count + 1) * _WEIGHTS[kind]
                is_narrower = best_triple == t and best_kind == P  # of the same triples, only those that pass the test
                if score < best_score or is_narrower:
                    best_triple, best_kind, best_key, best_score = t, kind, key, min(score, best_score)
                    best_part, best_offset = part, offset
    if best_part < 0:
        best_offset = second if first_triple == best_triple else first
    return best_triple, best_kind, best_key, best_part, best_offset


@compiled
def _effort(s: bool, p: bool, o: bool) -> int:
    """How many triples a step is likely to enumerate, given which of its places are known."""
    if s and p and o:
        return 0
    if s and (p or o):
        return 1
    if p and o:
        return 2
    if s or o:
        return 3
    return 10 if p else 20


@compiled
def _known(place: int, bound: Array) -> bool:
    return place < 0 or bound[place] != 0


@compiled
def order_steps(body: Array, seed: int) -> Array:
    """The program of a body that starts at one of its triples: next the step that enumerates least, tests at once."""
    triples, tests = body[B_TRIPLES], body[B_TESTS]
    bound = np.zeros(max(1, body[B_VARIABLES]), dtype=np.uint8)
    done = np.zeros(triples + tests, dtype=np.uint8)
    code = np.zeros(HEADER + STEP * (triples + tests), dtype=np.int16)
    code[H_VARIABLES], code[H_STEPS] = body[B_VARIABLES], triples + tests
    code[H_FLAGS], code[H_CONSTANTS] = body[B_FLAGS], body[B_CONSTANTS]
    at, chosen = HEADER, seed
    for _ in range(triples):
        if chosen < 0:
            least = 100
            for t in range(triples):
                if done[t] == 0:
                    i = BODY + 3 * t
                    effort = _effort(_known(body[i], bound), _known(body[i + 1], bound), _known(body[i + 2], bound))
                    if effort < least:
                        least, chosen = effort, t
        done[chosen] = 1
        operation = TRIPLE
        for place in range(3):
            node = body[BODY + 3 * chosen + place]
            code[at + 1 + place] = node
            mode = CONSTANT
            if node >= 0:
                mode = BOUND if bound[node] == 1 else AGAIN if bound[node] == 2 else BIND
                if bound[node] == 0:
                    bound[node] = 2
            operation += mode << (2 * place)
        for place in range(3):
            node = body[BODY + 3 * chosen + place]
            if node >= 0:
                bound[node] = 1
        code[at] = operation
        at += STEP
        for i in range(tests):
            test = BODY + 3 * triples + 4 * i
            if done[triples + i] == 0 and bound[body[test + 1]] == 1:
                done[triples + i] = 1
                for k in range(4):
                    code[at + k] = body[test + k]
                at += STEP
        chosen = -1
    return code


@compiled
def body_of(code: Array, program: int) -> Array:
    """The body of a program, with its triples and tests in the order in which they run."""
    steps = code[program + H_STEPS]
    triples = 0
    for i in range(steps):
        triples += code[program + HEADER + STEP * i] < TEST_NUMBER
    body = np.zeros(BODY + 3 * triples + 4 * (steps - triples), dtype=np.int16)
    body[B_VARIABLES], body[B_TRIPLES], body[B_TESTS] = code[program + H_VARIABLES], triples, steps - triples
    body[B_FLAGS], body[B_CONSTANTS] = code[program + H_FLAGS], code[program + H_CONSTANTS]
    at_triple, at_test = BODY, BODY + 3 * triples
    for i in range(steps):
        step = program + HEADER + STEP * i
        if code[step] < TEST_NUMBER:
            for k in range(3):
                body[at_triple + k] = code[step + 1 + k]
            at_triple += 3
        else:
            for k in range(4):
                body[at_test + k] = code[step + k]
            at_test += 4
    return body


@compiled
def same_body(body: Array, code: Array, program: int) -> bool:
    """True if the program runs exactly this body, in whatever order."""
    other = body_of(code, program)
    if other.size != body.size:
        return False
    for i in range(BODY):
        if other[i] != body[i]:
            return False
    for part in range(2):
        width, count = (3, body[B_TRIPLES]) if part == 0 else (4, body[B_TESTS])
        base = BODY if part == 0 else BODY + 3 * body[B_TRIPLES]
        for i in range(count):
            found = False
            for j in range(count):
                same = True
                for k in range(width):
                    if body[base + width * i + k] != other[base + width * j + k]:
                        same = False
                        break
                if same:
                    found = True
                    break
            if not found:
                return False
    return True


@compiled
def deepen_cut(record: int, wanted: Array, records: Array, code: Array) -> None:
    """Move a record's cut to the last step that binds a wanted variable, if that is further on."""
    program = records[record, R_PROGRAM]
    for i in range(records[record, R_CUT] + 1, code[program + H_STEPS]):
        step = program + HEADER + STEP * i
        if code[step] < TEST_NUMBER:
            for place in range(3):
                binds = (code[step] >> (2 * place)) & 3 == BIND
                if binds and code[step + 1 + place] in wanted:
                    records[record, R_CUT] = i


@compiled
def test_at(body: Array, number: int) -> int:
    """Where a test begins in a body."""
    return BODY + 3 * body[B_TRIPLES] + 4 * number


@compiled
def _is_inequality(operation: int) -> bool:
    return TEST_NUMBER + LT <= operation < TEST_FAMILY


@compiled
def varying(body: Array, ids: Array, popularity: Array) -> int:
    """The inequality that becomes a family's, or -1.

    Of several it is the one whose family is the largest, as far as its popularity tells.
    """
    best, most, candidates = -1, -1, 0
    for i in range(body[B_TESTS] - 1, -1, -1):
        if _is_inequality(body[test_at(body, i)]):
            best, candidates = i, candidates + 1
    if candidates < 2:
        return best
    for i in range(body[B_TESTS]):
        if _is_inequality(body[test_at(body, i)]):
            without = ids.copy()
            without[-1 - body[test_at(body, i) + 2]] = -1
            slot = (hash_body(varied_by(body, i), without) >> 16) & (popularity.size - 1)
            popularity[slot] += 1
            if popularity[slot] > most:
                best, most = i, popularity[slot]
    return best


@compiled
def varied_by(body: Array, test: int) -> Array:
    """The body with one inequality's threshold taken out, to be that of a family."""
    varied = body.copy()
    at = test_at(body, test)
    varied[at] = body[at] - TEST_NUMBER + TEST_FAMILY
    varied[at + 2] = 0
    return varied


@compiled
def design(
    body: Array, ids: Array, starts: Array, strings: Array, numbers: Array, popularity: Array
) -> tuple[Array, int, int, int, int, int]:
    """The plan for a new record: its program, the predicate of the triple that it waits for, and the access to it."""
    triple, kind, key, part, offset = choose_access(body, ids, starts, strings, numbers, popularity, 1)
    predicate = body[BODY + 3 * triple + 1]
    return order_steps(body, triple), ids[-predicate - 1] if predicate < 0 else -1, kind, key, part, offset
