"""Access lists: who may read a document, and who may change it (P8).

A list is given with the document (`reader` and `writer` of a publication), or here. It names accounts, by id or by a
name that only one of the tenant has.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from triplewire.engine.batch.permissions import refuse_unpermitted
from triplewire.errors import UnknownDocument
from triplewire.hub.messages import NewAccess
from triplewire.hub.reception import BoundedRoute
from triplewire.hub.routes.documents import OF_A_CHANGE, Uri, answer, order
from triplewire.hub.service import Admission, Publishing, Reading, listed
from triplewire.wire.changes import AccessTold, ChangeTold

router = APIRouter(prefix="/v1", route_class=BoundedRoute, tags=["documents"])


@router.get("/document/access", summary="Read an access list")
async def read(access: Reading, uri: Uri) -> AccessTold:
    """Who may read and change a document, for accounts that may change it; null: it is for everybody."""
    await access.settled(uri)
    return await run_in_threadpool(_told, access, uri)


def _told(access: Admission, uri: str) -> AccessTold:
    with access.hub.store.reading() as reader:
        (record,) = reader.seen_by(access.viewer).documents.current([uri])
        if record is None:
            raise UnknownDocument(uri)
        found = reader.access.of([record.id]).get(record.id)
        if found is not None:
            refuse_unpermitted(reader, uri, access.viewer)
    return AccessTold.of(uri, found)


@router.put(
    "/document/access",
    summary="Give a document an access list",
    response_model=ChangeTold,
    openapi_extra={"parameters": OF_A_CHANGE},
)
async def put(request: Request, access: Publishing, uri: Uri, wanted: NewAccess) -> Response:
    """Let only these read it, and change it. Who sends the list is one of its writers, unless it is an admin."""
    given = listed(access, wanted.readers, wanted.writers)
    return answer(await access.tenant.intake.submit(order(request, access, uri, restricts=True, given=given)))


@router.delete(
    "/document/access",
    summary="Let a document be for everybody",
    response_model=ChangeTold,
    openapi_extra={"parameters": OF_A_CHANGE},
)
async def delete(request: Request, access: Publishing, uri: Uri) -> Response:
    """Away with its access list."""
    return answer(await access.tenant.intake.submit(order(request, access, uri, restricts=True)))
