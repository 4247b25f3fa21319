"""Upkeep: how the service is, what it measured, who asks, and how keys are proved."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from triplewire.errors import NotAllowed, NotAuthenticated
from triplewire.hub.keys import signed_text
from triplewire.hub.messages import AskForChallenge, Challenge, Health, Session, Signed, Whoami
from triplewire.hub.service import Administering, BoundedRoute, Reading, count_refusal, service_of
from triplewire.hub.settings import MAIN

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["upkeep"])


@router.get("/health", summary="Is it well?", response_model=Health)
async def health(request: Request, response: Response) -> Health:
    """200 when the service can read its store; no identity is needed."""
    service = service_of(request)
    main = await service.tenants.get(MAIN)
    await run_in_threadpool(lambda: main.hub.batches(limit=1))
    if service.is_stopping:
        response.status_code = 503
    is_on = service.gate.is_on
    return Health(status="stopping" if service.is_stopping else "ok", version=version("triplewire"), identity=is_on)


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
def challenge(request: Request, asked: AskForChallenge) -> Challenge:
    """Something to sign with the private key of an account; it counts once, for a minute."""
    made = service_of(request).gate.challenge(asked.account)
    return Challenge(challenge=made, text=signed_text(made).decode())


@router.post("/sessions", summary="Prove a key", status_code=201, response_model=Session)
def session(request: Request, signed: Signed) -> Session:
    """A token for an hour, for who signed a challenge with the key of its account."""
    gate = service_of(request).gate
    gate.refresh()
    try:
        token, seconds = gate.open_session(signed.challenge, signed.signature)
    except NotAuthenticated:
        count_refusal(request)
        raise
    return Session(token=token, seconds=seconds)
