"""Changes that clients of the service send: each is answered when what it asked for is durable.

A client's change is an `Order` (`orders`), several that are whole or not at all are a bundle (`bundles`), and one with
an `Idempotency-Key` is applied once (`repeats`). `group_commit` applies orders before it answers, many clients in one
batch; `acceptance` answers when they are on a durable log (`triplewire.intake`), from where the `applier` takes them.
"""
