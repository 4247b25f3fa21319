"""Statistics: what a dashboard shows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from prometheus_client import Histogram

from triplewire.engine.inspect import statistics as gathered
from triplewire.errors import NotAllowed
from triplewire.hub.service import Admission, BoundedRoute, Reading
from triplewire.hub.settings import MAIN
from triplewire.hub.sights.messages import IntervalTold, Lag, RequestsTold, Statistics, Totals
from triplewire.store import Reader

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["upkeep"])

_COUNTED = 100_000
_NINE_OF_TEN = 0.9


@router.get("/statistics", summary="Rates, lag and load", response_model=Statistics)
def statistics(
    access: Reading,
    seconds: Annotated[float, Query(ge=1, le=31 * 86_400, description="The length of an interval.")] = 60,
    count: Annotated[int, Query(ge=1, le=200, description="How many of them.")] = 60,
) -> Statistics:
    """How much came and was told in the last intervals, what waits, and which subscriptions have the most to do."""
    now, tenant = datetime.now(UTC), access.tenant
    with tenant.hub.store.reading() as reader:
        if access.viewer is not None and reader.access.number():
            raise NotAllowed("these numbers count documents that are not for everybody, so they are for admins")
        found, is_cut = gathered.intervals(reader, now, timedelta(seconds=seconds), count)
        busiest, costliest = gathered.loads(reader)
        log = gathered.backlog(reader)
        totals = _totals(reader)
    waiting = tenant.intake.waiting
    return Statistics(
        now=now.isoformat(timespec="seconds"),
        seconds=seconds,
        intervals=[
            IntervalTold(
                start=each.start.isoformat(timespec="seconds"),
                batches=each.batches,
                documents=each.documents,
                events=each.events,
            )
            for each in found
        ],
        is_cut=is_cut,
        totals=totals,
        lag=Lag(in_memory=waiting, on_the_log=log.waiting, since=log.since, rejected=log.rejected),
        busiest=busiest,
        costliest=costliest,
        quotas=tenant.quotas.told(),
        requests=_requests(access),
    )


def _totals(reader: Reader) -> Totals:
    return Totals(
        documents=reader.surveys.documents(_COUNTED),
        triples=reader.triples.count(),
        subscriptions=reader.surveys.subscriptions(_COUNTED),
        events=reader.log.last_cursor(),
        counted_to=_COUNTED,
    )


def _requests(access: Admission) -> list[RequestsTold] | None:
    """The requests of the whole service, so for its admins only."""
    if not access.account.may("admin") or access.tenant.name != MAIN:
        return None
    return sorted(_answered(access.service.metrics.seconds), key=lambda told: -told.count)


def _answered(histogram: Histogram) -> Iterable[RequestsTold]:
    """From the buckets that Prometheus reads: nine of ten were answered within the end of a bucket."""
    buckets: dict[tuple[str, str], dict[float, float]] = {}
    sums: dict[tuple[str, str], float] = {}
    for sample in next(iter(histogram.collect())).samples:
        key = sample.labels["method"], sample.labels["route"]
        if sample.name.endswith("_bucket"):
            buckets.setdefault(key, {})[float(sample.labels["le"])] = sample.value
        elif sample.name.endswith("_sum"):
            sums[key] = sample.value
    for (method, route), ends in buckets.items():
        count = max(ends.values())
        if count:
            end = min(le for le, within in ends.items() if within >= _NINE_OF_TEN * count)
            yield RequestsTold(
                method=method,
                route=route,
                count=int(count),
                mean=sums[method, route] / count,
                nine_of_ten=None if end == float("inf") else end,
            )
