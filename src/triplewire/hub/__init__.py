"""The service: a hub behind HTTP.

In come requests of the HTTP API (`routes`), from whoever `identity` lets in; each belongs to a tenant, and every tenant
is a hub with a store of its own (`tenants`). Changes go through an `intake`, which answers when they are durable and
lets many clients share a commit; events are read from the log, and who waits for them is woken by a bell (`listening`).
SPARQL queries run in processes of their own (`asking`, `questions`). Errors become answers in one place (`problems`).
It never matches, stores or compiles anything itself: that is the engine's, and nothing below knows of this package.
"""

from __future__ import annotations

from triplewire.hub.app import create_app
from triplewire.hub.server import Server
from triplewire.hub.settings import Settings, TenantSettings

__all__ = ["Server", "Settings", "TenantSettings", "create_app"]
