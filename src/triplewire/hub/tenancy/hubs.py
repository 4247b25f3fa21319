"""The hub of a tenant: one by itself, an edge of another, part of a backbone or of a network; as the settings say."""

from __future__ import annotations

from triplewire.backbone import BackboneHub
from triplewire.documents import Limits
from triplewire.edge import Edge
from triplewire.engine import Hub
from triplewire.hub.settings import MAIN, Settings
from triplewire.network.live.hub import NetworkHub


def hub_of(settings: Settings, name: str, store: str) -> Hub:
    """The hub on a tenant's store; every process of a service opens it by this. Only the main one has other hubs."""
    limits = Limits(bytes=settings.document_bytes)
    if settings.backbone is not None and name == MAIN:
        return BackboneHub(
            store,
            name=settings.backbone_name,
            others=[url.strip() for url in settings.backbone.split(",") if url.strip()],
            token=settings.backbone_token,
            when_away="queue" if settings.when_away == "queue" else "refuse",
            limits=limits,
            durable=True,
        )
    if settings.network is not None and name == MAIN:
        about = {"label": settings.network_name, "network": settings.network}
        return NetworkHub(store, **about, limits=limits, durable=True)
    if settings.edge_of is not None and name == MAIN:
        return Edge(
            store,
            hub=settings.edge_of,
            token=settings.edge_token,
            key=settings.edge_key,
            account=settings.edge_account,
            hub_key=settings.edge_hub_key,
            limits=limits,
            durable=True,
        )
    return Hub(store, limits=limits, durable=True)


def following_hub(settings: Settings, name: str, store: str) -> Hub:
    """The same, and it follows the others until it is closed; one process of a service does that."""
    hub = hub_of(settings, name, store)
    if isinstance(hub, BackboneHub | Edge):
        hub.start()
    return hub
