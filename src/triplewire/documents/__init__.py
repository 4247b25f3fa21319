"""Documents: bytes of RDF or XML in, a `Document` out.

In come bytes (or text) in Turtle, TriG, N-Triples, N-Quads, RDF/XML or JSON-LD, with the uri that they are registered
under. Out goes a `Document`: the union of all the graphs that the text states (a graph's name is dropped, its triples
stay), relative references resolved against the uri, blank nodes named by canonicalisation, so that equal graphs
give equal documents whatever the syntax, the order or the labels.

XML of any other vocabulary becomes a document without triples, whose XML is kept in its canonical form for XPath.

It never touches a network or a file: no remote JSON-LD context, no external XML entity. It never lets a text cost
more than its `Limits`: what is too large, too deep or too symmetric is refused before the work is done. And whatever
the bytes are, nothing but a `DocumentError` comes out.

The way of the data: `encoding` (bytes to UTF-8), `formats` (which syntax), `nesting`, `markup`, `contexts` (what would
be too dear to parse), `xml` (lxml), `reader` (pyoxigraph, and `xml_literals`), `blank_nodes` (their names,
with `surroundings`, `refinement` and `effort`), all tied together in `parsing`, within `limits`. `feeds` are read into
documents of their items.
"""

from triplewire.documents.limits import Limits
from triplewire.documents.parsing import parse

__all__ = ["Limits", "parse"]
