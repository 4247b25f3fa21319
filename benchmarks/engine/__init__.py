"""`./run bench engine`: batches of changes against a store that remembers.

`providers` and `catalogue` generate subscriptions and a history of documents from a seed; `contenders` are ours and
what ours is compared with, each with a database file of its own; `measure` gives all of them the same batches in turn;
`targets` says what was promised. Only `contenders.hub` and `contenders.bare` know the engine's own names.
"""
