"""Upkeep: how the service is and what it measured, also for a dashboard; whose token a caller has; proofs of keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from prometheus_client import Histogram

from triplewire.backbone import BackboneHub
from triplewire.edge import Edge
from triplewire.engine.inspect import statistics as gathered
from triplewire.errors import NotAllowed
from triplewire.hub.health import Ailment, ailments
from triplewire.hub.messages import Health, Whoami
from triplewire.hub.reception import BoundedRoute
from triplewire.hub.service import Administering, Admission, Reading, Service, service_of
from triplewire.hub.settings import MAIN
from triplewire.hub.sights.messages import IntervalTold, Lag, RequestsTold, Statistics, Totals
from triplewire.network.live import NetworkHub
from triplewire.store import Reader

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["upkeep"])

_COUNTED = 100_000
_NINE_OF_TEN = 0.9
_NOT_READY: dict[int | str, dict[str, Any]] = {503: {"model": Health, "description": "It cannot do its work now."}}


@router.get("/health", summary="Is it well?", responses=_NOT_READY)
@router.get("/health/ready", summary="Is it ready for work?", responses=_NOT_READY)
async def health(request: Request, response: Response) -> Health:
    """200 when the service can do its work, 503 when it cannot: `reasons` say why. No identity is needed."""
    service = service_of(request)
    of_store = None if service.is_stopping else await service.pulse.ailment()
    told = _told(service, [*([] if of_store is None else [of_store]), *ailments(service)])
    if not told.ready:
        response.status_code = 503
    return told


@router.get("/health/live", summary="Does it live?")
async def live(request: Request) -> Health:
    """200 as long as the process answers at all, whatever it knows to be wrong; the store is not asked."""
    service = service_of(request)
    return _told(service, ailments(service))


def _told(service: Service, found: Sequence[Ailment]) -> Health:
    is_ready = not service.is_stopping and not any(each.is_severe for each in found)
    return Health(
        status="stopping" if service.is_stopping else "ok" if is_ready else "failing",
        version=version("triplewire"),
        identity=service.gate.is_on,
        live=True,
        ready=is_ready,
        reasons=[each.reason for each in found],
    )


@router.get(
    "/metrics",
    summary="What was measured",
    response_class=Response,
    responses={200: {"description": "In Prometheus' format.", "content": {"text/plain": {}}}},
)
def metrics(access: Administering) -> Response:
    """Counts and times of the whole service, for an admin of the main tenant."""
    if access.tenant.name != MAIN:
        raise NotAllowed(f"metrics are of the whole service, and {access.account.name} is of one tenant")
    return Response(access.service.metrics.text(), media_type="text/plain; version=0.0.4")


@router.get("/whoami", summary="Who am I?")
async def whoami(access: Reading) -> Whoami:
    """The account that asks, and what kind of hub it asks."""
    account, hub = access.account, access.hub
    return Whoami(
        id=account.id,
        name=account.name,
        role=account.role,
        tenant=account.tenant,
        is_edge=isinstance(hub, Edge),
        is_networked=isinstance(hub, NetworkHub),
        is_in_backbone=isinstance(hub, BackboneHub),
    )


# -- for a dashboard


@router.get("/statistics", summary="Rates, lag and load")
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
        intervals=[IntervalTold.model_validate(each, from_attributes=True) for each in found],
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
