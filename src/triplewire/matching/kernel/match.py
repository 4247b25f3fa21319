"""The whole of the kernel for a batch of documents: read, seed, run, one document after the other."""

from __future__ import annotations

from triplewire.matching.kernel.compiled import Array, compiled
from triplewire.matching.kernel.reading import read
from triplewire.matching.kernel.running import run, touch
from triplewire.matching.kernel.seeding import seed
from triplewire.matching.kernel.telling import tell
from triplewire.matching.layout import DONE, MALFORMED, NEED_CANDIDATES, NEED_LINES, NEED_OUTPUT, NEED_TOLD


@compiled
def match(
    text: Array,
    bounds: Array,
    slots: Array,
    starts: Array,
    strings: Array,
    numbers: Array,
    flags: Array,
    keys: Array,
    heads: Array,
    bits: Array,
    grams: Array,
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
    candidates: Array,
    spent: Array,
    out: Array,
    members: Array,
    entries: Array,
    told: Array,
    ends: Array,
    free_flags: int,
    most_rows: int,
    most_steps: int,
) -> tuple[int, int, int, int]:
    """Match the documents bounds[i]..bounds[i + 1] of the text.

    Gives how it ended, how much output there is, how many rows of `told`, and the flags of all matches together. When
    it ends for want of room, call again with more.
    """
    used = 0
    last = bounds[bounds.size - 1]
    for document in range(bounds.size - 1):
        start, end = bounds[document], bounds[document + 1]
        triples, _ = read(text, start, end, last, slots, starts, strings, work, unit)
        if triples == -2:
            return NEED_LINES, 0, 0, 0
        if triples < 0:
            return MALFORMED, document, 0, 0
        found = seed(
            triples,
            text,
            starts,
            strings,
            flags,
            free_flags,
            keys,
            heads,
            bits,
            grams,
            records,
            parent_starts,
            parents,
            work,
            unit,
            values,
            queue,
            marks,
            candidates,
        )
        if found < 0:
            return NEED_CANDIDATES, 0, 0, 0
        if found > 0:
            touch(found, candidates, records, constants, code, entries, spent, marks)
            used = run(
                document,
                triples,
                found,
                candidates,
                text,
                starts,
                strings,
                numbers,
                records,
                constants,
                code,
                families,
                thresholds,
                parent_starts,
                parents,
                work,
                unit,
                values,
                queue,
                marks,
                spent,
                most_rows,
                most_steps,
                out,
                used,
            )
            if used < 0:
                return NEED_OUTPUT, 0, 0, 0
    count, met = tell(out, used, records, members, entries, told, ends)
    if count < 0:
        return NEED_TOLD, 0, 0, 0
    return DONE, used, count, met
