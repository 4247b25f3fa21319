"""Documents: published, read, taken back, listed; one by one, or several as one, whole or not at all.

The uri of a document is a query parameter, as in the SPARQL Graph Store Protocol: a uri has slashes, fragments and
queries of its own, which do not survive as a part of a path.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from triplewire.documents.formats import SERVED, essence, is_served
from triplewire.errors import BadRequest, UnknownDocument, UnsupportedMediaType
from triplewire.hub.bodies import body_of, refuse_halves
from triplewire.hub.changes.bundles import Bundle
from triplewire.hub.changes.orders import ANYTHING, Acknowledged, Expected, Order, Receipt
from triplewire.hub.description import TEXT, body, header
from triplewire.hub.messages import (
    NO_NUL,
    ChangesWanted,
    Documents,
    NewAccess,
    PublishWanted,
    RestrictWanted,
    RetractWanted,
    Versions,
)
from triplewire.hub.negotiation import best
from triplewire.hub.service import Admission, Publishing, Reading, listed
from triplewire.hub.syntaxes import GRAPHS, digests, graph, tag
from triplewire.model import Access, Document
from triplewire.model.reach import NetworkReach
from triplewire.wire.changes import BundleTold, ChangeTold, batch_as_dict

router = APIRouter(prefix="/v1", tags=["documents"])

Uri = Annotated[str, Query(min_length=1, max_length=8_000, description="The uri of the document: an absolute IRI.")]
GRAPH_BODY = body(**dict.fromkeys(SERVED.split(", "), TEXT))
GRAPH_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {"description": "The triples.", "content": dict.fromkeys(GRAPHS, TEXT)}
}
DOCUMENT_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {"description": "The triples, or the XML.", "content": dict.fromkeys([*GRAPHS, "application/xml"], TEXT)}
}
NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "It is what If-None-Match names."}}
IfNoneMatch = Annotated[str | None, Header(description="Only if it is none of these; * means any document.")]
_LONGEST_KEY = 200
_XML = "application/xml"
_IF_MATCH = header("If-Match", "Only if the document is one of these entity tags.")
_IF_NONE_MATCH = header("If-None-Match", "Only if it is none of these; * means any document.")
_SAID_OF_A_KEY = "A name of the client's: the same again changes nothing, and is answered alike."
OF_A_CHANGE = [
    header("Prefer", "`wait`: answer with the events that the change causes."),
    header("Idempotency-Key", _SAID_OF_A_KEY, minLength=1, maxLength=_LONGEST_KEY),
]

_JSON = "application/json"
_SCHEMA = ChangesWanted.model_json_schema(ref_template="#/components/schemas/{model}")
_DESCRIBED = body(**{_JSON: {"schema": _SCHEMA}}) | {"parameters": OF_A_CHANGE}


def _names(name: str, description: str) -> dict[str, object]:
    items = {"type": "array", "items": {"type": "string"}}
    return {"name": name, "in": "query", "required": False, "description": description, "schema": items}


HOW_FAR = "How far it goes in the network of the hub; as far as before, and at first through all of it, if not said."
WITH_A_LIST = [
    _names("reader", "An account that may read it; with this or `writer`, nobody else may. Empty: nobody more."),
    _names("writer", "An account that may read it and change it; who publishes it is one."),
]


@router.get("/documents", summary="List documents", response_model=Documents)
def listing(
    access: Reading,
    after: Annotated[str, Query(max_length=8_000, pattern=NO_NUL, description="The uri that the page follows.")] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> dict[str, object]:
    """The documents that are there now, by uri."""
    found = access.hub.documents(after=after, limit=limit, viewer=access.viewer)
    return {"documents": found, "next": found[-1].uri if len(found) == limit else None}


@router.put(
    "/document",
    summary="Publish a document",
    response_model=ChangeTold,
    responses={
        201: {"model": ChangeTold, "description": "It is applied, and the document is new."},
        202: {"model": Acknowledged, "description": "It is durable, and will be applied."},
    },
    openapi_extra=GRAPH_BODY | {"parameters": [*WITH_A_LIST, _IF_MATCH, _IF_NONE_MATCH, *OF_A_CHANGE]},
)
async def publish(
    request: Request,
    access: Publishing,
    uri: Uri,
    reach: Annotated[NetworkReach | None, Query(description=HOW_FAR)] = None,
) -> Response:
    """Register a document, or a new version of it.

    The answer comes when it is durable: 202. With `Prefer: wait`, a condition or an `Idempotency-Key`, it comes when
    the change is applied, and says what became of it.
    """
    settings = access.service.settings
    media_type = request.headers.get("content-type")
    refuse_unread(media_type)
    given = list_given(request, access)
    data = await body_of(request, most=settings.document_bytes, seconds=settings.request_seconds)
    wanted = replace(order(request, access, uri, data, media_type, given=given), reach=reach)
    return answer(await access.tenant.intake.accept(wanted))


@router.delete(
    "/document",
    summary="Retract a document",
    response_model=ChangeTold,
    openapi_extra={"parameters": [_IF_MATCH, *OF_A_CHANGE]},
)
async def retract(request: Request, access: Publishing, uri: Uri) -> Response:
    """Take a document back, with everything that it states."""
    return answer(await access.tenant.intake.submit(order(request, access, uri)))


@router.get("/document", summary="Read a document", response_class=Response, responses=DOCUMENT_ANSWER | NOT_MODIFIED)
async def read(
    access: Reading,
    uri: Uri,
    version: Annotated[int | None, Query(ge=1, le=2**31, description="As it was; as it is, if none is named.")] = None,
    accept: Annotated[str | None, Header()] = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The triples of a document, in the syntax that the client likes best; its XML, if it was published as XML.

    What was acknowledged of the document is applied first.
    """
    await access.settled(uri)
    found = await run_in_threadpool(access.hub.document, uri, version, viewer=access.viewer)
    if found is None:
        raise UnknownDocument(uri, version=version)
    media_type = best(accept, _offered(found))
    mark = found.digest
    headers = {"ETag": tag(mark, media_type), "Vary": "Accept"}
    known = digests(if_none_match)
    if known is not None and ("*" in known or mark in known):
        return Response(status_code=304, headers=headers)
    if found.xml:
        headers["Link"] = f'<?{urlencode({"uri": uri})}>; rel="alternate"; type="{_XML}"'
    if media_type == _XML:
        return Response(found.xml, media_type=media_type, headers=headers)
    if media_type == "application/n-triples":
        return Response(found.ntriples, media_type=media_type, headers=headers)
    content = await run_in_threadpool(lambda: graph(found.triples, media_type))
    return Response(content, media_type=media_type, headers=headers)


