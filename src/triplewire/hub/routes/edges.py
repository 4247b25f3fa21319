"""Edges: what other hubs keep of this one; and, if this one is an edge itself, what it follows (M1, M8)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from triplewire.edge import Edge
from triplewire.engine.edges import offers
from triplewire.engine.edges.rules import rules_of
from triplewire.errors import BadRequest, QuotaExceeded, QuotaSpent
from triplewire.hub.messages import Name, NewRule
from triplewire.hub.reception import BoundedRoute
from triplewire.hub.service import Administering, Admission, Reading
from triplewire.network.channels.status import UplinkStatus
from triplewire.network.exchange import Question
from triplewire.wire.edges import (
    CauseTold,
    EdgeAnswer,
    EdgeQuestion,
    EdgeRule,
    EdgeTold,
    KnownEdge,
    RuleTold,
    UplinkTold,
    packed_json,
)

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["edges"])

_LOOK_EVERY = 0.1


@router.post("/edges", summary="Tell an edge what it lacks", response_model=EdgeAnswer)
async def tell(access: Reading, question: EdgeQuestion) -> Response:
    """What an edge of the caller's account lacks; if that is nothing, after `wait` seconds at most.

    Its rules are subscriptions of the account, count as such, and see what the account may read.
    """
    asked, refused = await _registered(access, question)
    until = time.monotonic() + min(question.wait, access.service.settings.longest_wait)
    answer = await _answer(access, asked)
    while not _is_news(question, answer) and time.monotonic() < until and not access.service.is_stopping:
        last = await _last_batch(access)
        await asyncio.sleep(_LOOK_EVERY)
        if await _last_batch(access) != last:
            await access.require_known()
            answer = await _answer(access, asked)
    await access.require_known()
    return _packed(replace(answer, refused=answer.refused | refused))


async def _registered(access: Admission, question: EdgeQuestion) -> tuple[EdgeQuestion, dict[str, str]]:
    """Let new rules stand as far as the quotas allow; the question without them, and why some were refused."""
    refused: dict[str, str] = {}
    asked = replace(question, follow=[], unfollow=[], wait=0.0)
    if not question.follow and not question.unfollow:
        return asked, refused

    def register() -> None:
        _change(access, question.edge, [], question.unfollow)
        for rule in question.follow:
            try:
                _check(access, rule)
            except (QuotaExceeded, QuotaSpent) as error:
                refused[rule.id] = str(error)
            else:
                refused.update(_change(access, question.edge, [rule], []))

    async with access.tenant.subscribing:
        await run_in_threadpool(register)
    return asked, refused


class AccountAnswers:
    """What an edge of an account is told at its desk: the same as over HTTP, and as fast as the account may ask."""

    def __init__(self, access: Admission) -> None:
        self._access = access
        self._asked: EdgeQuestion | None = None

    async def require_known(self) -> None:
        """See `DeskAnswers.require_known`."""
        await self._access.require_known()

    async def answer(self, question: Question) -> EdgeAnswer:
        """See `DeskAnswers.answer`; to look again for a question that waits costs the account nothing."""
        assert isinstance(question, EdgeQuestion), "nothing else is read"
        await self._access.require_known()
        if question is not self._asked:
            self._asked = question
            self._access.service.pace.spend(self._access.account.id)
        asked, refused = await _registered(self._access, question)
        answer = await _answer(self._access, asked)
        await self._access.require_known()
        return replace(answer, refused=answer.refused | refused)


def _check(access: Admission, rule: EdgeRule) -> None:
    quotas = access.tenant.quotas
    quotas.check_subscriptions()
    quotas.check_cost(rule.text, rule.language, {}, access.viewer)
    quotas.check_events()  # what answers it already is told at once


def _change(access: Admission, edge: str, follow: Sequence[EdgeRule], unfollow: Sequence[str]) -> dict[str, str]:
    owner = access.account.id or None
    return access.hub.change_rules(edge, follow, unfollow, owner=owner, viewer=access.viewer)


def _ask(access: Admission, question: EdgeQuestion) -> EdgeAnswer:
    return access.hub.serve_edge(question, owner=access.account.id or None, viewer=access.viewer)


async def _answer(access: Admission, question: EdgeQuestion) -> EdgeAnswer:
    return await run_in_threadpool(_ask, access, question)


def _is_news(question: EdgeQuestion, answer: EdgeAnswer) -> bool:
    return answer.is_news or answer.position != question.position


async def _last_batch(access: Admission) -> int:
    def last() -> int:
        with access.hub.store.reading() as reader:
            return reader.batches.last()

    return await access.tenant.together.ask("last batch", last)


def _packed(answer: EdgeAnswer) -> Response:
    content, is_packed = packed_json(answer)
    return Response(content, media_type="application/json", headers={"Content-Encoding": "gzip"} if is_packed else {})


@router.get("/edges", summary="Which edges have I?")
def known(access: Reading) -> list[KnownEdge]:
    """The edges of the caller's account that have asked this hub, by name."""
    with access.hub.store.reading() as reader:
        return [
            KnownEdge(name, len(rules_of(reader, name))) for name in offers.edges_of(reader, access.account.id or None)
        ]


