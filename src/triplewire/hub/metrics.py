"""Metrics: what the service does, in the form that Prometheus reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from triplewire.deliver import Deliverer
from triplewire.deliver.dispatcher import Dispatcher
from triplewire.hub.tenancy.tenants import Tenant, Tenants
from triplewire.network.live import Federation

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_METHODS = frozenset(["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])


class Metrics:
    """Counts of one service; each service has its own, so that several may be in one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "triplewire_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "triplewire_request_seconds",
            "From a request's arrival to the start of its answer.",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.streams = Gauge("triplewire_streams", "Event streams that are open.", registry=self.registry)

    def watch(
        self,
        tenants: Tenants,
        deliverer: Callable[[], Deliverer | None],
        federation: Callable[[], Federation | None] = lambda: None,
    ) -> None:
        """Tell of the tenants' intakes and quotas, of what became of deliveries, and of a network, if there is one."""
        for collect in (
            partial(_intakes, tenants),
            partial(_quotas, tenants),
            lambda: _deliveries(deliverer() or ()),
            lambda: _answers(federation()),
        ):
            self.registry.register(_Watched(collect))

    def text(self) -> bytes:
        """All metrics, as Prometheus reads them."""
        return generate_latest(self.registry)


class _Watched(Collector):
    def __init__(self, told: Callable[[], Iterable[Metric]]) -> None:
        self._told = told

    def collect(self) -> Iterable[Metric]:
        return self._told()


def _counters(what: str, labels: Sequence[str], **told: str) -> dict[str, CounterMetricFamily]:
    return {name: CounterMetricFamily(f"triplewire_{what}_{name}", text, labels=labels) for name, text in told.items()}


def _intakes(tenants: Iterable[Tenant]) -> Iterable[Metric]:
    waiting = GaugeMetricFamily("triplewire_intake_waiting", "Changes that wait.", labels=["tenant"])
    counters = _counters(
        "intake",
        ["tenant"],
        batches="Groups of changes that were taken together.",
        documents="Changes of documents that were applied.",
        refused="Changes of documents that were refused.",
        events="Events in the log so far.",
    )
    for tenant in tenants:
        waiting.add_metric([tenant.name], tenant.intake.waiting)
        with tenant.hub.store.reading() as reader:  # of all processes that applied changes
            counters["events"].add_metric([tenant.name], reader.log.last_cursor())
        for name in ("batches", "documents", "refused"):
            counters[name].add_metric([tenant.name], getattr(tenant.intake.counts, name))
    return [waiting, *counters.values()]


def _quotas(tenants: Iterable[Tenant]) -> Iterable[Metric]:
    labels = ["tenant", "quota"]
    most = GaugeMetricFamily("triplewire_quota_most", "What a tenant may have or use.", labels=labels)
    used = GaugeMetricFamily("triplewire_quota_used", "What it has, or has used in the quota's time.", labels=labels)
    refused = CounterMetricFamily("triplewire_quota_refused", "What was refused for it.", labels=labels)
    for tenant in tenants:
        for quota in tenant.quotas.told():
            most.add_metric([tenant.name, quota.name], quota.most)
            refused.add_metric([tenant.name, quota.name], quota.refused)
            if quota.used is not None:
                used.add_metric([tenant.name, quota.name], quota.used)
    return [most, used, refused]


def _deliveries(dispatchers: Iterable[Dispatcher]) -> Iterable[Metric]:
    labels = ["tenant", "kind"]
    counters = _counters(
        "deliveries",
        labels,
        delivered="Messages that arrived.",
        failed="Attempts that failed.",
        dead="Messages that were given up.",
        lag_seconds="From commit to arrival, of all that arrived.",
    )
    states = GaugeMetricFamily("triplewire_deliveries", "Deliveries held here.", labels=[*labels, "state"])
    for dispatcher in dispatchers:
        for name, family in counters.items():
            for kind, count in getattr(dispatcher.tally, name).items():
                family.add_metric([dispatcher.name, kind], count)
        for (kind, state), count in dispatcher.states().items():
            states.add_metric([dispatcher.name, kind, state], count)
    return [*counters.values(), states]


def _answers(federation: Federation | None) -> Iterable[Metric]:
    """Answers to queries of a hierarchy that are kept here, for others too (N5)."""
    counters = _counters("network_answers", [], hits="Queries answered with what was kept.", misses="Others.")
    kept = GaugeMetricFamily("triplewire_network_answers_kept", "Answers that are kept.")
    for cache in () if federation is None else [federation.answers]:
        counters["hits"].add_metric([], cache.hits)
        counters["misses"].add_metric([], cache.misses)
        kept.add_metric([], cache.kept)
    return [*counters.values(), kept]


class Measured:
    """Around an application: counts its requests by route, method and status, and times them."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                # A request that fits no route may have any path: these must not become labels.
                route = getattr(scope.get("route"), "path", "none")
                method = scope["method"] if scope["method"] in _METHODS else "other"
                self._metrics.requests.labels(method, route, message["status"]).inc()
                self._metrics.seconds.labels(method, route).observe(time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, noting)
