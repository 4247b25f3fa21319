"""Uploads: many documents in one request, read and applied as they arrive."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pyoxigraph import NamedNode, RdfFormat, serialize

from triplewire.documents.formats import essence
from triplewire.errors import BadRequest, DocumentError, DocumentTooLarge, TriplewireError, UnsupportedMediaType
from triplewire.hub.bodies import lines_of, refuse_halves
from triplewire.hub.changes.orders import Order, Receipt
from triplewire.hub.description import TEXT, body
from triplewire.hub.messages import Uploaded, UploadProblem
from triplewire.hub.routes.documents import HOW_FAR, WITH_A_LIST, list_given
from triplewire.hub.service import Admission, Publishing, listed
from triplewire.model import Access
from triplewire.model.flat import quad_in
from triplewire.model.reach import NetworkReach
from triplewire.wire.problems import problem_of, status_of

router = APIRouter(prefix="/v1", tags=["documents"])

_QUADS, _LINES = "application/n-quads", ("application/x-ndjson", "application/jsonl", "application/json-lines")
_AT_ONCE = 256
_BYTES_AT_ONCE = 8 * 1024 * 1024
_MOST_PROBLEMS = 1_000
_GRAPH_AT_THE_END = re.compile(rb"<([^<>\"{}|^`\\\s]+)>[ \t]*\.[ \t\r]*$")
_WELL, _SOME, _AWAY = 200, 207, 503
"""All documents went in; some were refused for what they say; some, because the store is away. The worst is told."""
_MIXED: dict[int | str, dict[str, Any]] = {
    _SOME: {"model": Uploaded, "description": "Some were refused: `problems` say which, and why."},
    _AWAY: {"model": Uploaded, "description": "Some could not be taken: send all of them again, later."},
}
_BODY = body(**{_QUADS: TEXT, _LINES[0]: TEXT})


@dataclass(frozen=True, slots=True)
class UploadedItem:
    """A document of an upload, by the line where it begins; or what is wrong with it."""

    line: int
    uri: str | None
    order: Order | None = None
    error: TriplewireError | None = None
    readers: Sequence[str] | None = None
    writers: Sequence[str] | None = None


@dataclass(slots=True)
class _Graph:
    """A graph that is being read; `error` is what is wrong with one of its lines."""

    uri: str
    line: int
    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    error: TriplewireError | None = None

    def item(self) -> UploadedItem:
        if self.error is not None:
            return UploadedItem(self.line, self.uri, error=self.error)
        return UploadedItem(self.line, self.uri, Order(self.uri, b"".join(self.parts), "application/n-triples"))


@router.post(
    "/documents", summary="Publish many documents", responses=_MIXED, openapi_extra=_BODY | {"parameters": WITH_A_LIST}
)
async def upload(
    request: Request,
    response: Response,
    access: Publishing,
    reach: Annotated[NetworkReach | None, Query(description=HOW_FAR)] = None,
) -> Uploaded:
    """Publish many documents in one request.

    As N-Quads, each named graph is a document, and the lines of a graph follow each other. As JSON lines, each line is
    an object with `uri`, `content` and perhaps `media_type`, `readers` and `writers`, or with `uri` and
    `"retract": true`; otherwise `reader` and `writer` of the address are those of all documents. They are applied
    as they arrive; one that is bad is reported, and the others are applied: 207. If some were refused because the
    service could not take them, it is 503, whatever became of the others. To send all of them again is harmless.
    """
    settings = access.service.settings
    lines = lines_of(
        request,
        most=settings.upload_bytes,
        longest=2 * settings.document_bytes,
        seconds=settings.request_seconds,
    )
    kind = essence(request.headers.get("content-type"))
    if kind == _QUADS:
        items = graphs_of(lines, settings.document_bytes)
    elif kind in _LINES:
        items = records_of(lines)
    else:
        raise UnsupportedMediaType(f"an upload is {_QUADS} or {_LINES[0]}, and this is {kind!r}")
    given = list_given(request, access)
    told = Uploaded(published=0, retracted=0, unchanged=0, refused=0, problems=[])
    some: list[UploadedItem] = []
    size, status = 0, _WELL
    async for coming in items:
        item = _permitted(access, coming, given, reach)
        some.append(item)
        size += len(item.order.data or b"") if item.order is not None else 0
        if len(some) >= _AT_ONCE or size >= _BYTES_AT_ONCE:
            status = max(status, await _apply(access, some, told))
            some, size = [], 0
    response.status_code = max(status, await _apply(access, some, told))
    if response.status_code == _AWAY:
        response.headers["Retry-After"] = "5"
    return told


def _permitted(access: Admission, item: UploadedItem, given: Access | None, reach: NetworkReach | None) -> UploadedItem:
    """The same, by the caller, with the access list that its line names, or that all are given, and the reach."""
    if item.order is None:
        return item
    try:
        has_own = item.readers is not None or item.writers is not None
        own = listed(access, item.readers or (), item.writers or ()) if has_own else given
    except BadRequest as error:
        return replace(item, order=None, error=error)
    if item.order.data is None:
        own, reach = None, None
    return replace(item, order=replace(item.order, by=access.viewer, access=own, reach=reach))


async def _apply(access: Admission, items: list[UploadedItem], told: Uploaded) -> int:
    """Hand these in, and note what became of each; the status that tells it."""
    await access.require_known()  # an upload may take hours
    status = _WELL
    orders = [item.order for item in items if item.order is not None]
    answers = iter(await asyncio.gather(*map(access.tenant.intake.submit, orders), return_exceptions=True))
    for item in items:
        answer = item.error if item.order is None else next(answers)
        refused: Sequence[TriplewireError] = ()
        if isinstance(answer, Receipt):
            told.unchanged += not answer.changed
            told.published += answer.changed and answer.digest is not None
            told.retracted += answer.changed and answer.digest is None
            refused = answer.refused
        elif isinstance(answer, TriplewireError):
            refused = [answer]
        elif answer is not None:
            raise answer
        for error in refused:
            told.refused += 1
            status = max(status, _AWAY if status_of(error) >= 500 else _SOME)
            if len(told.problems) < _MOST_PROBLEMS:
                told.problems.append(UploadProblem(line=item.line, uri=item.uri, problem=problem_of(error)))
    return status


async def graphs_of(lines: AsyncIterator[tuple[int, bytes]], most: int) -> AsyncIterator[UploadedItem]:
    """The documents of N-Quads: one for each run of lines with the same graph."""
    graph: _Graph | None = None
    seen: set[str] = set()
    async for number, line in lines:
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        uri, triple, error = _read_quad(number, line)
        if graph is None or graph.uri != uri:
            if graph is not None:
                yield graph.item()
            graph = _Graph(uri, number)
            if uri in seen:
                reason = (
                    "its lines do not follow each other: it was published before, and what follows would replace it"
                )
                graph.error = DocumentError(reason, uri=uri, line=number)
            seen.add(uri)
        graph.size += len(triple)
        if graph.size > most:
            graph.error = graph.error or DocumentTooLarge(f"it is over the limit of {most} bytes", uri=uri)
            graph.parts = []
        else:
            graph.parts.append(triple)
        graph.error = graph.error or error
    if graph is not None:
        yield graph.item()


def _read_quad(number: int, line: bytes) -> tuple[str, bytes, TriplewireError | None]:
    """The graph of a line, its triple, and what is wrong with it; BadRequest where nobody can say which graph it is."""
    try:
        quad = quad_in(line)
        if not isinstance(quad.graph_name, NamedNode):
            raise BadRequest(f"line {number} names no graph, and its graph's IRI is the uri of its document")
        return quad.graph_name.value, serialize([quad.triple], format=RdfFormat.N_TRIPLES) or b"", None
    except (SyntaxError, ValueError) as error:
        reason = str(getattr(error, "msg", error))
        named = _GRAPH_AT_THE_END.search(line)
        if named is None:
            raise BadRequest(f"line {number} is no N-Quads ({reason}); the documents before it are published") from None
        uri = named[1].decode("utf-8", "replace")
        return uri, b"", DocumentError(f"not N-Quads: {reason}", uri=uri, line=number)


async def records_of(lines: AsyncIterator[tuple[int, bytes]]) -> AsyncIterator[UploadedItem]:
    """The documents of JSON lines."""
    async for number, line in lines:
        if line.strip():
            yield _read_record(number, line)


def _read_record(number: int, line: bytes) -> UploadedItem:
    try:
        record: Any = json.loads(line)
        refuse_halves(line)
    except (ValueError, RecursionError) as error:
        return UploadedItem(number, None, error=BadRequest(f"line {number} is no JSON: {error}"))
    except BadRequest as error:
        return UploadedItem(number, None, error=BadRequest(f"line {number}: {error}"))
    uri = record.get("uri") if isinstance(record, dict) else None
    if not isinstance(uri, str) or not uri:
        return UploadedItem(number, None, error=BadRequest(f'line {number} must be an object with a "uri"'))
    content, media_type = record.get("content"), record.get("media_type")
    if record.get("retract") is True and content is None:
        return UploadedItem(number, uri, Order(uri))
    if not isinstance(content, str) or not isinstance(media_type, str | None):
        hint = '"content", a text, and perhaps "media_type"; or "retract": true'
        return UploadedItem(number, uri, error=BadRequest(f"line {number} must have {hint}"))
    readers, writers = record.get("readers"), record.get("writers")
    if not _are_names(readers) or not _are_names(writers):
        return UploadedItem(
            number, uri, error=BadRequest(f'line {number}: "readers" and "writers" are lists of accounts')
        )
    return UploadedItem(number, uri, Order(uri, content.encode(), media_type), readers=readers, writers=writers)


def _are_names(given: object) -> bool:
    return given is None or (isinstance(given, list) and all(isinstance(each, str) and each for each in given))
