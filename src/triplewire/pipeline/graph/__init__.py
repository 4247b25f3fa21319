"""Scope graph on Spark: all documents are one graph, and answers join triples of any of them.

What comes in: documents, as for matching one by one, and an index. What goes out: rows, each with documents behind it;
documents that could not be read; subscriptions that were not served. `matching` has the stages; `reading` and `finding`
run in workers; `image` writes and opens the files between them. What a row is and how it is found is
`matching.finder`'s, on top of what serves the hub.
"""

from triplewire.pipeline.graph.matching import GraphMatch, match_graph

__all__ = ["GraphMatch", "match_graph"]
