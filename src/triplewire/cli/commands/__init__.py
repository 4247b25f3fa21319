"""One module for each command: its options, its help, and the few steps from files to output.

Without a hub: `match`, `compile`, `explain`, `lint`, `languages`, `demo`, `simulate`, `warm`. On a hub: `publish` (and
retract), `access`, `poll`, `subscribe`, `edit` (and unsubscribe), `answers` (rows, events), `reasons` (why, why-not),
`preview`, `query`, `run`, `store`. As a service: `serve`, `deliver`, `token`.
"""
