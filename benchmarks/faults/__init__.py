"""Faults: a service under load is killed, frozen, cut off, filled up and damaged; then what is there is reconciled.

`world` is what is broken (the service, its store, its disk, a receiver, the way to it), `faults` the ways to break it,
`load` what clients do meanwhile and what they were told, `reconciliation` what must be true at the end.
"""
