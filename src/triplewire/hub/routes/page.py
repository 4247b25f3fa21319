"""The page: files that a browser asks for; what it shows, it asks the HTTP API for (G6).

The files are few and small, so they are read once and answered from memory. Nothing on the page is made of a text
that a client wrote: the policy below lets a browser run the page's own scripts only, and no markup from strings.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

router = APIRouter(include_in_schema=False)

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}
_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    packed: bytes
    kind: str
    tag: str


@router.api_route("/", methods=["GET", "HEAD"])
async def page(request: Request) -> Response:
    """The page itself."""
    return _answer(request, "index.html")


@router.api_route("/page/{name}", methods=["GET", "HEAD"])
async def file(request: Request, name: str) -> Response:
    """A script, a style or a picture of it."""
    return _answer(request, name)


def _answer(request: Request, name: str) -> Response:
    found = _files().get(name)
    if found is None:
        raise HTTPException(404)
    headers = _HEADERS | {"ETag": found.tag}
    if found.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, headers=headers | {"Content-Encoding": "gzip"}, media_type=found.kind)
    return Response(found.content, headers=headers, media_type=found.kind)


@cache
def _files() -> dict[str, _File]:
    """By name; folders and what is no part of the page are left out."""
    found = {}
    for file in files("triplewire.hub").joinpath("page").iterdir():
        kind = _KINDS.get(file.name.rpartition(".")[2])
        if kind is not None:
            content = file.read_bytes()
            tag = f'W/"{sha256(content).hexdigest()[:32]}"'  # weak, because packed or not it is the same
            found[file.name] = _File(content, gzip.compress(content, mtime=0), kind, tag)
    return found
