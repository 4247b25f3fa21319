"""The schema that metadata conforms to (MDV sections 2 and 2.4; M2, M7).

In come triples of RDF Schema, with what MDV adds to it: which properties have one value, which references are strong.
Out goes a `Schema`: it says which statements of a document break it, as `Violation`s that say what to do, and which
properties are strong references. It infers nothing, refuses nothing by itself, looks nothing up: the hub,
which holds the other documents, hands in what is known of their resources.

The way of the data: `vocabulary` (the words), `declarations` (triples to what they declare), `datatypes` (which text is
a value of which type), `rules` (these, laid out for checking) and `conformance` (a document against them, and its
violations), all tied together in `schema`.
"""

from triplewire.schema.conformance import Violation
from triplewire.schema.declarations import Limit
from triplewire.schema.schema import Schema
from triplewire.schema.vocabulary import SCHEMA

__all__ = ["SCHEMA", "Limit", "Schema", "Violation"]
