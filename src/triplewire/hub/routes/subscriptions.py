"""Subscriptions: made, listed, edited, forgotten; their rows, and why these are answers or why others are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated
from urllib.parse import quote
from uuid import uuid4

from fastapi import APIRouter, Header, Path, Query, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from triplewire.engine.connection import record_of
from triplewire.engine.inspect.summaries import SummaryFilter, page, summaries_of
from triplewire.engine.subscriptions.registrations import as_written, compiled
from triplewire.errors import BadRequest, SubscriptionChanged, UnknownSubscription
from triplewire.hub.downloads import FILES, PAGE, Accept, DownloadSource, FormatName, download, wanted
from triplewire.hub.messages import (
    NO_NUL,
    EditSubscription,
    Explained,
    Name,
    NewDuplicate,
    NewSubscription,
    WhyNotResource,
    WhyRow,
    WhyTold,
)
from triplewire.hub.reception import BoundedRoute
from triplewire.hub.routes.questions import drawn, explained
from triplewire.hub.service import Admission, Reading
from triplewire.hub.sights.messages import Picture
from triplewire.model import Sort, Subscription, Summary, Term, parse_term
from triplewire.store import EVERYBODY
from triplewire.tables import RowLayout
from triplewire.wire.events import RowsTold
from triplewire.wire.insights import insight_as_dict
from triplewire.wire.subscriptions import MissedTold, SubscriptionPage, SubscriptionTold

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["subscriptions"])

Id = Annotated[Name, Path(description="The id of the subscription.")]


Words = Annotated[
    str,
    Query(max_length=200, pattern=NO_NUL, description="Words that are in its id, title, description, text or owner."),
]
SortBy = Annotated[Sort, Query(description="By what; with a minus, the other way round.")]
IfMatch = Annotated[str | None, Header(description="Only if it is the one with this entity tag.")]


@router.get("/subscriptions", summary="List subscriptions")
def listing(
    access: Reading,
    owner: Annotated[
        str | None, Query(max_length=200, pattern=NO_NUL, description="Only those of this account.")
    ] = None,
    after: Annotated[str, Query(max_length=200, pattern=NO_NUL, description="The id that the page follows.")] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    q: Words = "",
    sort: SortBy = "id",
) -> SubscriptionPage:
    """The subscriptions that stand, each with how many answers it has, and when it was told something last.

    A search looks at 20,000 subscriptions for one page, so that a page may be short: `next` leads on. To sort by
    anything but the id, 5,000 at most may match.
    """
    try:
        with access.hub.store.reading() as reader:
            asked = SummaryFilter(owner, q, sort, after, limit)
            found = page(reader, asked, access.sight(reader))
    except ValueError as error:
        raise BadRequest(str(error)) from None
    return SubscriptionPage([_summed(access, each) for each in found.summaries], found.next)


@router.post("/subscriptions", summary="Subscribe", status_code=201)
async def subscribe(access: Reading, wanted: NewSubscription, response: Response) -> SubscriptionTold:
    """Register a query; an id is made if none is given."""
    made = await subscribed(access, wanted, wanted.id)
    return await _made(access, made.id, response)


@router.put(
    "/subscriptions/{id}",
    summary="Subscribe under an id, or edit",
    responses={201: {"model": SubscriptionTold, "description": "The subscription is new."}},
)
async def put(
    access: Reading, id: Id, wanted: NewSubscription, response: Response, if_match: IfMatch = None
) -> SubscriptionTold:
    """Register a query under an id, or let the subscription that has it ask this one; its owner or an admin may.

    It keeps its id, its deliveries and its log, in which one batch tells what begins and what ends. The same query
    again changes nothing; of scope, start, title and description, what is left out stays.
    """
    if wanted.id not in (None, id):
        raise BadRequest(f"the address says that the id is {id!r}, and the body {wanted.id!r}; leave one out")
    try:
        there = await run_in_threadpool(access.hub.subscription, id)
    except UnknownSubscription:
        if if_match is not None:
            raise SubscriptionChanged(id) from None
        await subscribed(access, wanted, id)
        response.status_code = 201
        return await _made(access, id, response)
    if "reach" in wanted.model_fields_set and wanted.reach != there.reach:
        raise BadRequest(
            "how far a subscription reaches cannot be changed, because its past events stay: subscribe anew"
        )
    given = wanted.model_dump(include=wanted.model_fields_set - {"id", "sees", "reach"})
    if if_match is None and await run_in_threadpool(_is_same, access, there, wanted, given):
        return await _read(access, id, response)
    if "sees" in wanted.model_fields_set and (wanted.sees == "everybody") != (there.viewer == EVERYBODY):
        raise BadRequest("what a subscription sees cannot be changed, because its past events stay; subscribe anew")
    return await _edited(access, id, EditSubscription.model_validate(given), response, if_match)


@router.patch("/subscriptions/{id}", summary="Edit a subscription")
async def patch(
    access: Reading, id: Id, wanted: EditSubscription, response: Response, if_match: IfMatch = None
) -> SubscriptionTold:
    """Change what is given, and nothing else: its text, its title, whether it is paused. Its owner or an admin may.

    While it is paused, nothing of it is told or sent, and it is matched; when it is not any more, everything that was
    missed is told, in order.
    """
    return await _edited(access, id, wanted, response, if_match)


@router.post("/subscriptions/{id}/duplicate", summary="Duplicate", status_code=201)
async def duplicate(access: Reading, id: Id, wanted: NewDuplicate, response: Response) -> SubscriptionTold:
    """The same once more, under an id of its own, for the caller; it counts what is published from now on."""

    def copied() -> str:
        hub, quotas = access.hub, access.tenant.quotas
        quotas.check_subscriptions()
        known = hub.subscription(id)
        viewer = EVERYBODY if known.viewer == EVERYBODY else access.viewer
        quotas.check_cost(known.pattern, known.language, {}, viewer)
        copy = replace(
            known,
            id=wanted.id or f"s-{uuid4().hex[:12]}",
            title=wanted.title or known.title,
            start="now",
            owner=access.account.id or None,
            viewer=viewer,
        )
        hub.subscribe_many([copy])
        return copy.id

    async with access.tenant.subscribing:
        made = await run_in_threadpool(copied)
    return await _made(access, made, response)


@router.get("/subscriptions/{id}", summary="Read a subscription")
async def read(access: Reading, id: Id, response: Response) -> SubscriptionTold:
    """A subscription as it stands; its links lead to its feed and its inbox."""
    place = _place(id)
    response.headers["Link"] = f'<{place}/inbox>; rel="http://www.w3.org/ns/ldp#inbox", <{place}/feed>; rel="alternate"'
    return await _read(access, id, response)


@router.get("/subscriptions/{id}/missed", summary="What is not told any more")
def missed(access: Reading, id: Id) -> MissedTold:
    """What came while it was paused, and was more than was to wait for it, by cursors; its owner may ask."""
    access.require_own(id)
    return MissedTold(access.hub.missed(id))


@router.delete("/subscriptions/{id}", summary="Unsubscribe", status_code=204)
async def unsubscribe(access: Reading, id: Id) -> None:
    """Forget a subscription, its rows and its events; who follows them is told that it is gone."""
    await forget(access, id)


@router.get(
    "/subscriptions/{id}/rows",
    summary="List the answers",
    response_model=RowsTold,
    responses={200: {"content": FILES}},
)
async def rows(
    access: Reading,
    id: Id,
    after: Annotated[str, Query(pattern="^([0-9a-f]{2}){0,64}$", description="The cursor that the page follows.")] = "",
    limit: Annotated[int, Query(ge=1, le=10_000, description="Rows on a page of JSON.")] = PAGE,
    format: FormatName = None,
    accept: Accept = None,
) -> Response:
    """What answers a subscription now: in pages of JSON, or all of it as a file.

    Who follows `next` to the end gets every row that was an answer all the time, and no row twice; a row that came or
    went meanwhile may be among them or not. The same holds for a file.
    """
    chosen = wanted(format, accept)
    columns = await run_in_threadpool(lambda: access.hub.subscription(id).pattern.answer)
    if chosen is not None:
        source = DownloadSource(
            "rows", RowLayout(columns), lambda cursor: access.hub.row_page(id, after=cursor, limit=PAGE), after
        )
        return await download(access, id, chosen, source)
    found = await run_in_threadpool(access.see, id, lambda: access.hub.row_page(id, after=after, limit=limit))
    told = [{name: str(term) for name, term in row.items()} for row in found.rows]
    return JSONResponse(vars(RowsTold(list(columns), told, found.next)), headers={"Vary": "Accept"})


@router.get("/subscriptions/{id}/explain", summary="Explain a subscription")
def explain(access: Reading, id: Id) -> Explained:
    """How it is matched, and what it is in the other languages."""
    return explained(id, access.hub.subscription(id).pattern, access.hub.taxonomy)


@router.get("/subscriptions/{id}/picture", summary="The picture of a subscription")
def picture_of(access: Reading, id: Id) -> Picture:
    """What it asks for, as graphs to be drawn."""
    told = access.hub.subscription(id)
    with access.hub.store.reading() as reader:
        return drawn(as_written(reader, told.text, told.language, told.pattern))


@router.post("/subscriptions/{id}/why", summary="Why is this row an answer?")
def why(access: Reading, id: Id, asked: WhyRow) -> WhyTold:
    """The triples that make a row, the documents that state them, and the conditions that they passed."""
    row = {name: term_of(text) for name, text in asked.row.items()}
    told = access.see(id, lambda: access.hub.why(id, row))
    return WhyTold.model_validate(insight_as_dict(told))


@router.post("/subscriptions/{id}/why-not", summary="Why is this resource no answer?")
def why_not(access: Reading, id: Id, asked: WhyNotResource) -> dict[str, object]:
    """The first part of the query that fits nothing, with the values seen by then."""
    resource = term_of(asked.resource)
    told = access.see(id, lambda: access.hub.why_not(id, resource))
    return insight_as_dict(told)


def queries_of(access: Admission, id: str) -> tuple[int, ...]:
    """The numbers under which the log has the events of a subscription: those of its query, and its own."""
    with access.hub.store.reading() as reader:
        record = record_of(reader, id)
    return record.query, -record.number


async def forget(access: Admission, id: str) -> None:
    """Unsubscribe, if it is the caller's, and wake the clients that follow it."""

    def unsubscribe() -> None:
        access.require_owner(access.hub.subscription(id).owner)
        access.hub.unsubscribe(id)

    queries = await run_in_threadpool(queries_of, access, id)
    await run_in_threadpool(unsubscribe)
    access.tenant.bell.wake(queries)


