"""Sessions: who has a key instead of a token proves it, at a hub as at a peer of a ring."""

from __future__ import annotations

from fastapi import APIRouter, Request

from triplewire.errors import NotAuthenticated
from triplewire.hub.messages import AskForChallenge, Challenge, Session, Signed
from triplewire.hub.reception import BoundedRoute, count_refusal, reception_of
from triplewire.wire.keys import signed_text

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["upkeep"])


@router.post("/challenges", summary="Begin to prove a key", status_code=201)
async def challenge(request: Request, asked: AskForChallenge) -> Challenge:
    """Something to sign with the private key of an account; it counts once, for a minute."""
    made = reception_of(request).gate.challenge(asked.account)
    return Challenge(challenge=made, text=signed_text(made).decode())


@router.post("/sessions", summary="Prove a key", status_code=201)
async def session(request: Request, signed: Signed) -> Session:
    """A token for an hour, for a client that signed a challenge with the key of its account."""
    gate = reception_of(request).gate
    await gate.refresh()
    try:
        token, seconds = gate.open_session(signed.challenge, signed.signature)
    except NotAuthenticated:
        count_refusal(request)
        raise
    return Session(token=token, seconds=seconds)
