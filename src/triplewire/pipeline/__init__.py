"""The pipeline: Triplewire on Spark.

What comes in: documents, as a DataFrame of uri, content and media type, and an index. What goes out: answers and bad
documents, as DataFrames. It distributes work and nothing else: parsing is `documents`, matching is `matching`, and
no rule of either is repeated in a DataFrame expression, so that Spark gives the answers that one process gives.

`session` starts a Spark that is tuned for this; `java` finds what that needs, `warm` keeps its classes ready, `daemon`
is what its Python workers are forked from. `inputs` makes a DataFrame of documents of what is there, `dumps` of files
that hold many, `compression` of what is compressed. `batch` matches them, in `portions`: `images` brings the index to
the workers, `worker` is what they do (`triplewire.isolation` is how they survive a document that kills), `tally` how
they tell how far they are, `beside` a thread for it. `outputs` writes the answers. `graph` matches the documents as one
graph, with answers that join them; `streaming` applies changes as they come.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from triplewire.pipeline.session import running, session  # at once: the function has the name of its module

if TYPE_CHECKING:
    from triplewire.pipeline.batch import BatchMatch, match, match_documents
    from triplewire.pipeline.graph import GraphMatch, match_graph
    from triplewire.pipeline.inputs import documents
    from triplewire.pipeline.tally import Tally

_HOMES = {
    "BatchMatch": "batch",
    "GraphMatch": "graph",
    "Tally": "tally",
    "documents": "inputs",
    "match": "batch",
    "match_documents": "batch",
    "match_graph": "graph",
}

__all__ = [
    "BatchMatch",
    "GraphMatch",
    "Tally",
    "documents",
    "match",
    "match_documents",
    "match_graph",
    "running",
    "session",
]


def __getattr__(name: str) -> object:
    """Load a name's module when it is first asked for: a process that only starts Spark needs no matcher."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'triplewire.pipeline' has no attribute {name!r}")
    found = getattr(import_module(f"triplewire.pipeline.{home}"), name)
    globals()[name] = found
    return found
