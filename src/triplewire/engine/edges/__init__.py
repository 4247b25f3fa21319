"""Edges as their hub sees them: what each is to hold, and what it has to be told to hold it.

In come questions of `wire.edges`, out go answers. An edge's rules are subscriptions (`rules`), so that edges with the
same rule share a query, its rows and its events; nothing is kept for an edge besides. What resources hold is followed
in `contents`, and in the `past`; `steps` tell what happened between two batches, once for all edges that ask, and what
that does for each query (`moves`); `answers` puts together what one edge is told. Nothing here knows how
an edge keeps what it is told.
"""
