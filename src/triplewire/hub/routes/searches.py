"""Searches: documents that match a query now, at this hub, and at others of its hierarchy (N3)."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool

from triplewire.algebra.pattern import Pattern
from triplewire.engine.subscriptions.registrations import compiled
from triplewire.hub.messages import FindQuery
from triplewire.hub.reception import BoundedRoute
from triplewire.hub.routes.networks import federation_of
from triplewire.hub.service import Admission, Reading
from triplewire.matching import Index
from triplewire.model.reach import HEIGHTS
from triplewire.network.live.hub import interests_of
from triplewire.tables import SearchResult
from triplewire.wire.searches import SearchTold

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["queries"])


@router.post("/find", summary="Look for documents that match a query now")
async def find(access: Reading, query: FindQuery) -> SearchTold:
    """Those that the caller may read here, the newest first; then what nearer and farther hubs have for everybody.

    With a `limit`, hubs are asked one unit after the other, until there are enough. `silent` names those that have not
    answered in time, or not with all that they have.
    """
    asked = query.model_dump(include={"text", "language", "prefixes", "limit"})
    own = await run_in_threadpool(lambda: access.hub.find(**asked, viewer=access.viewer))
    if query.reach == "hub" or len(own) == query.limit:
        return SearchTold.of(own)
    return SearchTold.of(await _with_others(access, query, own))


async def _with_others(access: Admission, query: FindQuery, own: SearchResult) -> SearchResult:
    pattern = await run_in_threadpool(_pattern, access, query)
    asked = interests_of(pattern, "document")[0]
    left = query.limit - len(own)
    found = await federation_of(access).find(asked, HEIGHTS[query.reach], left, query.wait)
    index = Index(access.hub.taxonomy)
    index.add("asked", pattern)
    others = [(hub, document) for hub, document in found.documents if index.match(document)]  # a hub may be wrong
    documents = [*own, *(document for _, document in others)]
    return SearchResult(documents, [*own.hubs, *(hub for hub, _ in others)], found.silent)


def _pattern(access: Admission, query: FindQuery) -> Pattern:
    with access.hub.store.reading() as reader:
        return compiled(reader, query.text, query.language, query.prefixes)
