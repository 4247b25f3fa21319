"""XPath over XML: the other half of the algebra.

What comes in: an expression of XPath 1.0 as a value (`syntax`), and the XML of a document. What goes out: `PathQuery`
(`query`), a pattern in normal form (`normal`), so that equivalent expressions are one; `evaluate` says what it means:
its hits in one document, with their `places`, by lxml, whose `numbers` decide. `conditions` are what a document must
have, and `explain` says what it has. `cost` bounds what an evaluation may take before it starts, because it cannot be
stopped. It never parses a query's text and never does IO.
"""

from triplewire.algebra.xpath.query import PathQuery

__all__ = ["PathQuery"]