@router.post("/edges/{edge}/rules", summary="Keep something at my edge", status_code=201)
def offer(
    access: Reading, edge: Annotated[Name, Path(description="The name of the edge.")], wanted: NewRule
) -> EdgeRule:
    """Have an edge of the caller's account keep what a rule registers: it follows the rule when it asks next."""
    owner = access.account.id or None
    return access.hub.offer(edge, wanted.text, language=wanted.language, id=wanted.id, owner=owner)


# -- this hub as an edge


@router.get("/edge", summary="What does this edge keep?")
def status(access: Reading) -> EdgeTold:
    """The rules that this edge follows, how old what it keeps is, and what the link to its hub does."""
    known = _edge(access).status(viewer=access.viewer)
    return EdgeTold(
        known.name,
        known.hub,
        known.as_of.position,
        known.as_of.confirmed,
        None if known.as_of.age is None else known.as_of.age.total_seconds(),
        [RuleTold(rule.id, rule.text, rule.language, rule.state, rule.reason, rule.resources) for rule in known.rules],
        known.cached,
        known.private,
        known.problem,
        link_told(known.link),
    )


def link_told(link: UplinkStatus | None) -> UplinkTold | None:
    """What a channel to another hub does, as it is told; null where there is none."""
    return None if link is None else UplinkTold(link.state, link.since, link.peer, link.heard, link.lag)


@router.get("/edge/cause", summary="Why is this here?")
def cause(access: Reading, iri: str) -> CauseTold:
    """Why something is said of a resource at this edge: rules that register it, what holds it, private documents."""
    found = _edge(access).cause(iri, viewer=access.viewer)
    return CauseTold(found.resource, [*found.rules], [*found.parents], [*found.private], found.is_cached)


@router.post("/edge/rules", summary="Keep something at this edge", status_code=201)
def follow(access: Administering, wanted: NewRule) -> RuleTold:
    """Follow a rule; what it registers is here when the hub has told it."""
    rule = _edge(access).follow(wanted.text, language=wanted.language, id=wanted.id)
    _edge(access).nudge()
    return RuleTold(rule.id, rule.text, rule.language, rule.state, rule.reason, rule.resources)


@router.delete("/edge/rules/{id}", summary="Let go of a rule", status_code=204)
def unfollow(access: Administering, id: Annotated[Name, Path(description="The id of the rule.")]) -> None:
    """Follow a rule no more; what no other rule keeps is gone then."""
    _edge(access).unfollow(id)
    _edge(access).nudge()


def _edge(access: Admission) -> Edge:
    if not isinstance(access.hub, Edge):
        raise BadRequest("this hub is no edge; triplewire serve --edge-of URL serves one")
    return access.hub
