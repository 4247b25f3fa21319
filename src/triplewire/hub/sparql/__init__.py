"""SPARQL queries of strangers, answered by processes that may die of it.

`askers` keeps a few such processes and hands each a question at a time, within a time and a size; `process` is what
runs in them, and answers in a forked child that has no network and no file. Nothing of the service is in reach there.
"""
