"""News: the events of all subscriptions of the caller together, and which of them are new (X7, G6)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse

from triplewire.hub.messages import InboxMark, Name
from triplewire.hub.routes.events import Contents, Since, Until
from triplewire.hub.routes.subscriptions import Words
from triplewire.hub.service import Admission, BoundedRoute, Reading
from triplewire.wire.events import InboxTold, NewsTold

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["events"])

Kinds = Annotated[
    list[Literal["matched", "changed", "unmatched"]] | None,
    Query(description="Only events of these kinds; all, if none."),
]
Of = Annotated[
    list[Name] | None, Query(max_length=100, description="Only events of these subscriptions; all, if none.")
]
Before = Annotated[
    str | None, Query(pattern=r"^\d{1,19}(\.\d{1,9})?$", description="The `next` of the page that this one follows.")
]


@router.get("/inbox", summary="Read the events of all subscriptions", response_model=InboxTold)
def inbox(
    access: Reading,
    subscription: Of = None,
    kind: Kinds = None,
    since: Since = None,
    until: Until = None,
    q: Words = "",
    before: Before = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    contents: Contents = False,
) -> JSONResponse:
    """The events of the caller's subscriptions (of all, for an admin), the newest first, with their titles.

    A page looks at 5,000 events at most. One that was cut says so, and may be short or empty: `next` leads on.
    """
    hub = access.tenant.hub
    with hub.store.reading() as reader:
        sees = access.sight(reader)
    found = hub.inbox(
        owner=_owner(access),
        subscriptions=subscription or (),
        kinds=kind or (),
        since=since,
        until=until,
        words=q,
        before=before,
        limit=limit,
        sees=sees,
    )
    told: list[dict[str, Any]] = [item.event.as_dict(contents=contents) | {"title": item.title} for item in found.items]
    access.require_sights(item.event.subscription for item in found.items)
    return JSONResponse({"events": told, "next": found.next, "is_cut": found.is_cut})


@router.get("/inbox/news", summary="Count what is new", response_model=NewsTold)
def news(access: Reading) -> NewsTold:
    """How many events of the caller's subscriptions came since it has looked: of each, up to 1,000, and in all."""
    hub = access.tenant.hub
    with hub.store.reading() as reader:
        sees = access.sight(reader)
    found = hub.news(account=access.account.id, owner=_owner(access), sees=sees)
    access.require_sights(id for id, _, _ in found.subscriptions)
    return NewsTold.of(found)


@router.get("/inbox/mark", summary="Read up to where the caller has looked", response_model=InboxMark)
def mark(access: Reading) -> InboxMark:
    """A cursor; 0 if the caller has never set it."""
    with access.tenant.hub.store.reading() as reader:
        return InboxMark(cursor=reader.marks.of(access.account.id))


@router.put("/inbox/mark", summary="Set up to where the caller has looked", response_model=InboxMark)
def set_mark(access: Reading, wanted: InboxMark) -> InboxMark:
    """Events up to this cursor are not new any more, for this account; a cursor beyond the last event is the last."""
    return InboxMark(cursor=access.tenant.hub.mark(wanted.cursor, account=access.account.id))


def _owner(access: Admission) -> str | None:
    """Whose subscriptions are the caller's: all of them, for an admin and where nobody is asked who they are."""
    return None if access.viewer is None else access.account.id
