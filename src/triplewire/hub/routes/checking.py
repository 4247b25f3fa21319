"""Checking: a query while it is being written; of one that stands, its picture, and what happened last."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse

from triplewire.algebra.pattern import Pattern
from triplewire.engine.connection import record_of
from triplewire.engine.inspect.suggestions import Unheard, unheard
from triplewire.engine.subscriptions.registrations import as_written, read_for_person, refuse_unserved
from triplewire.errors import QueryError
from triplewire.hub.messages import FindingTold
from triplewire.hub.routes.questions import found_in
from triplewire.hub.routes.subscriptions import Id
from triplewire.hub.service import BoundedRoute, Reading
from triplewire.hub.sights.messages import CheckQuery, CheckTold, Mistake, Picture
from triplewire.hub.sights.pictures import picture
from triplewire.wire.events import EventPage

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["queries"])

_MOST_ALTERNATIVES = 8


@router.post("/check", summary="Check a query while it is written", response_model=CheckTold)
def check(access: Reading, query: CheckQuery) -> CheckTold:
    """The picture of a text that is a query, with what lint finds; of another one, what is wrong with it and where."""
    hub = access.tenant.hub
    try:
        with hub.store.reading() as reader:
            pattern, written = read_for_person(reader, query.text, query.language, query.prefixes)
            missing = unheard(reader.seen_by(access.viewer), hub.taxonomy, pattern)
        refuse_unserved(pattern, query.scope, query.language)
    except QueryError as error:
        mistake = Mistake(
            reason=error.reason,
            line=error.line,
            column=error.column,
            expected=list(error.expected),
            hint=error.hint,
        )
        return CheckTold(mistake=mistake, picture=None, findings=[])
    findings = found_in(written, hub.taxonomy)
    never = [each for each in (*findings, *found_in(pattern, hub.taxonomy)) if each.severity == "error"]
    if never:  # also by alternatives that only the normal form takes apart; what else there is does not matter then
        return CheckTold(mistake=None, picture=drawn(written), findings=never[:1])
    return CheckTold(mistake=None, picture=drawn(written), findings=[*map(_told, missing), *findings])


@router.get("/subscriptions/{id}/picture", summary="The picture of a subscription", response_model=Picture)
def picture_of(access: Reading, id: Id) -> Picture:
    """What it asks for, as graphs to be drawn."""
    hub = access.tenant.hub
    told = hub.subscription(id)
    with hub.store.reading() as reader:
        return drawn(as_written(reader, told.text, told.language, told.pattern))


@router.get("/subscriptions/{id}/recent", summary="The last events", response_model=EventPage)
def recent(
    access: Reading, id: Id, limit: Annotated[int, Query(ge=1, le=200, description="How many of them.")] = 50
) -> JSONResponse:
    """The last events of a subscription, in order, with the content before and after; `next` is where to go on."""
    hub = access.tenant.hub
    with hub.store.reading() as reader:
        last = min(
            reader.log.last_cursor(), record_of(reader, id).last_cursor
        )  # the end of what is told, if it is paused
    found = access.see(id, lambda: [event.as_dict() for event in reversed(hub.newest(id, limit=limit))])
    return JSONResponse({"events": found, "next": found[-1]["cursor"] if found else last})


def _told(missing: Unheard) -> FindingTold:
    return FindingTold(
        kind="unheard",
        severity="warning",
        message=missing.message,
        branch=None,
        others=[],
        term=str(missing.term),
        suggestions=[*map(str, missing.suggestions)],
    )


def drawn(pattern: Pattern) -> Picture:
    """The picture of a pattern."""
    alternatives = picture(pattern)
    has_more, told = len(alternatives) > _MOST_ALTERNATIVES, alternatives[:_MOST_ALTERNATIVES]
    return Picture(columns=list(pattern.answer), alternatives=told, has_more=has_more)