def term_of(text: str) -> Term:
    """A term as people write it; BadRequest if it is none."""
    try:
        return parse_term(text if text.startswith(("<", '"', "_:")) else f"<{text}>")
    except ValueError as error:
        raise BadRequest(f"{text!r} is no term: {error}; write an IRI, or a term as in N-Triples") from None


async def subscribed(access: Admission, wanted: NewSubscription, id: str | None) -> Subscription:
    """Registered, if the quotas allow it: one at a time, so that each count is right."""

    def register() -> Subscription:
        quotas = access.tenant.quotas
        quotas.check_subscriptions()
        viewer = EVERYBODY if wanted.sees == "everybody" else access.viewer
        quotas.check_cost(wanted.text, wanted.language, wanted.prefixes, viewer)
        if wanted.start == "ever":  # what answers it already is told at once
            quotas.check_events()
        asked = wanted.model_dump(exclude={"id", "sees"})
        return access.hub.subscribe(**asked, id=id, owner=access.account.id or None, viewer=viewer)

    async with access.tenant.subscribing:
        return await run_in_threadpool(register)


async def _edited(
    access: Admission, id: str, wanted: EditSubscription, response: Response, if_match: str | None
) -> SubscriptionTold:
    """Changed, if it is the caller's, the quotas allow it, and nobody changed it meanwhile."""

    def edit() -> None:
        hub, quotas = access.hub, access.tenant.quotas
        there = hub.subscription(id)
        access.require_owner(there.owner)
        if wanted.asks or wanted.paused is False:
            access.require_own(id)
        if wanted.text is not None or wanted.language is not None:
            text, language = wanted.text or there.text, wanted.language or there.language
            quotas.check_cost(text, language, wanted.prefixes, there.viewer)
        if wanted.asks:
            quotas.check_events()  # what begins and ends is told at once
        given = wanted.model_dump(exclude_unset=True)
        given |= {name: given[name] or "" for name in ("title", "description") if name in given}
        hub.edit(id, **given, revision=_revision(if_match, there))

    async with access.tenant.subscribing:
        queries = await run_in_threadpool(queries_of, access, id)
        await run_in_threadpool(edit)
        access.tenant.bell.wake({*queries, *await run_in_threadpool(queries_of, access, id)})
    await access.service.ring(access.tenant)
    return await _read(access, id, response)


