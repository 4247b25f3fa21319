"""Subscriptions: made, listed, forgotten; their rows, and why these are answers or why others are not."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Response
from starlette.concurrency import run_in_threadpool

from triplewire.engine.subscribing import compiled
from triplewire.errors import BadRequest, DuplicateSubscription, UnknownSubscription
from triplewire.hub.downloads import FILES, PAGE, Accept, FormatName, Source, download, wanted
from triplewire.hub.messages import (
    NO_NUL,
    Explained,
    Name,
    NewSubscription,
    Rows,
    Subscriptions,
    SubscriptionTold,
    WhyNotResource,
    WhyRow,
    WhyTold,
)
from triplewire.hub.routes.questions import explained
from triplewire.hub.service import Access, BoundedRoute, Reading
from triplewire.model import Subscription, Term, parse_term
from triplewire.store import EVERYBODY
from triplewire.tables import RowLayout

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["subscriptions"])

Id = Annotated[Name, Path(description="The id of the subscription.")]


@router.get("/subscriptions", summary="List subscriptions", response_model=Subscriptions)
def listing(
    access: Reading,
    owner: Annotated[
        str | None, Query(max_length=200, pattern=NO_NUL, description="Only those of this account.")
    ] = None,
    after: Annotated[str, Query(max_length=200, pattern=NO_NUL, description="The id that the page follows.")] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> Subscriptions:
    """The subscriptions that stand, by id."""
    hub = access.tenant.hub
    with hub.store.reading() as reader:
        found = [record.id for record in reader.subscriptions.listing(after, limit, owner=owner)]
    told = [_told(access, hub.subscription(id)) for id in found]
    return Subscriptions(subscriptions=told, next=found[-1] if len(found) == limit else None)


@router.post("/subscriptions", summary="Subscribe", status_code=201, response_model=SubscriptionTold)
async def subscribe(access: Reading, wanted: NewSubscription, response: Response) -> SubscriptionTold:
    """Register a query; an id is made if none is given."""
    made = await subscribed(access, wanted, wanted.id)
    response.headers["Location"] = f"/v1/subscriptions/{quote(made.id, safe='')}"
    return _told(access, made)


@router.put(
    "/subscriptions/{id}",
    summary="Subscribe under an id",
    response_model=SubscriptionTold,
    responses={201: {"model": SubscriptionTold, "description": "The subscription is new."}},
)
async def put(access: Reading, id: Id, wanted: NewSubscription, response: Response) -> SubscriptionTold:
    """Register a query under an id. The same query again changes nothing; another one needs another id."""
    if wanted.id not in (None, id):
        raise BadRequest(f"the address says that the id is {id!r}, and the body {wanted.id!r}; leave one out")
    try:
        there = await run_in_threadpool(access.tenant.hub.subscription, id)
    except UnknownSubscription:
        response.status_code = 201
        return _told(access, await subscribed(access, wanted, id))
    if not await run_in_threadpool(_is_same, access, there, wanted):
        raise DuplicateSubscription(id)
    return _told(access, there)


@router.get("/subscriptions/{id}", summary="Read a subscription", response_model=SubscriptionTold)
def read(access: Reading, id: Id, response: Response) -> SubscriptionTold:
    """A subscription as it stands; its links lead to its feed and its inbox."""
    place = f"/v1/subscriptions/{quote(id, safe='')}"
    response.headers["Link"] = f'<{place}/inbox>; rel="http://www.w3.org/ns/ldp#inbox", <{place}/feed>; rel="alternate"'
    return _told(access, access.tenant.hub.subscription(id))


@router.delete("/subscriptions/{id}", summary="Unsubscribe", status_code=204)
async def unsubscribe(access: Reading, id: Id) -> None:
    """Forget a subscription, its rows and its events; who follows them is told that it is gone."""
    await forget(access, id)


@router.get(
    "/subscriptions/{id}/rows",
    summary="List the answers",
    response_model=Rows,
    responses={200: {"content": FILES}},
)
async def rows(
    access: Reading,
    id: Id,
    response: Response,
    after: Annotated[str, Query(pattern="^([0-9a-f]{2}){0,64}$", description="The cursor that the page follows.")] = "",
    limit: Annotated[int, Query(ge=1, le=10_000, description="Rows on a page of JSON.")] = PAGE,
    format: FormatName = None,
    accept: Accept = None,
) -> Rows | Response:
    """What answers a subscription now: in pages of JSON, or all of it as a file.

    Who follows `next` to the end gets every row that was an answer all the time, and no row twice; a row that came or
    went meanwhile may be among them or not. The same holds for a file.
    """
    chosen = wanted(format, accept)
    hub = access.tenant.hub
    columns = await run_in_threadpool(lambda: hub.subscription(id).pattern.answer)
    if chosen is not None:
        source = Source("rows", RowLayout(columns), lambda cursor: hub.row_page(id, after=cursor, limit=PAGE), after)
        return await download(access, id, chosen, source)
    found = await run_in_threadpool(access.see, id, lambda: hub.row_page(id, after=after, limit=limit))
    told = [{name: str(term) for name, term in row.items()} for row in found.rows]
    response.headers["Vary"] = "Accept"
    return Rows(columns=list(columns), rows=told, next=found.next)


@router.get("/subscriptions/{id}/explain", summary="Explain a subscription", response_model=Explained)
def explain(access: Reading, id: Id) -> Explained:
    """How it is matched, and what it is in the other languages."""
    hub = access.tenant.hub
    return explained(id, hub.subscription(id).pattern, hub.taxonomy)


@router.post("/subscriptions/{id}/why", summary="Why is this row an answer?", response_model=WhyTold)
def why(access: Reading, id: Id, asked: WhyRow) -> WhyTold:
    """The triples that make a row, the documents that state them, and the conditions that they passed."""
    row = {name: term_of(text) for name, text in asked.row.items()}
    told = access.see(id, lambda: access.tenant.hub.why(id, row))
    return WhyTold.model_validate(told.as_dict() | {"text": str(told)})


@router.post("/subscriptions/{id}/why-not", summary="Why is this resource no answer?")
def why_not(access: Reading, id: Id, asked: WhyNotResource) -> dict[str, object]:
    """The first part of the query that fits nothing, with the values seen by then."""
    resource = term_of(asked.resource)
    told = access.see(id, lambda: access.tenant.hub.why_not(id, resource))
    return told.as_dict() | {"text": str(told)}


def queries_of(access: Access, id: str) -> tuple[int, ...]:
    """The numbers under which the log has the events of a subscription: those of its query, and its own."""
    with access.tenant.hub.store.reading() as reader:
        (record,) = reader.subscriptions.find([id])
    if record is None:
        raise UnknownSubscription(id)
    return record.query, -record.number


async def forget(access: Access, id: str) -> None:
    """Unsubscribe, if it is the caller's, and tell whoever follows it."""

    def unsubscribe() -> None:
        access.require_owner(access.tenant.hub.subscription(id).owner)
        access.tenant.hub.unsubscribe(id)

    queries = await run_in_threadpool(queries_of, access, id)
    await run_in_threadpool(unsubscribe)
    access.tenant.bell.wake(queries)


