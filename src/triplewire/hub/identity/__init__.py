"""Identity: from the headers of a request to an account, and what it may do (P8).

`accounts` are those that a store knows, with their roles and keys; the `gate` lets a request in as one of them;
`loopback` keeps a hub that asks nobody who they are on its own machine. What an account may read is asked elsewhere,
of the store.
"""