def _revision(if_match: str | None, there: Subscription) -> str | None:
    """The revision that an If-Match asks for: of several the one that is there."""
    tags = [tag.strip().strip('"') for tag in if_match.split(",")] if if_match is not None else ["*"]
    if "*" in tags:
        return None
    return there.revision if there.revision in tags else tags[0]


def _is_same(access: Admission, there: Subscription, wanted: NewSubscription, given: Mapping[str, object]) -> bool:
    """Whether a subscription is what is wanted already, as far as that is said."""
    with access.hub.store.reading() as reader:
        pattern = compiled(reader, wanted.text, wanted.language, wanted.prefixes)
    told = {"text", "scope", "start", "title", "description"} & given.keys()
    is_told = all((getattr(there, name) or None) == (given[name] or None) for name in told)
    return is_told and (there.language, there.pattern) == (wanted.language, pattern)


def _place(id: str) -> str:
    return f"/v1/subscriptions/{quote(id, safe='')}"


async def _made(access: Admission, id: str, response: Response) -> SubscriptionTold:
    response.headers["Location"] = _place(id)
    return await _read(access, id, response)


async def _read(access: Admission, id: str, response: Response) -> SubscriptionTold:
    def found() -> SubscriptionTold:
        with access.hub.store.reading() as reader:
            (summary,) = summaries_of(reader, [record_of(reader, id)], access.sight(reader))
        past = [name for name in access.hub.log_columns(id) if name not in summary.columns]
        return _summed(access, summary, past)

    told = await run_in_threadpool(found)
    response.headers["ETag"] = f'"{told.revision}"'
    return told


def _summed(access: Admission, summary: Summary, past: Sequence[str] = ()) -> SubscriptionTold:
    """That its rows are out of date says something of documents: it is for callers who may see the rows."""
    subscription = summary.subscription
    is_seen = access.viewer is None or subscription.viewer in (EVERYBODY, access.viewer)
    seen = subscription if is_seen else replace(subscription, stale_since=None)
    return SubscriptionTold.of(replace(summary, subscription=seen), past)
