"""The routes of the HTTP API, version 1: one module for each kind of thing.

Changes come by `documents` and `uploads`, with `access` lists. Queries are made and looked at by `subscriptions` and
`questions`. Events go out by `events`, `feeds` and `deliveries`; `metadata`, `browsing` and `searches` tell what there
is. `page` has the files of the page, `xml_rpc` is for clients that speak no more than that, and `upkeep` is about the
service itself.
"""
