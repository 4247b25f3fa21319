"""Gathering: from changed triples, or from fixed variables, to all triples that could stand in an answer with them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from triplewire.algebra.pattern import Conjunction
from triplewire.matching.incremental.fans import Fan, PutOff
from triplewire.matching.incremental.groups import BY_CONSTANTS, REQUIRED, Origin, Users, bound_by
from triplewire.matching.incremental.lookups import Lookups, Triple
from triplewire.matching.incremental.neighbourhood import HIGH, MOST_TRIPLES, Neighbourhood
from triplewire.matching.incremental.plans import Bindings, ShapePlan, plan_of
from triplewire.matching.incremental.shapes import Shape, Shaped, shape_of

Question = tuple[Conjunction, Mapping[str, int]]
"""A conjunction, and terms for some of its variables."""


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
    count = Counter(subject for subject, _, _ in shape.required)
    return {position: subject for position, (subject, _, _) in enumerate(shape.required) if count[subject] > 1}


def solve(
    questions: Sequence[Question], lookups: Lookups, *, high: int = HIGH, most_triples: int = MOST_TRIPLES
) -> Gathered:
    """The triples of all solutions of each question, optional parts included; all questions advance together.

    Only required variables are fixed: a row is told by all that widens it, so optional parts are looked up whole.
    Conditions are left to the index that matches what is found. Equal conjunctions are refused together.

    Conjunctions of one shape are one owner, because many partial matches advance at the price of a few. Only if they
    take too much together does each of them answer for itself.
    """
    asked: defaultdict[Conjunction, list[int]] = defaultdict(list)
    for place, (conjunction, _) in enumerate(questions):
        asked[conjunction].append(place)
    shaped = {places[0]: shape_of(conjunction) for conjunction, places in asked.items()}
    plans = plans_of({first: one.shape for first, one in shaped.items()}, lookups)
    numbers = _numbers(list(shaped.values()), lookups)

    def search(owners: Mapping[int, int]) -> Neighbourhood:
        """What the conjunctions take that have an owner; each is known by its first place."""
        found = Neighbourhood(lookups, None, high, most_triples)
        together: defaultdict[tuple[int, int], dict[Bindings, Origin]] = defaultdict(dict)
        for places in asked.values():
            first = places[0]
            if first not in owners or plans[first].required is None:
                continue
            for place in places:
                match = _fixed(plans[first], shaped[first], numbers, questions[place][1])
                if match is not None:
                    together[owners[first], bound_by(match)][match] = BY_CONSTANTS
        for (owner, bound), matches in together.items():
            plan = plans[owner]
            assert plan.required is not None
            found.put(found.group(owner, plan, plan.required, 0, bound, BY_CONSTANTS), matches)
        found.run()
        return found

    like: dict[ShapePlan, int] = {}
    owners = {first: like.setdefault(plan, first) for first, plan in plans.items()}
    found = search(owners)
    triples, reasons = found.triples, found.refused
    shared = {owner for owner, count in Counter(owners.values()).items() if count > 1 and owner in reasons}
    if shared:
        again = search({first: first for first, owner in owners.items() if owner in shared})
        triples = triples | again.triples
        reasons = {owner: reason for owner, reason in reasons.items() if owner not in shared} | again.refused
    refused = {place: reasons[places[0]] for places in asked.values() for place in places if places[0] in reasons}
    return Gathered(triples, refused)


def _numbers(shaped: list[Shaped], lookups: Lookups) -> dict[str, int]:
    texts = list(dict.fromkeys(str(constant) for one in shaped for constant in one.constants))
    return dict(zip(texts, lookups.terms(texts), strict=True))


def _fixed(plan: ShapePlan, shaped: Shaped, numbers: Mapping[str, int], bindings: Mapping[str, int]) -> Bindings | None:
    """The partial match with the constants and what is given; None if a required constant is in no triple."""
    assert plan.required is not None
    match = [0] * plan.width
    for slot, constant in zip(plan.constants, shaped.constants, strict=True):
        match[slot] = numbers[str(constant)]
        if not match[slot] and plan.required.mask >> slot & 1:
            return None
    for name, number in bindings.items():
        slot_of = shaped.slots.get(name, -1)
        if slot_of >= 0 and plan.required.mask >> slot_of & 1:
            match[slot_of] = number
    return tuple(match)
