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
_MOST = 1 << 62
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


def read_strictly(kind: type[AnyMessage], told: Any) -> AnyMessage:
    """The same, of strangers: a TypeError for a member that is not of its type, or that no store can hold."""
    found: AnyMessage = _strict(kind, told)
    return found


def _strict(hint: Any, told: Any) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (types.UnionType, Union):
        kinds = [each for each in parts if (each is type(None)) == (told is None)]
        return _strict(kinds[0], told)
    if isinstance(hint, type) and is_dataclass(hint) and isinstance(told, dict):
        return hint(**{name: _strict(each, told[name]) for name, each in _members(hint).items() if name in told})
    if origin is list and isinstance(told, list):
        return [_strict(parts[0], each) for each in told]
    if origin is tuple and isinstance(told, list) and len(told) == len(parts):
        return tuple(_strict(part, each) for part, each in zip(parts, told, strict=True))
    if origin is dict and isinstance(told, dict):
        return {_strict(parts[0], name): _strict(parts[1], each) for name, each in told.items()}
    if not _is_plain(hint, told):
        raise TypeError(f"{str(told)[:40]!r} is not what a message has there")
    return told


def _is_plain(hint: Any, told: Any) -> bool:
    if hint is str:
        return isinstance(told, str) and "\0" not in told and bool(told.encode() or not told)
    if hint is float:
        return isinstance(told, int | float) and not isinstance(told, bool)
    if hint is int:
        return isinstance(told, int) and not isinstance(told, bool) and abs(told) < _MOST
    return (hint is bool and isinstance(told, bool)) or (hint is type(None) and told is None)


def _value(hint: Any, told: Any) -> Any:
    if isinstance(told, str):
        return moment(told) if hint is datetime or datetime in get_args(hint) else told
    if get_origin(hint) in (types.UnionType, Union):
        kinds = [each for each in get_args(hint) if isinstance(told, dict) == is_dataclass(each)]
        return _value(kinds[0], told) if kinds else told
    if isinstance(told, list):
        return [_value(get_args(hint)[0], each) for each in told]
    return read(hint, told) if isinstance(hint, type) and is_dataclass(hint) else told
