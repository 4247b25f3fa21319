"""Upkeep: how the service is, what it measured, whose token a caller has, and how keys are proved."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response

from triplewire.errors import NotAllowed, NotAuthenticated
from triplewire.hub.health import Ailment, ailments
from triplewire.hub.messages import AskForChallenge, Challenge, Health, Session, Signed, Whoami
from triplewire.hub.service import Administering, BoundedRoute, Reading, Service, count_refusal, service_of
from triplewire.hub.settings import MAIN
from triplewire.wire.keys import signed_text

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["upkeep"])

_NOT_READY: dict[int | str, dict[str, Any]] = {503: {"model": Health, "description": "It cannot do its work now."}}


@router.get("/health", summary="Is it well?", response_model=Health, responses=_NOT_READY)
@router.get("/health/ready", summary="Is it ready for work?", response_model=Health, responses=_NOT_READY)
async def health(request: Request, response: Response) -> Health:
    """200 when the service can do its work, 503 when it cannot: `reasons` say why. No identity is needed."""
    service = service_of(request)
    of_store = None if service.is_stopping else await service.pulse.ailment()
    told = _told(service, [*([] if of_store is None else [of_store]), *ailments(service)])
    if not told.ready:
        response.status_code = 503
    return told


@router.get("/health/live", summary="Does it live?", response_model=Health)
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


@router.get("/whoami", summary="Who am I?", response_model=Whoami)
async def whoami(access: Reading) -> Whoami:
    """The account that asks."""
    account = access.account
    return Whoami(id=account.id, name=account.name, role=account.role, tenant=account.tenant)


@router.post("/challenges", summary="Begin to prove a key", status_code=201, response_model=Challenge)
async def challenge(request: Request, asked: AskForChallenge) -> Challenge:
    """Something to sign with the private key of an account; it counts once, for a minute."""
    made = service_of(request).gate.challenge(asked.account)
    return Challenge(challenge=made, text=signed_text(made).decode())


@router.post("/sessions", summary="Prove a key", status_code=201, response_model=Session)
async def session(request: Request, signed: Signed) -> Session:
    """A token for an hour, for a client that signed a challenge with the key of its account."""
    gate = service_of(request).gate
    await gate.refresh()
    try:
        token, seconds = gate.open_session(signed.challenge, signed.signature)
    except NotAuthenticated:
        count_refusal(request)
        raise
    return Session(token=token, seconds=seconds)