@router.get("/document/versions", summary="List the versions of a document", response_model=Versions)
async def versions(access: Reading, uri: Uri) -> dict[str, object]:
    """The versions that are kept, oldest first."""
    await access.settled(uri)
    found = await run_in_threadpool(access.hub.history, uri, viewer=access.viewer)
    if not found:
        raise UnknownDocument(uri)
    return {"versions": found}


def _offered(document: Document) -> list[str]:
    """The syntaxes that a document can be read in, its own first."""
    if not document.xml:
        return [*GRAPHS]
    return [*GRAPHS, _XML] if document.ntriples else [_XML, *GRAPHS]


def refuse_unread(media_type: str | None) -> None:
    """UnsupportedMediaType for what is no RDF syntax that is read."""
    if not is_served(media_type):
        kind = essence(media_type)
        raise UnsupportedMediaType(f"the media type {kind!r} is not read here; send one of {SERVED}")


def wants_to_wait(prefer: str | None) -> bool:
    """Whether a client prefers to wait for what its change causes (RFC 7240)."""
    wishes = (wish.strip().partition("=")[0].strip().lower() for wish in (prefer or "").split(","))
    return "wait" in wishes


def list_given(request: Request, access: Admission) -> Access | None:
    """The access list that a request names; None if it names none."""
    if "reader" not in request.query_params and "writer" not in request.query_params:
        return None
    readers, writers = (list(filter(None, request.query_params.getlist(name))) for name in ("reader", "writer"))
    return listed(access, readers, writers)


