"""Inspection: the questions that a hub answers and that change nothing in it.

What was told (`events`, `inbox`, `summaries`, `statistics`), what there is (`resources`, `surveys`), why and why
not (`explanations`, over `graphs`), what a subscription would be like (`preview`, `costs`, `suggestions`), SPARQL
(`replica`, `respelling`), and whether the rows on record are right (`checks`). Each takes a reader of the store, which
may be narrowed to what a viewer sees, and never writes.
"""
