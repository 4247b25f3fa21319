"""The OpenAPI description: FastAPI's, with the errors as they really are; and words for routes that read by themselves.

Such a route takes its headers or its body without FastAPI, whose way takes longer than all the rest of a small request.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from triplewire.wire.problems import MEDIA_TYPE

_PROBLEM = {
    "title": "Problem",
    "description": "What went wrong (RFC 9457); further members say where.",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
}
_ANSWER = {
    "description": "What went wrong.",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}
_UNNEEDED = ("HTTPValidationError", "ValidationError")
_OPEN = (
    "/v1/health",
    "/v1/health/ready",
    "/v1/health/live",
    "/v1/challenges",
    "/v1/sessions",
    "/v1/feeds/{capability}",
)

TEXT = {"schema": {"type": "string"}}


def header(name: str, description: str, **schema: object) -> dict[str, object]:
    """A header that a route reads."""
    kind = {"type": "string"} | schema
    return {"name": name, "in": "header", "required": False, "description": description, "schema": kind}


def body(**content: object) -> dict[str, object]:
    """The body that a route reads, by media type."""
    return {"requestBody": {"required": True, "content": content}}


def describe(app: FastAPI) -> None:
    """Let the application tell its own description, made once."""

    def openapi() -> dict[str, Any]:
        if not app.openapi_schema:
            app.openapi_schema = _description(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # the way that FastAPI documents


def _description(app: FastAPI) -> dict[str, Any]:
    told = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    schemas = told["components"]["schemas"]
    for name in _UNNEEDED:
        schemas.pop(name, None)
    schemas["Problem"] = _PROBLEM
    told["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for path, operations in told["paths"].items():
        for operation in operations.values():
            operation["responses"].pop("422", None)
            for content in operation.get("requestBody", {}).get("content", {}).values():
                schemas |= content["schema"].pop("$defs", {})
            operation["responses"] |= {"4XX": _ANSWER, "5XX": _ANSWER}
            if path not in _OPEN:
                operation["security"] = [{"token": []}, {}]
    return told
