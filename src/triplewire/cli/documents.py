"""Documents from files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triplewire.cli.paths import expand
from triplewire.cli.problems import Problems, usage, usage_for
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire import Document, Taxonomy

SUFFIXES = (".ttl", ".turtle", ".nt", ".nq", ".trig", ".rdf", ".owl", ".xml", ".rss", ".atom", ".jsonld", ".json")
"""What counts as a document in a folder; a file that is named itself may be called anything."""

_NOT_DOCUMENTS = ("prefixes.json",)


def find(given: Iterable[str], problems: Problems) -> list[Path]:
    """The document files that the arguments mean, each once."""
    paths = (path for argument in given for path in expand(argument, SUFFIXES, problems, "document"))
    return list(dict.fromkeys(path for path in paths if path.name not in _NOT_DOCUMENTS))


def read(path: Path, uri: str | None = None) -> Document:
    """The document in a file; its uri is the file's if none is given. Raises OSError or DocumentError."""
    from triplewire import Feed, parse

    raw = path.read_bytes()
    found = parse(raw, uri=path.resolve().as_uri())
    if uri is None:
        return found
    return parse(raw, uri=uri) if isinstance(found, Feed) else replace(found, uri=uri)


def try_to_read(path: Path, problems: Problems, uri: str | None = None) -> Document | None:
    """The document in a file; None, with the reason reported, if it cannot be read."""
    try:
        return read(path, uri)
    except (OSError, TriplewireError) as error:
        problems.report(str(path), error)
        return None


def read_taxonomy(path: Path | None) -> Taxonomy | None:
    """The taxonomy that a file of RDFS states; None if none is wanted.

    A bad one ends the command: answers without it would look right and lack what is-a finds.
    """
    from triplewire import Taxonomy

    if path is None:
        return None
    if path.is_dir():
        usage(f"the taxonomy {path} is a folder; name one file of RDFS")
    with usage_for(OSError, TriplewireError, before=f"the taxonomy {path} cannot be used: "):
        return Taxonomy.from_triples(read(path).triples)
