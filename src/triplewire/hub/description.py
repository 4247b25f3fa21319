"""The OpenAPI description: FastAPI's, with the errors as they really are."""

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
            operation["responses"] |= {"4XX": _ANSWER, "5XX": _ANSWER}
            if path not in _OPEN:
                operation["security"] = [{"token": []}, {}]
    return told
