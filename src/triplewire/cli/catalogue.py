"""The catalogue of commands: what `--help` says of each, and where it is; a command is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from triplewire.cli.hubs import OnHub

_HUB = "On a store: a hub that remembers"
_SERVICE = "As a service"


class Announced(NamedTuple):
    """A command: the function or the group of commands in its module, what it is for, and the panel of the help."""

    home: str
    line: str
    panel: str | None = None


COMMANDS = {
    "match": Announced("match:run", "Match documents against subscriptions."),
    "compile": Announced("compile:run", "Compile a subscription, and print the pattern that it means."),
    "explain": Announced(
        "explain:run",
        "Explain subscriptions: their atoms, which of them others share, and the one that each waits under.",
    ),
    "lint": Announced("lint:run", "Look for mistakes in subscriptions."),
    "languages": Announced(
        "languages:run", "List the languages that subscriptions may be written in, with an example of each."
    ),
    "demo": Announced(
        "demo:run",
        "A story on an open-data catalogue: publish, subscribe, change, withdraw, ask why. It takes half a minute.",
    ),
    "simulate": Announced("simulate:app", "Simulate a network of hubs, and count what it takes to tell everybody."),
    "warm": Announced("warm:run", "Compile the matcher now, so that the first match need not: once after installing."),
    "publish": Announced(
        "publish:publish", "Publish documents, or new versions of them, and print the events that this causes.", _HUB
    ),
    "retract": Announced(
        "publish:retract",
        "Take documents back, all in one batch (one by one at an address), and print the events that this causes.",
        _HUB,
    ),
    "access": Announced("access:access", "Say who may read a document and who may change it, or print who may.", _HUB),
    "poll": Announced(
        "poll:run", "Follow feeds: ask for each of them now and then, publish what changed, and print the events.", _HUB
    ),
    "subscribe": Announced("subscribe:subscribe", "Register subscriptions in a hub, and print their ids.", _HUB),
    "unsubscribe": Announced("edit:unsubscribe", "Forget subscriptions, with their rows and events.", _HUB),
    "subscriptions": Announced(
        "edit:subscriptions",
        "List the subscriptions of a hub: title, owner, answers (counted up to 1,000), last event, paused or not.",
        _HUB,
    ),
    "edit": Announced("edit:edit", "Change a subscription; what is not given stays.", _HUB),
    "pause": Announced(
        "edit:pause",
        "Tell nothing of subscriptions until they are resumed; nothing is lost meanwhile, unless you bound what waits.",
        _HUB,
    ),
    "resume": Announced("edit:resume", "Tell of subscriptions again: first what came while they were paused.", _HUB),
    "duplicate": Announced(
        "edit:duplicate", "Register what a subscription asks once more, from now on, and print the id.", _HUB
    ),
    "rows": Announced("answers:rows", "Print what answers a subscription now, or write it into a file.", _HUB),
    "events": Announced(
        "answers:events",
        "Print the events of a subscription, in order, or write them into a file; or a feed, the newest first.",
        _HUB,
    ),
    "why": Announced(
        "reasons:why",
        "Say why a row answers a subscription: its triples, the documents that state them, the conditions.",
        _HUB,
    ),
    "why-not": Announced(
        "reasons:why_not",
        "Say why a resource does not answer a subscription: what fails, and the values that were seen.",
        _HUB,
    ),
    "preview": Announced(
        "preview:run",
        "Look ahead: the answers now, about how often it would have fired, what it costs, and who has it already.",
        _HUB,
    ),
    "query": Announced("query:run", "Ask the current metadata: SELECT, ASK, CONSTRUCT or DESCRIBE.", _HUB),
    "find": Announced(
        "find:run", "Look for documents that match a query now, the newest first; nothing is registered.", _HUB
    ),
    "run": Announced("run:run", "Apply changes to a hub as they come, on Spark, until it is stopped (Ctrl-C).", _HUB),
    "status": Announced("run:status", "Say how the stream into a hub is doing, as it told last, and what waits.", _HUB),
    "rejected": Announced("run:rejected", "Show what a stream could not apply, and why.", _HUB),
    "store": Announced("store:app", "Look after the store of a hub.", _HUB),
    "edge": Announced("edge:app", "Keep at this store what rules register at a hub elsewhere.", _HUB),
    "serve": Announced("serve:run", "Serve a hub over HTTP until it is told to stop.", _SERVICE),
    "peer": Announced("peer:run", "Be a peer of a ring, over HTTP, until it is told to stop.", _SERVICE),
    "network": Announced("network:app", "Look at a network of hubs, from any of them.", _SERVICE),
    "deliver": Announced("deliver:app", "Send events to web hooks, inboxes and digests.", _SERVICE),
    "token": Announced("token:app", "Say who may use a service.", _SERVICE),
}
"""By name, in the order of the help."""


class CommandCatalogue(TyperGroup):
    """The commands, of which only the one that is called is loaded."""

    def __init__(self, **about: Any) -> None:
        super().__init__(**about)
        for name, each in COMMANDS.items():
            self.add_command(TyperCommand(name, help=each.line, rich_help_panel=each.panel))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, instead of what announces it."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else loaded(name), rest


def loaded(name: str) -> Any:
    """A command itself."""
    module, _, attribute = COMMANDS[name].home.partition(":")
    found = getattr(import_module(f"triplewire.cli.commands.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        alone.command(name=name, cls=OnHub if COMMANDS[name].panel else None)(found)
        found = alone
    else:
        for each in found.registered_commands:
            each.cls = OnHub if each.cls is TyperCommand else each.cls
    command = get_command(found)
    command.name = name
    return command
