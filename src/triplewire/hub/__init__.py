"""The service: a hub behind HTTP.

In come requests of the HTTP API (`routes`), from accounts that `identity` lets in; each belongs to a tenant, and every
tenant is a hub with a store of its own (`tenancy`). Changes go through `changes`, which answers when they are durable
and lets many clients share a commit; a process beside applies what waits (`pipeline`). Events are read from the log,
and a client that waits for them is woken by a bell (`bells`). To send them is a matter of `triplewire.deliver`, which
the service starts (`delivery`). SPARQL queries run in processes of their own (`sparql`). Errors become answers in one
place (`answers`). It never matches, stores or compiles anything itself: that is the engine's, and nothing below knows
of this package.

`server` runs the application (`app`); `service` is what its routes share, as the `settings` say. `headers`, `bodies`,
`calls` (XML-RPC) and `negotiation` read requests; `messages` are the JSON of requests and answers, `syntaxes` their
RDF, `downloads` their files, and `description` describes them. `page` is the page for browsers, `sights` what people
see there. `health` and `metrics` tell how the service is.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplewire.hub.app import create_app
    from triplewire.hub.server import Server, Started, start
    from triplewire.hub.settings import Settings, TenantSettings

__all__ = ["Server", "Settings", "Started", "TenantSettings", "create_app", "start"]
_HOMES = {
    "Server": "server",
    "Settings": "settings",
    "Started": "server",
    "TenantSettings": "settings",
    "create_app": "app",
    "start": "server",
}


def __getattr__(name: str) -> object:
    """Load what is asked for: the processes that answer queries, and the commands, need no web framework."""
    if name not in _HOMES:
        raise AttributeError(f"module 'triplewire.hub' has no attribute {name!r}")
    return getattr(import_module(f"triplewire.hub.{_HOMES[name]}"), name)
