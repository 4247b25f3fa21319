"""The wire: the JSON that crosses between a service and others, and means the same on both sides.

In come the values of `model` and `tables` and errors; out go messages (`messages`): `subscriptions`, `events` and rows,
what became of `changes`, `insights`, `deliveries`, `envelopes`, `problems`, proofs of `keys`. The service describes and
writes them, the client reads them back. `hubs` has what can be asked of any hub, wherever it is. It never sends or
receives anything itself.
"""
