"""Changes: several documents published and retracted as one, whole or not at all."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from triplewire.documents.formats import essence
from triplewire.errors import UnsupportedMediaType
from triplewire.hub.bodies import body_of, refuse_halves
from triplewire.hub.changes.bundles import Bundle, BundleReceipt
from triplewire.hub.changes.orders import Order
from triplewire.hub.description import body
from triplewire.hub.messages import ChangesWanted, NewAccess, PublishWanted, RestrictWanted, RetractWanted
from triplewire.hub.routes.documents import (
    OF_A_CHANGE,
    document_as_dict,
    expected,
    key_of,
    refuse_unread,
    wants_to_wait,
)
from triplewire.hub.service import Admission, Publishing, listed
from triplewire.model import Access
from triplewire.wire.changes import BundleTold, batch_as_dict

router = APIRouter(prefix="/v1", tags=["documents"])

_JSON = "application/json"
_SCHEMA = ChangesWanted.model_json_schema(ref_template="#/components/schemas/{model}")
_DESCRIBED = body(**{_JSON: {"schema": _SCHEMA}}) | {"parameters": OF_A_CHANGE}


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
    return JSONResponse(_told(receipt), 200, {"Preference-Applied": "wait"} if tell else {})


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
    return Order(change.uri, change.content.encode(), change.media_type, condition, by=by, access=given)


def _listed(access: Admission, wanted: NewAccess | None) -> Access | None:
    return None if wanted is None else listed(access, wanted.readers, wanted.writers)


def _told(receipt: BundleReceipt) -> dict[str, Any]:
    documents = [document_as_dict(each) for each in receipt.receipts]
    told = batch_as_dict(receipt.batch, receipt.warnings, receipt.errors, receipt.events)
    return {"documents": documents} | told
