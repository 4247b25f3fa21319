"""How an exchange is spelled: each side reads what the other one may say, and no more.

asked      {"asked": [number, question]}       of an edge, or a hub of a backbone
told       {"told": [number, answer]}          of a hub
pass       {"pass": [number, changes]}         between hubs of a backbone: to the home of these documents
passed     {"passed": [number, outcome]}       by which batch the home has applied them
declined   {"declined": [number, problem]}     of a hub
nothing    null                                of either: what was told before does not count any more
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from triplewire.network.channels.spelling import BodySpelling, Json, whole_of
from triplewire.network.exchange import Asked, Declined, Replied
from triplewire.wire.backbones import MemberAnswer, MemberQuestion, PassedChanges, PassedTold
from triplewire.wire.edges import EdgeAnswer, EdgeQuestion, as_json
from triplewire.wire.messages import read, read_strictly

EDGE_LINK = "/v1/edges/link"
"""Where a hub is dialled by its edges."""
BACKBONE_LINK = "/v1/backbone/link"
"""Where a hub is dialled by the others of its backbone."""
NEVER = 86_400.0
"""Seconds after which an end says again what was not acknowledged: a channel loses nothing while it lasts."""
HEARTBEAT = 2.0
"""Seconds between two words of an end that has nothing to say."""


def edge_bodies() -> BodySpelling:
    """As an edge spells and reads them."""
    return BodySpelling(_spelled, lambda told: None if told is None else _answered(told), lambda body: True)


def hub_bodies(read_question: Callable[[Mapping[str, Any]], EdgeQuestion]) -> BodySpelling:
    """As a hub spells and reads them; `read_question` refuses what is no question, with a ValueError."""

    def asked(told: Json) -> Asked | None:
        if told is None:
            return None
        ((kind, (number, question)),) = told.items()
        if kind != "asked":
            raise ValueError(f"{kind!r} is nothing that an edge says")
        return Asked(whole_of(number), read_question(question))

    return BodySpelling(_spelled, asked, lambda body: True)


def member_bodies() -> BodySpelling:
    """As hubs of a backbone spell and read them: both ask, and both answer."""
    return BodySpelling(_spelled, lambda told: None if told is None else _said_by_member(told), lambda body: True)


def _spelled(body: Any) -> Json:
    match body:
        case Asked(number, EdgeQuestion() as question):
            return {"asked": [number, as_json(question)]}
        case Replied(number, EdgeAnswer() as answer):
            return {"told": [number, as_json(answer)]}
        case Asked(number, MemberQuestion() as asked):
            return {"asked": [number, asdict(asked)]}
        case Replied(number, MemberAnswer() as told):
            return {"told": [number, asdict(told)]}
        case Asked(number, PassedChanges() as changes):
            return {"pass": [number, asdict(changes)]}
        case Replied(number, PassedTold() as outcome):
            return {"passed": [number, asdict(outcome)]}
        case Declined(number, problem):
            return {"declined": [number, dict(problem)]}
    assert body is None, "nothing else is said"
    return None


def _answered(told: Json) -> Replied | Declined:
    ((kind, (number, given)),) = told.items()
    if kind == "told":
        return Replied(whole_of(number), read(EdgeAnswer, given))
    if kind != "declined" or not isinstance(given, dict):
        raise ValueError(f"{kind!r} is nothing that a hub says")
    return Declined(whole_of(number), given)


def _said_by_member(told: Json) -> Asked | Replied | Declined:
    ((kind, (number, given)),) = told.items()
    match kind:
        case "asked":
            return Asked(whole_of(number), read_strictly(MemberQuestion, given))
        case "pass":
            return Asked(whole_of(number), read_strictly(PassedChanges, given))
        case "told":
            return Replied(whole_of(number), read_strictly(MemberAnswer, given))
        case "passed":
            return Replied(whole_of(number), read_strictly(PassedTold, given))
    if kind != "declined" or not isinstance(given, dict):
        raise ValueError(f"{kind!r} is nothing that a hub of a backbone says")
    return Declined(whole_of(number), given)
