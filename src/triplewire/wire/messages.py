"""Messages: JSON objects that cross, as frozen dataclasses, which the service describes and the client reads.

Why dataclasses: FastAPI takes them for what an operation answers, and a client needs no web framework to read them.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from triplewire.model import moment

AnyMessage = TypeVar("AnyMessage")
_members: Callable[[type], dict[str, Any]] = cache(get_type_hints)


class Described:
    """The meaning of a member of a message, in the service's description; `more` are further words of its schema."""

    def __init__(self, meaning: str, **more: Any) -> None:
        self._schema = {"description": meaning, **more}

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return handler(schema) | self._schema


def read(kind: type[AnyMessage], told: Mapping[str, Any]) -> AnyMessage:
    """The message of a kind that a JSON object tells; members that are not known here are left out."""
    return kind(**{name: _value(hint, told[name]) for name, hint in _members(kind).items() if name in told})


def _value(hint: Any, told: Any) -> Any:
    if isinstance(told, str):
        return moment(told) if hint is datetime or datetime in get_args(hint) else told
    if get_origin(hint) in (types.UnionType, Union):
        kinds = [each for each in get_args(hint) if isinstance(told, dict) == is_dataclass(each)]
        return _value(kinds[0], told) if kinds else told
    if isinstance(told, list):
        return [_value(get_args(hint)[0], each) for each in told]
    return read(hint, told) if isinstance(hint, type) and is_dataclass(hint) else told
