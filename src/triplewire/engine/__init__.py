"""The engine: changes in, events out.

It ties matching to a store, in one process. `Hub` (`hub`) is what people use: it writes (`writes`) and it reads
(`reads`), each over one open store (`connection`). Queries that stand are kept in memory (`standing`), and see the
taxonomy (`taxonomies`). `names` keeps those that people give apart from the hub's own.

    subscriptions/  a text becomes a query that stands, is edited, goes
    backfill/       what answers a new one already is found and told
    batch/          changes become revisions of documents, these begin and end rows, and events tell it
    inspect/        what only reads: events, reasons, previews, what there is

Rows are found around triples (`neighbourhoods`, over `lookups`), here or by `workers` elsewhere, and numbers become
events that people read in `telling`. The engine never parses a language or plans a match itself, and never delivers an
event: a deliverer reads the log.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplewire.engine.hub import Hub
    from triplewire.engine.inspect.explanations import Source, Why, WhyNot
    from triplewire.engine.inspect.preview import Preview
    from triplewire.engine.inspect.resources import Resource, Version
    from triplewire.tables import Outcome

__all__ = ["Hub", "Outcome", "Preview", "Resource", "Source", "Version", "Why", "WhyNot"]
_HOMES = {
    "Hub": "triplewire.engine.hub",
    "Outcome": "triplewire.tables",
    "Preview": "triplewire.engine.inspect.preview",
    "Resource": "triplewire.engine.inspect.resources",
    "Source": "triplewire.engine.inspect.explanations",
    "Version": "triplewire.engine.inspect.resources",
    "Why": "triplewire.engine.inspect.explanations",
    "WhyNot": "triplewire.engine.inspect.explanations",
}


def __getattr__(name: str) -> object:
    """Load what is asked for: the processes that answer SPARQL queries need neither matching nor its compiler."""
    if name not in _HOMES:
        raise AttributeError(f"module 'triplewire.engine' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
