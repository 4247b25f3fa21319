"""Solving: the triples of all solutions of a conjunction, with some of its variables fixed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from triplewire.algebra.pattern import Conjunction
from triplewire.matching.incremental.gather import Gathered, plans_of
from triplewire.matching.incremental.groups import BY_CONSTANTS, Origin, bound_by
from triplewire.matching.incremental.lookups import Lookups
from triplewire.matching.incremental.neighbourhood import HIGH, MOST_TRIPLES, Neighbourhood
from triplewire.matching.incremental.plans import Bindings, ShapePlan
from triplewire.matching.incremental.shapes import Shaped, shape_of

Question = tuple[Conjunction, Mapping[str, int]]
"""A conjunction, and terms for some of its variables."""


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
    """The numbers of all constants, looked up together."""
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
