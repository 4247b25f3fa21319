"""Gathering: from changed triples to all triples that could stand in an answer together with them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from triplewire.matching.incremental.fans import Fan, PutOff
from triplewire.matching.incremental.groups import REQUIRED, Origin, Users
from triplewire.matching.incremental.lookups import Lookups, Triple
from triplewire.matching.incremental.neighbourhood import HIGH, MOST_TRIPLES, Neighbourhood
from triplewire.matching.incremental.plans import Bindings, ShapePlan, plan_of
from triplewire.matching.incremental.shapes import Shape


class Seed(NamedTuple):
    """A triple that fits an atom: the number of the atom's shape, the position there, the triple, the atom's number."""

    shape: int
    position: int
    triple: Triple
    atom: int


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was found: `triples`, and what is `refused` because it would take too many, with the reason.

    By shape number for `gather`, by the question's place for `solve`. The others are served whole.
    """

    triples: set[Triple]
    refused: dict[int, str]
    fans: tuple[Fan, ...] = ()
    """Fans that were put off."""
    put_off: frozenset[tuple[int, int, Triple]] = frozenset()
    """Seeds that were put off as a whole: shape, position, triple."""


def gather(
    seeds: Iterable[Seed],
    shapes: Mapping[int, Shape],
    lookups: Lookups,
    users: Users | None = None,
    *,
    high: int = HIGH,
    most_triples: int = MOST_TRIPLES,
    popular: int | None = None,
    deep: bool = True,
) -> Gathered:
    """The triples of every solution that uses a seed at its position, of any conjunction of the seed's shape.

    For a seed at an optional position: those of every required solution that it could widen, with all that widens it;
    whether the seed is there or not. There may be more triples than needed, never fewer.
    `users` lets a partial match go by constants where its shape leads to a hub; without, it never does. Where the
    smallest way is more than `popular` triples, it is put off (`fans`); with `deep` wherever that is, else only where
    a seed is put off as a whole.
    """
    put_off = None if popular is None else PutOff(popular, deep=deep)
    found = Neighbourhood(lookups, users, high, most_triples, put_off)
    by_place: defaultdict[tuple[int, int], defaultdict[Triple, list[int]]] = defaultdict(lambda: defaultdict(list))
    for shape, position, triple, atom in seeds:
        by_place[shape, position][triple].append(atom)
    plans = plans_of({number: shapes[number] for number, _ in by_place}, lookups)
    for (number, position), triples in by_place.items():
        plan = plans[number]
        if plan.required is not None:
            _plant(found, number, plan, position, _bound(plan, position, triples))
    found.run()
    if put_off is None:
        return Gathered(found.triples, found.refused)
    return Gathered(found.triples, found.refused, tuple(put_off.fans.values()), frozenset(put_off.seeds))


def plans_of(shapes: Mapping[int, Shape], lookups: Lookups) -> dict[int, ShapePlan]:
    """The plans of shapes; their predicates are looked up together."""
    texts = list(dict.fromkeys(text for shape in shapes.values() for text in shape.predicates))
    numbers = dict(zip(texts, lookups.terms(texts), strict=True))
    return {key: plan_of(shape, tuple(numbers[text] for text in shape.predicates)) for key, shape in shapes.items()}


def _bound(plan: ShapePlan, position: int, triples: Mapping[Triple, list[int]]) -> dict[Bindings, Origin]:
    """The partial matches that triples make at a position; a triple that does not fit it makes none."""
    subject, predicate, slot, object = plan.atoms[position]
    found: dict[Bindings, Origin] = {}
    match = [0] * (plan.width + 1)  # the last one is for a predicate that is no variable: slot -1
    for triple, atoms in triples.items():
        match[subject], match[slot], match[object] = triple
        if (match[subject], match[slot], match[object]) == triple and predicate in (0, triple[1]):
            found[tuple(match[:-1])] = tuple(atoms) if len(atoms) == 1 else tuple(dict.fromkeys(atoms))
    return found


def _plant(found: Neighbourhood, owner: int, plan: ShapePlan, position: int, matches: dict[Bindings, Origin]) -> None:
    """Put in the partial matches of a position: one of the required ones, or the way from an optional part to them."""
    assert plan.required is not None
    bound = plan.atoms[position].mask
    if position < len(plan.required.atoms):
        found.put(found.group(owner, plan, plan.required, 1 << position, bound, REQUIRED), matches)
        return
    by_lineage: defaultdict[Origin, dict[Bindings, Origin]] = defaultdict(dict)
    for match, origin in matches.items():
        by_lineage[origin][match] = origin
    path = plan.paths[position]
    for lineage, alike in by_lineage.items():
        if path is None:
            found.begin_required(owner, plan, bound, lineage, alike)
        else:
            found.put(found.group(owner, plan, path, 0, bound, lineage), alike)


def thinned(seeds: Sequence[Seed], shapes: Mapping[int, Shape], last_known: int) -> list[Seed]:
    """Seeds that lead to the same answers; subjects with a number over `last_known` are new, with all their triples.

    Where an answer needs several triples of a new subject, each of them is a seed, and it is enough to begin with those
    of one position, the one that the fewest have; if a position has none, there is no answer at all. The seeds are all
    that the triples of new subjects give. Those at optional positions stay as they are.
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
