"""Secret addresses of feeds: made, looked at, revoked by the owner of the subscription (G4)."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from triplewire.deliver.capabilities import SECRET_FEEDS, FeedAddresses
from triplewire.deliver.registry import Deliveries
from triplewire.deliver.websub import tell_denied
from triplewire.errors import UnknownFeed
from triplewire.hub.messages import FeedAddress, NewFeedAddress
from triplewire.hub.routes.subscriptions import Id
from triplewire.hub.service import Admission, BoundedRoute, Reading, address_of
from triplewire.store import DeliveryRecord

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["feeds"])


@router.post(
    "/subscriptions/{id}/feed-address",
    summary="Make a secret address for the feed",
    status_code=201,
    response_model=NewFeedAddress,
)
async def make(request: Request, access: Reading, id: Id) -> NewFeedAddress:
    """An address at which the feed is read without a token; told this once. One that was there before is revoked."""
    made = await run_in_threadpool(lambda: _addresses(access, id).make(id, access.account.id or None))
    await _deny(access, id)
    return NewFeedAddress(address=f"{address_of(request)}{SECRET_FEEDS}{made}")


@router.get("/subscriptions/{id}/feed-address", summary="Is there a secret address?", response_model=FeedAddress)
def read(access: Reading, id: Id) -> FeedAddress:
    """When it was made; what it is, nobody can tell any more."""
    kept = _addresses(access, id).kept(id)
    if kept is None:
        raise UnknownFeed
    return FeedAddress(created=kept.created)


@router.delete("/subscriptions/{id}/feed-address", summary="Revoke the secret address", status_code=204)
async def revoke(access: Reading, id: Id) -> None:
    """The address leads nowhere from now on, and its subscribers by WebSub are told."""
    await run_in_threadpool(lambda: _addresses(access, id).revoke(id))
    await _deny(access, id)


def _addresses(access: Admission, id: str) -> FeedAddresses:
    access.require_owner(access.tenant.hub.subscription(id).owner)
    return FeedAddresses(access.tenant.hub.store, access.tenant.name)


async def _deny(access: Admission, id: str) -> None:
    """End what was subscribed to by an address that is gone."""

    def ended() -> list[DeliveryRecord]:
        deliveries = Deliveries(access.tenant.hub.store, vault=access.vault)
        found = [each for each in deliveries.of_subscription(id) if each.kind == "websub"]
        gone = [deliveries.of(each.id) for each in found if SECRET_FEEDS in (each.topic or "")]
        for record in gone:
            deliveries.remove(record.id)
        return gone

    for record in await run_in_threadpool(ended):
        await tell_denied(record, access.service.settings.reachable, "the address of the feed was revoked")
