"""Checking: a query while it is being written; of one that stands, its picture, and what happened last."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from triplewire.algebra.pattern import Pattern
from triplewire.engine.connected import record_of
from triplewire.engine.subscribing import compiled, refuse_unserved
from triplewire.errors import QueryError
from triplewire.hub.messages import Events
from triplewire.hub.pictures import picture
from triplewire.hub.routes.questions import found_in
from triplewire.hub.routes.subscriptions import Id
from triplewire.hub.service import BoundedRoute, Reading
from triplewire.hub.sights import AlternativeTold, Checked, CheckQuery, Mistake, Picture

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["queries"])

_MOST_ALTERNATIVES = 8


@router.post("/check", summary="Check a query while it is written", response_model=Checked)
def check(access: Reading, query: CheckQuery) -> Checked:
    """The picture of a text that is a query, with what lint finds; of another one, what is wrong with it and where."""
    hub = access.tenant.hub
    try:
        with hub.store.reading() as reader:
            pattern = compiled(reader, query.text, query.language, query.prefixes)
        refuse_unserved(pattern, query.scope, query.language)
    except QueryError as error:
        mistake = Mistake(
            reason=error.reason,
            line=error.line,
            column=error.column,
            expected=list(error.expected),
            hint=error.hint,
        )
        return Checked(mistake=mistake, picture=None, findings=[])
    return Checked(mistake=None, picture=drawn(pattern), findings=found_in(pattern, hub.taxonomy))


@router.get("/subscriptions/{id}/picture", summary="The picture of a subscription", response_model=Picture)
def picture_of(access: Reading, id: Id) -> Picture:
    """What it asks for, as graphs to be drawn."""
    return drawn(access.tenant.hub.subscription(id).pattern)


@router.get("/subscriptions/{id}/recent", summary="The last events", response_model=Events)
def recent(
    access: Reading, id: Id, limit: Annotated[int, Query(ge=1, le=200, description="How many of them.")] = 50
) -> Events:
    """The last events of a subscription, in order, with the content before and after; `next` is where to go on."""
    hub = access.tenant.hub
    with hub.store.reading() as reader:
        last = min(
            reader.log.last_cursor(), record_of(reader, id).last_cursor
        )  # the end of what is told, if it is paused
    found = access.see(id, lambda: [event.as_dict() for event in reversed(hub.newest(id, limit=limit))])
    return Events.model_validate({"events": found, "next": found[-1]["cursor"] if found else last})


def drawn(pattern: Pattern) -> Picture:
    """The picture of a pattern."""
    alternatives = picture(pattern)
    told = [AlternativeTold.model_validate(asdict(each)) for each in alternatives[:_MOST_ALTERNATIVES]]
    return Picture(columns=list(pattern.answer), alternatives=told, has_more=len(alternatives) > _MOST_ALTERNATIVES)
