"""XML-RPC: publish, subscribe, unsubscribe and hear, for clients that speak no more than that (G5).

So G-ToPSS was reached (section 6): publications, subscriptions and notifications may all be RSS. An item whose title is
a language and whose description is a query subscribes; `feed` gives the notifications of a subscription as RSS 1.0.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, getdoc, signature
from types import UnionType
from typing import Any, get_args, get_origin
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5
from xml.parsers.expat import ExpatError
from xmlrpc.client import Fault, ResponseError, dumps

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from triplewire import feeds
from triplewire.documents import Limits
from triplewire.errors import BadRequest, DuplicateSubscription, NotAllowed, TriplewireError, UnknownSubscription
from triplewire.hub.bodies import body_of
from triplewire.hub.calls import read_call
from triplewire.hub.changes.orders import Order, Receipt
from triplewire.hub.description import TEXT, body
from triplewire.hub.messages import Cursor, NewSubscription
from triplewire.hub.routes.documents import refuse_unread
from triplewire.hub.routes.subscriptions import forget, subscribed
from triplewire.hub.service import Admission, Reading
from triplewire.model import Event, Subscription
from triplewire.wire.problems import status_of

router = APIRouter(prefix="/v1", tags=["XML-RPC"])

MEDIA_TYPE = "text/xml"
_MOST_EVENTS = 1_000
_CURSOR: TypeAdapter[int] = TypeAdapter(Cursor)
_NOT_READ, _NO_METHOD, _BAD_PARAMETERS = -32700, -32601, -32602
"""The codes that XML-RPC servers agree on; other faults have the status that HTTP would have."""


@router.post(
    "/xml-rpc",
    summary="Call a method by XML-RPC",
    response_class=Response,
    responses={200: {"description": "What the method gives, or a fault.", "content": {MEDIA_TYPE: {}}}},
    openapi_extra=body(**{MEDIA_TYPE: TEXT}),
)
async def call(request: Request, access: Reading) -> Response:
    """One call; `system.listMethods` and `system.methodHelp` tell which there are."""
    settings = access.service.settings
    sent = await body_of(request, most=settings.document_bytes, seconds=settings.request_seconds)
    try:
        name, parameters = await run_in_threadpool(_read, sent)
        found = (await _method(name)(Caller(access), *parameters),)
        answer = dumps(found, methodresponse=True)
    except TriplewireError as error:
        answer = dumps(Fault(status_of(error), str(error)))
    except Fault as fault:
        answer = dumps(fault)
    return Response(answer, media_type=MEDIA_TYPE)


@dataclass(frozen=True, slots=True)
class Caller:
    """The methods. Cursors are texts, because a number of XML-RPC ends at 2,147,483,647."""

    access: Admission

    async def publish(self, data: str | bytes, uri: str, media_type: str = "") -> dict[str, Any]:
        """Publish a document, in any syntax; items of a feed that are subscriptions subscribe."""
        self._require_publisher()
        text = data.encode() if isinstance(data, str) else data
        refuse_unread(media_type or None)
        limits = Limits(bytes=self.access.service.settings.document_bytes)
        read = self.access.service.tenants.parsers.read
        document = await read(text, uri=uri, media_type=media_type or None, limits=limits)
        receipt = await self.access.tenant.intake.submit(
            Order(uri, text, media_type or None, tell=True, by=self.access.viewer, document=document)
        )
        standing = [await self._standing(each) for each in feeds.subscriptions_in(document)]
        return _told(receipt) | {"subscriptions": standing}

    async def retract(self, uri: str) -> dict[str, Any]:
        """Take a document back."""
        self._require_publisher()
        return _told(await self.access.tenant.intake.submit(Order(uri, tell=True, by=self.access.viewer)))

    async def subscribe(self, text: str, language: str = "gql", id: str = "", scope: str = "document") -> str:
        """Register a query; gives the id of the subscription."""
        wanted = {"text": text, "language": language, "id": id or None, "scope": scope}
        try:
            new = NewSubscription.model_validate(wanted)
        except ValidationError as error:
            places = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
            raise BadRequest("; ".join(places)) from None
        return (await subscribed(self.access, new, new.id)).id

    async def _standing(self, asked: Subscription) -> str:
        """The id of a subscription that a feed asks for, made unless it stands from an earlier reading of the feed."""
        id = asked.id if "/" not in asked.id else f"urn:uuid:{uuid5(NAMESPACE_URL, asked.id)}"
        try:
            there = await run_in_threadpool(self.access.hub.subscription, id)
        except UnknownSubscription:
            return await self.subscribe(asked.text, asked.language, id)
        if (there.text, there.language) != (asked.text, asked.language):
            raise DuplicateSubscription(id)
        return id

    async def unsubscribe(self, id: str) -> bool:
        """Forget a subscription."""
        await forget(self.access, id)
        return True

    async def notifications(self, id: str, after: str | int = "0", limit: int = 100) -> list[dict[str, Any]]:
        """The events of a subscription that follow a cursor, in order."""
        return [_struct(event.as_dict(contents=False)) for event in await self._events(id, after, limit)]

    async def feed(self, id: str, after: str | int = "0", limit: int = 100) -> str:
        """The same as an RSS 1.0 feed, the newest first."""
        events = await self._events(id, after, limit)
        return (await run_in_threadpool(self._rss, id, events)).decode()

    def _rss(self, id: str, events: list[Event]) -> bytes:
        title = self.access.hub.subscription(id).name
        return feeds.rss1(events, uri=f"urn:triplewire:subscription:{quote(id, safe='')}", title=title)

    async def _events(self, id: str, after: str | int, limit: int) -> list[Event]:
        cursor = _cursor(after)
        if not 0 < limit <= _MOST_EVENTS:
            raise BadRequest(f"a call gives between 1 and {_MOST_EVENTS} events; ask for so many")
        events = partial(self.access.hub.events, id, after=cursor, limit=limit)
        return list(await run_in_threadpool(self.access.see, id, events))

    def _require_publisher(self) -> None:
        if not self.access.account.may("publisher"):
            raise NotAllowed(f"this needs the role publisher, and {self.access.account.name} is a reader")

    # -- what servers tell of themselves

    async def list_methods(self) -> list[str]:
        """The names of the methods."""
        return sorted(_METHODS)

    async def method_help(self, name: str) -> str:
        """What a method does."""
        return getdoc(_method(name)) or ""

    async def method_signature(self, name: str) -> list[list[str]]:
        """The types of a method: what it gives, then what it takes; the shortest way to call it first."""
        told = signature(_method(name), eval_str=True)
        taken = list(told.parameters.values())[1:]
        least = sum(each.default is Parameter.empty for each in taken)
        types = [_type_name(each.annotation) for each in taken]
        return [[_type_name(told.return_annotation), *types[:count]] for count in range(least, len(types) + 1)]


Method = Callable[..., Awaitable[Any]]
_METHODS: Mapping[str, Method] = {
    "triplewire.publish": Caller.publish,
    "triplewire.retract": Caller.retract,
    "triplewire.subscribe": Caller.subscribe,
    "triplewire.unsubscribe": Caller.unsubscribe,
    "triplewire.notifications": Caller.notifications,
    "triplewire.feed": Caller.feed,
    "system.listMethods": Caller.list_methods,
    "system.methodHelp": Caller.method_help,
    "system.methodSignature": Caller.method_signature,
}


def _read(body: bytes) -> tuple[str, tuple[Any, ...]]:
    """The method and the parameters that a request names."""
    try:
        parameters, name = read_call(body)
    except (ExpatError, ResponseError, ValueError, TypeError, LookupError) as error:
        raise Fault(_NOT_READ, f"this is no call of XML-RPC: {error}") from None
    method = _method(name or "")
    try:
        bound = signature(method, eval_str=True).bind(None, *parameters)
    except TypeError as error:
        raise Fault(_BAD_PARAMETERS, f"{name}: {error}; system.methodSignature tells what it takes") from None
    for parameter, value in list(bound.arguments.items())[1:]:
        kinds = signature(method, eval_str=True).parameters[parameter].annotation
        if not isinstance(value, get_args(kinds) or kinds) or isinstance(value, bool):
            raise Fault(_BAD_PARAMETERS, f"{name}: {parameter} must be of type {_type_name(kinds)}")
    return name or "", parameters


def _cursor(after: str | int) -> int:
    """A cursor, as texts and numbers of any length say it."""
    try:
        return _CURSOR.validate_python(int(after))
    except ValueError:  # of either
        said = str(after) if isinstance(after, str) else f"a number of {after.bit_length()} bits"
        raise BadRequest(f"{said[:40]!r} is no cursor; send one that an event had, or 0") from None


def _told(receipt: Receipt) -> dict[str, Any]:
    events = [_struct(event) for event in receipt.events or ()]
    refused = [str(error) for error in receipt.refused]
    told = {"uri": receipt.uri, "version": receipt.version, "changed": receipt.changed}
    return told | {"events": events, "refused": refused}


def _struct(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event as XML-RPC can say it: a version that is not there is left out."""
    documents = [{name: value for name, value in each.items() if value is not None} for each in event["documents"]]
    return {**event, "cursor": str(event["cursor"]), "documents": documents}


def _method(name: str) -> Method:
    if name not in _METHODS:
        raise Fault(_NO_METHOD, f"there is no method {name!r}; system.listMethods tells which there are")
    return _METHODS[name]


def _type_name(annotation: Any) -> str:
    kind = get_origin(annotation) or annotation
    first = get_args(annotation)[0] if kind is UnionType else kind
    return {str: "string", bytes: "base64", int: "int", bool: "boolean", list: "array", dict: "struct"}[first]
