"""Changes: several documents published and retracted as one, whole or not at all."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from triplewire.errors import BadRequest, UnsupportedMediaType
from triplewire.hub.bodies import body_of, refuse_halves
from triplewire.hub.changes.bundles import Bundle, BundleReceipt
from triplewire.hub.changes.orders import ANYTHING, Expected, Order
from triplewire.hub.messages import ChangesWanted, NewAccess, PublishWanted, RestrictWanted, RetractWanted
from triplewire.hub.routes.documents import document_as_dict, refuse_unread, wants_to_wait
from triplewire.hub.service import Admission, Publishing, listed
from triplewire.hub.syntaxes import digests
from triplewire.model import Access
from triplewire.wire.changes import BundleTold, batch_as_dict

router = APIRouter(prefix="/v1", tags=["documents"])

_JSON = "application/json"
_LONGEST_KEY = 200
_TEXT = {"type": "string"}
_URI = {"uri": _TEXT | {"minLength": 1, "maxLength": 8_000}}
_DOCUMENT = _URI | {"if_match": _TEXT, "if_none_match": _TEXT}
_ACCOUNTS = {"type": "array", "maxItems": 1_000, "items": _TEXT | {"minLength": 1, "maxLength": 200}}
_LIST = {"type": "object", "additionalProperties": False, "properties": {"readers": _ACCOUNTS, "writers": _ACCOUNTS}}
_SCHEMA = {
    "type": "object",
    "required": ["changes"],
    "additionalProperties": False,
    "properties": {
        "changes": {
            "type": "array",
            "minItems": 1,
            "maxItems": 10_000,
            "items": {
                "oneOf": [
                    {
                        "title": "Publish",
                        "type": "object",
                        "required": ["uri", "content"],
                        "additionalProperties": False,
                        "properties": _DOCUMENT | {"content": _TEXT, "media_type": _TEXT, "access": _LIST},
                    },
                    {
                        "title": "Retract",
                        "type": "object",
                        "required": ["uri", "retract"],
                        "additionalProperties": False,
                        "properties": _DOCUMENT | {"retract": {"const": True}},
                    },
                    {
                        "title": "Restrict",
                        "type": "object",
                        "required": ["uri", "access"],
                        "additionalProperties": False,
                        "properties": _URI | {"access": {"oneOf": [_LIST, {"type": "null"}]}},
                    },
                ]
            },
        }
    },
}
_DESCRIBED = {
    "requestBody": {"required": True, "content": {_JSON: {"schema": _SCHEMA}}},
    "parameters": [
        {"name": name, "in": "header", "required": False, "description": said, "schema": schema}
        for name, said, schema in (
            ("Prefer", "`wait`: answer with the events that the changes cause.", _TEXT),
            (
                "Idempotency-Key",
                "A name of the client's: the same again changes nothing, and is answered alike.",
                _TEXT | {"minLength": 1, "maxLength": _LONGEST_KEY},
            ),
        )
    ],
}


@router.post("/changes", summary="Publish and retract as one", response_model=BundleTold, openapi_extra=_DESCRIBED)
async def apply(request: Request, access: Publishing) -> Response:
    """Publish and retract several documents: all of it is applied when the answer comes, or nothing is.

    The events are those of the whole: what one of the changes takes and another one gives back is no event. To retract
    what is not there changes nothing. `if_match` and `if_none_match` are conditions on a document, as the headers are.
    `access` is an access list: of a document that is published, or alone, of one that is there.
    """
    settings, headers = access.service.settings, request.headers
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON:
        raise UnsupportedMediaType(f"changes are sent as {_JSON}, not as {kind or 'nothing'}")
    key = headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= _LONGEST_KEY:
        raise BadRequest(f"Idempotency-Key has between 1 and {_LONGEST_KEY} characters, and this has {len(key)}")
    body = await body_of(request, most=settings.batch_bytes, seconds=settings.request_seconds)
    wanted = await run_in_threadpool(_read, body)
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
    match, none_match = digests(change.if_match), digests(change.if_none_match)
    expected = ANYTHING if match is None and none_match is None else Expected(match, none_match)
    if isinstance(change, RetractWanted):
        return Order(change.uri, expected=expected, by=by)
    refuse_unread(change.media_type)
    given = _listed(access, change.access)
    return Order(change.uri, change.content.encode(), change.media_type, expected, by=by, access=given)


def _listed(access: Admission, wanted: NewAccess | None) -> Access | None:
    return None if wanted is None else listed(access, wanted.readers, wanted.writers)


def _told(receipt: BundleReceipt) -> dict[str, Any]:
    documents = [document_as_dict(each) for each in receipt.receipts]
    told = batch_as_dict(receipt.batch, receipt.warnings, receipt.errors, receipt.events)
    return {"documents": documents} | told
