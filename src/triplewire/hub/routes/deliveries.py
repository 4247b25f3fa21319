"""Deliveries: where events are sent, how that goes, and what could not be delivered.

Urls of receivers can be secrets: they are for the subscription's owner, and for admins.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from starlette.concurrency import run_in_threadpool

from triplewire.deliver import Deliveries
from triplewire.deliver.sending import ping as send_ping
from triplewire.deliver.stored import letter_told
from triplewire.deliver.targets import refuse_bad_url, refuse_unreachable
from triplewire.deliver.websub import tell_denied
from triplewire.errors import NotAllowed, UnknownSubscription
from triplewire.hub.messages import NO_NUL, Chosen, Counted, DeliveryChange, GivenSecret, NewDelivery, NewSecret
from triplewire.hub.reception import BoundedRoute
from triplewire.hub.routes.subscriptions import Id
from triplewire.hub.service import Admission, Reading
from triplewire.store import DeliveryRecord
from triplewire.wire.deliveries import DeadLetterPage, DeliveryMade, DeliveryPage, DeliveryTold, Pinged

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["deliveries"])

DeliveryId = Annotated[str, Path(min_length=1, max_length=100, pattern=NO_NUL, description="The id of the delivery.")]
Number = Annotated[int, Path(ge=1, le=2**60, description="The number of the dead letter.")]


@router.post("/subscriptions/{id}/deliveries", summary="Deliver events", status_code=201)
async def add(access: Reading, id: Id, wanted: NewDelivery, response: Response) -> DeliveryMade:
    """Send the events of a subscription somewhere. The secret that messages are signed with is told this once."""
    await run_in_threadpool(access.require_own, id)
    refuse_bad_url(wanted.url)
    await refuse_unreachable(wanted.url, access.service.settings.reachable)

    def made() -> DeliveryMade:
        asked = wanted.model_dump() | {"after": None if wanted.after == "now" else wanted.after}
        record, secret = _deliveries(access).add(id, **asked, by=access.account.id or None)
        return DeliveryMade(**vars(_deliveries(access).condition(record.id)), secret=secret)

    told = await run_in_threadpool(made)
    await access.service.ring(access.tenant)
    response.headers["Location"] = f"/v1/deliveries/{told.id}"
    return told


@router.get("/subscriptions/{id}/deliveries", summary="List deliveries of a subscription")
def of_subscription(access: Reading, id: Id) -> DeliveryPage:
    """Where its events are sent, and how that goes; for its owner."""
    access.require_own(id)
    return DeliveryPage(_deliveries(access).of_subscription(id))


@router.get("/deliveries", summary="List deliveries")
def listing(
    access: Reading,
    after: Annotated[str, Query(max_length=100, pattern=NO_NUL, description="The id that the page follows.")] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> DeliveryPage:
    """One's own deliveries, by id; an admin sees everybody's. Those of what one may not see any more are left out."""
    owner = None if access.account.may("admin") else access.account.id
    found = _deliveries(access).listing(after=after, limit=limit, owner=owner)
    seen = [each for each in found if _is_own(access, each.subscription)]
    return DeliveryPage(seen, found[-1].id if len(found) == limit else None)


@router.get("/deliveries/{delivery}", summary="Read a delivery")
def read(access: Reading, delivery: DeliveryId) -> DeliveryTold:
    """How a delivery is."""
    _own(access, delivery)
    return _deliveries(access).condition(delivery)


@router.patch("/deliveries/{delivery}", summary="Pause or resume a delivery")
def change(access: Reading, delivery: DeliveryId, wanted: DeliveryChange) -> DeliveryTold:
    """A paused delivery sends nothing; resumed, it sends at once all that happened meanwhile."""
    _own(access, delivery)
    deliveries = _deliveries(access)
    (deliveries.pause if wanted.state == "paused" else deliveries.resume)(delivery)
    return deliveries.condition(delivery)


@router.delete("/deliveries/{delivery}", summary="Remove a delivery", status_code=204)
async def remove(access: Reading, delivery: DeliveryId) -> None:
    """Deliver no more, and forget what could not be delivered; a subscriber of WebSub is told."""
    record = await run_in_threadpool(_removable, access, delivery)
    await run_in_threadpool(_deliveries(access).remove, delivery)
    if record.kind == "websub":
        await tell_denied(record, access.service.settings.reachable, "the hub has ended it")


@router.post("/deliveries/{delivery}/secret", summary="Change the secret")
def rotate(access: Reading, delivery: DeliveryId, given: GivenSecret) -> NewSecret:
    """A new secret, told this once; for a day messages are signed with both."""
    _own(access, delivery)
    return NewSecret(secret=_deliveries(access).rotate(delivery, given.secret))


@router.post("/deliveries/{delivery}/ping", summary="Try a delivery")
async def ping(access: Reading, delivery: DeliveryId) -> Pinged:
    """Send a test, which is no event, and tell what the receiver says."""
    record = await run_in_threadpool(_own, access, delivery)
    return await send_ping(record, access.service.settings.reachable, access.vault)


@router.get("/deliveries/{delivery}/dead", summary="List dead letters")
def dead(
    access: Reading,
    delivery: DeliveryId,
    after: Annotated[int, Query(ge=0, le=2**60, description="The number that the page follows.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> DeadLetterPage:
    """What the receiver refused until it was given up."""
    _own(access, delivery)
    found = _deliveries(access).dead(delivery, after=after, limit=limit)
    return DeadLetterPage([*map(letter_told, found)], found[-1].number if len(found) == limit else None)


@router.post("/deliveries/{delivery}/dead/replay", summary="Replay dead letters")
def replay(access: Reading, delivery: DeliveryId, chosen: Chosen) -> Counted:
    """Try them again, before anything else is sent."""
    _own(access, delivery)
    return Counted(count=_deliveries(access).replay(delivery, chosen.numbers))


@router.delete("/deliveries/{delivery}/dead", summary="Drop all dead letters")
def drop_all(access: Reading, delivery: DeliveryId) -> Counted:
    """Forget what could not be delivered."""
    _own(access, delivery)
    return Counted(count=_deliveries(access).drop(delivery))


@router.delete("/deliveries/{delivery}/dead/{number}", summary="Drop a dead letter")
def drop(access: Reading, delivery: DeliveryId, number: Number) -> Counted:
    """Forget one message that could not be delivered."""
    _own(access, delivery)
    return Counted(count=_deliveries(access).drop(delivery, [number]))


def _deliveries(access: Admission) -> Deliveries:
    return Deliveries(access.hub.store, vault=access.vault)


def _is_own(access: Admission, id: str) -> bool:
    try:
        access.require_own(id)
    except (NotAllowed, UnknownSubscription):
        return False
    return True


def _own(access: Admission, delivery: str) -> DeliveryRecord:
    """The delivery, if it is the caller's, who may see what it sends: how much waits for it says something of that."""
    record = _deliveries(access).of(delivery)
    access.require_own(record.subscription)
    return record


def _removable(access: Admission, delivery: str) -> DeliveryRecord:
    """The delivery, if the caller made its subscription, whatever that sees."""
    record = _deliveries(access).of(delivery)
    access.require_owner(access.hub.subscription(record.subscription).owner)
    return record
