"""Thinning: which seeds may be left out, because another seed finds the same answers.

All that is said of a *new* subject comes with the batch. So where an answer needs several triples of it, each of them
is a seed; and it is enough to begin with those of one position. If a position has none, there is no answer at all.
Most new resources are of a kind that many ask for, and have a property that few ask for: they begin with the latter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from triplewire.matching.incremental.gather import Seed
from triplewire.matching.incremental.shapes import Shape


def thinned(seeds: Sequence[Seed], shapes: Mapping[int, Shape], last_known: int) -> list[Seed]:
    """Seeds that lead to the same answers; subjects with a number over `last_known` are new, with all their triples.

    The seeds are all that the triples of new subjects give. Those at optional positions stay as they are.
    """
    shared = {number: _shared_subjects(shapes[number]) for number in {seed.shape for seed in seeds}}
    kept: list[Seed] = []
    found: defaultdict[tuple[int, int, int], dict[int, list[Seed]]] = defaultdict(dict)
    for seed in seeds:
        shape, position, (resource, _, _), _ = seed
        subject = shared[shape].get(position) if resource > last_known else None
        if subject is None:
            kept.append(seed)
        else:
            found[shape, subject, resource].setdefault(position, []).append(seed)
    often = Counter((shape, position) for (shape, _, _), by_position in found.items() for position in by_position)
    sizes = {number: Counter(subjects.values()) for number, subjects in shared.items()}
    for (shape, subject, _), by_position in found.items():
        if len(by_position) == sizes[shape][subject]:
            kept += by_position[min(by_position, key=lambda position: (often[shape, position], position))]
    return kept


def _shared_subjects(shape: Shape) -> dict[int, int]:
    """The subjects of required positions, where several have the same one."""
    count = Counter(subject for subject, _, _ in shape.required)
    return {position: subject for position, (subject, _, _) in enumerate(shape.required) if count[subject] > 1}
