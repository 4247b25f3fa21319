"""Terms, short enough for a table."""

from __future__ import annotations

import re
from collections.abc import Mapping

_IRI = re.compile(r"<([^<>\s]*)>")
_LOCAL = re.compile(r"[\w.-]*\Z")


def short(text: object, prefixes: Mapping[str, str]) -> str:
    """A text with every `<iri>` in it written with one of the prefixes, where one fits."""
    return _IRI.sub(lambda match: _named(match[1], prefixes) or match[0], str(text))


def _named(iri: str, prefixes: Mapping[str, str]) -> str | None:
    """The longest namespace wins, so that a narrower vocabulary is not hidden by a wider one."""
    fitting = [(space, name) for name, space in prefixes.items() if iri.startswith(space)]
    for space, name in sorted(fitting, reverse=True):
        if _LOCAL.match(iri[len(space) :]):
            return f"{name}:{iri[len(space) :]}"
    return None


def row_text(row: Mapping[str, object]) -> str:
    """One row on as many lines as it has variables."""
    return "\n".join(f"?{name} = {term}" for name, term in row.items()) or "(yes)"