def order(
    request: Request,
    access: Admission,
    uri: str,
    data: bytes | None = None,
    media_type: str | None = None,
    *,
    given: Access | None = None,
    restricts: bool = False,
) -> Order:
    """The change that a request asks for, with what its headers say of it."""
    headers, key = request.headers, key_of(request)
    condition = expected(headers.get("if-match"), headers.get("if-none-match"))
    wait = wants_to_wait(headers.get("prefer"))
    return Order(uri, data, media_type, condition, key, wait, access.viewer, given, restricts, access.account.id)


def key_of(request: Request) -> str | None:
    """The Idempotency-Key of a request, if it has one."""
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= _LONGEST_KEY:
        raise BadRequest(f"Idempotency-Key has between 1 and {_LONGEST_KEY} characters, and this has {len(key)}")
    return key


def expected(match: str | None, none_match: str | None) -> Expected:
    """What the entity tags of a condition say of a document."""
    return ANYTHING if match is None and none_match is None else Expected(digests(match), digests(none_match))


def answer(receipt: Receipt | Acknowledged) -> Response:
    """What became of a change, as its client is told."""
    if isinstance(receipt, Acknowledged):
        told = {"uri": receipt.uri, "etag": receipt.etag, "position": receipt.position}
        return Response(json.dumps(told), 202, media_type="application/json")
    status = 201 if receipt.created else 200
    problems = (*receipt.refused, *receipt.warnings)
    content = document_as_dict(receipt) | batch_as_dict(receipt.batch, problems, receipt.errors, receipt.events)
    return JSONResponse(content, status, None if receipt.events is None else {"Preference-Applied": "wait"})


def document_as_dict(receipt: Receipt) -> dict[str, Any]:
    """A `DocumentTold`, ready for JSON."""
    etag = None if receipt.digest is None else f'"{receipt.digest}"'
    return {"uri": receipt.uri, "version": receipt.version, "etag": etag, "changed": receipt.changed}


# -- several as one


@router.post("/changes", summary="Publish and retract as one", response_model=BundleTold, openapi_extra=_DESCRIBED)
async def apply(request: Request, access: Publishing) -> Response:
    """Publish and retract several documents: all of it is applied when the answer comes, or nothing is.

    The events are those of the whole: what one of the changes takes and another one gives back is no event. To retract
    what is not there changes nothing. `if_match` and `if_none_match` are conditions on a document, as the headers are.
    `access` is an access list: of a document that is published, or alone, of one that is there.
    """
    settings, headers = access.service.settings, request.headers
    kind, key = essence(headers.get("content-type")), key_of(request)
    if kind != _JSON:
        raise UnsupportedMediaType(f"changes are sent as {_JSON}, not as {kind or 'nothing'}")
    sent = await body_of(request, most=settings.batch_bytes, seconds=settings.request_seconds)
    wanted = await run_in_threadpool(_read, sent)
    orders = [_order(change, access) for change in wanted.changes]
    tell = wants_to_wait(headers.get("prefer"))
    receipt = await access.tenant.intake.submit_bundle(Bundle(orders, key, tell, access.viewer, access.account.id))
    told = batch_as_dict(receipt.batch, receipt.warnings, receipt.errors, receipt.events)
    told |= {"documents": [document_as_dict(each) for each in receipt.receipts]}
    return JSONResponse(told, 200, {"Preference-Applied": "wait"} if tell else {})


def _read(body: bytes) -> ChangesWanted:
    refuse_halves(body)
    try:
        return ChangesWanted.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from None


def _order(change: PublishWanted | RetractWanted | RestrictWanted, access: Admission) -> Order:
    by = access.viewer
    if isinstance(change, RestrictWanted):
        return Order(change.uri, by=by, access=_listed(access, change.access), restricts=True)
    condition = expected(change.if_match, change.if_none_match)
    if isinstance(change, RetractWanted):
        return Order(change.uri, expected=condition, by=by)
    refuse_unread(change.media_type)
    given = _listed(access, change.access)
    content = change.content.encode()
    return Order(change.uri, content, change.media_type, condition, by=by, access=given, reach=change.reach)


def _listed(access: Admission, wanted: NewAccess | None) -> Access | None:
    return None if wanted is None else listed(access, wanted.readers, wanted.writers)