def term_of(text: str) -> Term:
    """A term as people write it; BadRequest if it is none."""
    try:
        return parse_term(text if text.startswith(("<", '"', "_:")) else f"<{text}>")
    except ValueError as error:
        raise BadRequest(f"{text!r} is no term: {error}; write an IRI, or a term as in N-Triples") from None


async def subscribed(access: Access, wanted: NewSubscription, id: str | None) -> Subscription:
    """Registered, if the quotas allow it: one at a time, so that each count is right."""

    def register() -> Subscription:
        quotas = access.tenant.quotas
        quotas.check_subscriptions()
        viewer = EVERYBODY if wanted.sees == "everybody" else access.viewer
        quotas.check_cost(wanted.text, wanted.language, wanted.prefixes, viewer)
        if wanted.start == "ever":  # what answers it already is told at once
            quotas.check_events()
        return access.tenant.hub.subscribe(
            wanted.text,
            language=wanted.language,
            id=id,
            scope=wanted.scope,
            start=wanted.start,
            owner=access.account.id or None,
            viewer=viewer,
            prefixes=wanted.prefixes,
        )

    async with access.tenant.subscribing:
        return await run_in_threadpool(register)


def _is_same(access: Access, there: Subscription, wanted: NewSubscription) -> bool:
    with access.tenant.hub.store.reading() as reader:
        pattern = compiled(reader, wanted.text, wanted.language, wanted.prefixes)
    asked = wanted.text, wanted.language, wanted.scope, wanted.start, pattern
    return asked == (there.text, there.language, there.scope, there.start, there.pattern)


def _told(access: Access, subscription: Subscription) -> SubscriptionTold:
    """That its rows are out of date says something of documents: it is told to who made it, or may see the rows."""
    is_seen = access.viewer in (None, subscription.owner) or subscription.viewer in (EVERYBODY, access.viewer)
    return SubscriptionTold(
        id=subscription.id,
        text=subscription.text,
        language=subscription.language,
        scope=subscription.scope,
        start=subscription.start,
        owner=subscription.owner,
        columns=list(subscription.pattern.answer),
        viewer=subscription.viewer,
        stale_since=subscription.stale_since if is_seen else None,
    )
