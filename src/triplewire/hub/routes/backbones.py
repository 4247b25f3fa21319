"""The backbone: what other hubs of it ask this one, and what they pass on to it (M10)."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool

from triplewire.backbone import BackboneHub
from triplewire.backbone.passing import changes_in
from triplewire.errors import BadRequest
from triplewire.hub.reception import BoundedRoute
from triplewire.hub.routes.edges import link_told
from triplewire.hub.service import Administering, Admission
from triplewire.wire.backbones import (
    BackboneTold,
    ConflictTold,
    MemberAnswer,
    MemberQuestion,
    OtherMemberTold,
    PassedChanges,
    PassedTold,
)

_LOOK_EVERY = 0.1

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["backbone"])


@router.get("/backbone", summary="How is this hub doing in its backbone?")
def status(access: Administering) -> BackboneTold:
    """Its name there, the other hubs and the channels to them, how far it is with each home, what waits, conflicts."""
    known = _member(access).backbone()
    conflicts = [ConflictTold(each.uri, each.home, each.other) for each in known.conflicts]
    members = [OtherMemberTold(each.name, each.url, each.problem, link_told(each.link)) for each in known.members]
    return BackboneTold(known.name, known.positions, known.away, known.waiting, conflicts, known.homes, members)


@router.post("/backbone", summary="Tell a hub of the backbone what it lacks")
async def tell(access: Administering, question: MemberQuestion) -> MemberAnswer:
    """The batches of homes that another hub of the backbone lacks; if there are none, after `wait` seconds at most."""
    member, asked = _member(access), replace(question, wait=0.0)
    until = time.monotonic() + min(question.wait, access.service.settings.longest_wait)
    while True:
        answer = await run_in_threadpool(member.serve_member, asked)
        if answer.is_news or time.monotonic() >= until or access.service.is_stopping:
            return answer
        await asyncio.sleep(_LOOK_EVERY)


@router.post("/backbone/changes", summary="Apply changes as the home of their documents")
async def take(access: Administering, told: PassedChanges) -> PassedTold:
    """Changes that came to another hub of the backbone: all of them are applied, or none."""
    changes = await run_in_threadpool(changes_in, told)
    outcome = await run_in_threadpool(lambda: _member(access).take_passed(changes, batch=told.batch))
    return PassedTold(outcome.batch, [str(each) for each in outcome.warnings])


def _member(access: Admission) -> BackboneHub:
    if not isinstance(access.hub, BackboneHub):
        raise BadRequest("this hub is of no backbone; triplewire serve --backbone URL makes it part of one")
    return access.hub
