"""Backfills: a new subscription hears what answers it already.

`answers` finds it at once, in the transaction that subscribes. In a large store `shares` are looked for by workers
while batches go on, and `backfills` keeps the order of that work and tells the subscriber when it is done. Rows are
found as a batch finds them; nothing here changes a document.
"""
