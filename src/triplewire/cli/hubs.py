"""Hubs on a store: opened by a file's name or a url, with errors that say what to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from triplewire.cli.problems import SOME_BAD, Problems, needing, usage, usage_for
from triplewire.errors import StoreError, StoreUnavailable, TriplewireError

if TYPE_CHECKING:
    from triplewire import Hub
    from triplewire.client import Client
    from triplewire.outbound import Reach
    from triplewire.store import Store
    from triplewire.wire.deliveries import AnyDeliveries
    from triplewire.wire.hubs import AnyHub

_ANYWHERE = "Instead of it, --hub STORE (or --store STORE) may stand anywhere."

StoreUrl = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help=f"A hub: the file or url where it keeps everything (hub.db, postgresql://user@host/database). {_ANYWHERE}",
    ),
]

HubUrl = Annotated[
    str,
    typer.Argument(
        metavar="STORE",
        help="A hub: the file or url where it keeps everything (hub.db, postgresql://user@host/database), "
        "or the address of one that is served (http://127.0.0.1:8080; its token is in TRIPLEWIRE_TOKEN). "
        f"{_ANYWHERE}",
    ),
]


class OnHub(TyperCommand):
    """A command on a STORE, which may be given by name as well: `triplewire rows maja --hub http://...`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, with the hub where the STORE stands."""
        return super().parse_args(ctx, with_hub_first(args))


_NAMES = ("--hub", "--store")


def with_hub_first(arguments: list[str]) -> list[str]:
    """The arguments with the value of --hub (or --store) as the first of them.

    >>> with_hub_first(["maja", "--hub", "http://127.0.0.1:8080", "--json"])
    ['http://127.0.0.1:8080', 'maja', '--json']
    """
    for place, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if argument == "--":
            break
        if name in _NAMES and equals:
            return [value, *arguments[:place], *arguments[place + 1 :]]
        if name in _NAMES and place + 1 < len(arguments):
            return [arguments[place + 1], *arguments[:place], *arguments[place + 2 :]]
    return arguments


_HOW_TO_GET_IT = "a store needs SQLAlchemy: pip install 'triplewire[store]'"
HOW_TO_DELIVER = "deliveries need more packages: pip install 'triplewire[hub]'"


def url_of(given: str) -> str:
    """The url of a store; ends the command for what is none."""
    store_class()
    from triplewire.store.urls import url_of as store_url

    if is_address(given):
        usage(f"{given} is a hub that is served; this command works on the store itself, on the machine that has it")
    with usage_for(StoreError):
        return store_url(given)


def store_class() -> type[Store]:
    """The class of stores; ends the command if what it needs is not installed."""
    with needing(_HOW_TO_GET_IT):
        from triplewire.store import Store
    return Store


@contextmanager
def store_at(given: str, *, create: bool = False) -> Iterator[Store]:
    """The store itself, made if need be; ends the command if there is none. What fails inside is reported, and ends it.

    What a command says is done stays done, also if the machine loses its power: a token that was revoked, for example.
    """
    url = url_of(given)
    if create:
        note_new(given)
    try:
        store = store_class().open(url, create=create, durable=True)
    except StoreError as error:
        usage(f"{error}{'' if create else _hint(url)}")
    with _told(given), store:
        yield store


def _hint(url: str) -> str:
    """What may be meant by the name of a file that is not there, and how to make one."""
    from triplewire.store.urls import file_of

    path = file_of(url)
    if path is None or path.exists():
        return ""
    others = [each.name for each in path.parent.glob("*.db")] if path.parent.is_dir() else []
    near = get_close_matches(path.name, others, 1) or others[:1]
    meant = f"; do you mean {path.with_name(near[0])}" if near else ""
    return f"{meant}; a new store is made by triplewire subscribe, or by publish --create"


def note_new(given: str) -> None:
    """Say that a store will be made, if there is none: nobody who mistyped a name should think that it was found."""
    try:
        store_class().open(url_of(given), create=False).close()
    except StoreUnavailable:
        Problems().note(f"{given}: there was no store; this is a new one")
    except StoreError:
        return


def is_address(given: str) -> bool:
    """Whether this is where a service listens, and not a store."""
    return given.startswith(("http://", "https://"))


@contextmanager
def client_of(given: str) -> Iterator[Client]:
    """A client of the hub at an address; it proves an account by what is in the environment."""
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # httpx's own command, a third of its loading
    with needing("to use a hub over HTTP needs more packages: pip install 'triplewire[client]'"):
        from triplewire.client import Client
    token, account, key = (os.environ.get(f"TRIPLEWIRE_{name}") or None for name in ("TOKEN", "ACCOUNT", "KEY"))
    with _told(given), Client(given, token=token, account=account, key=key) as client:
        yield client


def hub_at(given: str, *, create: bool = False) -> AbstractContextManager[AnyHub]:
    """The hub on a store, or at an address; the same of errors."""
    return client_of(given) if is_address(given) else hub_on(given, create=create)


@contextmanager
def deliveries_at(given: str, reach: Reach | None = None) -> Iterator[AnyDeliveries]:
    """The deliveries of the hub on a store, or at an address; `reach` is where a test may go that a store sends."""
    if is_address(given):
        with client_of(given) as client:
            yield client.deliveries
        return
    with needing(HOW_TO_DELIVER):
        from triplewire.deliver.stored import StoreDeliveries
    with store_at(given) as store:
        yield StoreDeliveries(store, reach)


@contextmanager
def hub_on(given: str, *, create: bool = False) -> Iterator[Hub]:
    """The hub on a store; the same of errors."""
    with store_at(given, create=create):
        pass
    from triplewire import Hub

    with usage_for(StoreError):
        hub = Hub(url_of(given), durable=True)
    with _told(given), hub:
        yield hub


@contextmanager
def _told(given: str) -> Iterator[None]:
    try:
        yield
    except TriplewireError as error:
        Problems().report(given, error)
        raise typer.Exit(SOME_BAD) from None
