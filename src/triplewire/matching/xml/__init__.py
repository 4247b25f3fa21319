"""XPath subscriptions matched together: what `algebra.xpath.evaluate` says, fast, for many expressions at once.

What comes in: XPath queries with numbers, documents with XML. What goes out: the queries that a document matches. From
each expression follows a condition that a document must meet (`algebra.xpath.conditions`): places that occur in it,
values that stand there. Places of all expressions are one automaton (`automaton`), values wait under their place
(`watches`, `grams`), and one pass over the tags of a document (`scanning`; compiled in `kernel`, over the arrays of a
`machine`) tells which conditions are met. Where a condition is the whole expression, that is the
answer; else the few that are left are evaluated by lxml, within a budget (`paths`). `registered` are the expressions in
an index's image, `explanation` says how one is evaluated. It never does IO, and never decides what the definition would
not.
"""

from triplewire.matching.xml.paths import PathIndex, PathMatches

__all__ = ["PathIndex", "PathMatches"]
