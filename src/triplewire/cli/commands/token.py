"""`triplewire token`: who may use a service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from triplewire.cli import options
from triplewire.cli.hubs import StoreUrl, store_at
from triplewire.cli.listing import print_records
from triplewire.cli.problems import Problems, usage, usage_for
from triplewire.cli.terminal import print_text
from triplewire.errors import BadRequest

app = options.group("Say who may use a service.")

RoleName = Literal["reader", "publisher", "admin"]


@app.command()
def create(
    store: StoreUrl,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is, for people to read.")],
    role: Annotated[
        RoleName,
        typer.Option("--role", help="Readers look and subscribe, publishers change documents too, admins everything."),
    ] = "reader",
    tenant: Annotated[str, typer.Option("--tenant", help="Whose hub it is for.")] = "main",
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", metavar="FILE", help="Instead of a token: the Ed25519 private key in this file, made if missing."
        ),
    ] = None,
    public_key: Annotated[
        str | None,
        typer.Option(
            "--public-key", metavar="HEX", help="Instead of a token: the public half of a key that another machine has."
        ),
    ] = None,
) -> None:
    """Make an account, and print its token: it cannot be found out later.

    With --key or --public-key, the account's id is printed: its owner proves it with the private key.

    [bold]Examples[/bold]

    \b
      triplewire token create hub.db harbour --role publisher
      triplewire token create hub.db maja --key maja.pem
      triplewire token create hub.db willi --public-key 3b6a…
    """
    if key is not None and public_key is not None:
        usage("--key and --public-key are two ways to say the same; leave one out")
    from triplewire.hub.identity.accounts import Accounts

    with store_at(store, create=True) as opened:  # a token may be the first thing that it holds
        accounts = Accounts(opened)
        public = public_key if key is None else _public_key(key)
        if public is None:
            account, token = accounts.create_token(name, role=role, tenant=tenant)
            print_text(token)
        else:
            with usage_for(BadRequest):
                account = accounts.add_key(name, public, role=role, tenant=tenant)
            print_text(account.id)
    Problems().note(f"{account.name} is {account.standing} of the tenant {account.tenant}; its account is {account.id}")


@app.command(name="list")
def listing(store: StoreUrl, format: options.OutputFormat = None, json: options.AsJson = False) -> None:
    """List the accounts.

    [bold]Example[/bold]

    \b
      triplewire token list hub.db
    """
    from triplewire.hub.identity.accounts import Accounts

    with store_at(store) as opened:
        found = [account.public() for account in Accounts(opened).all().values()]
    columns = ("id", "name", "role", "tenant", "created", "public_key")
    print_records(found, columns, options.chosen(format, json), {})


@app.command()
def revoke(
    store: StoreUrl, ids: Annotated[list[str], typer.Argument(metavar="ACCOUNT", help="Ids of accounts.")]
) -> None:
    """Take accounts back, and all that is sent for them; a running service knows within a second.

    [bold]Example[/bold]

    \b
      triplewire token revoke hub.db 3f9a0c12ab34
    """
    from triplewire.hub.identity.accounts import Accounts

    with store_at(store) as opened:
        for id in ids:
            gone = Accounts(opened).revoke(id)
            Problems().note(f"{gone.name} ({gone.role}) is revoked")


@app.command(name="role")
def role_of(
    store: StoreUrl,
    id: Annotated[str, typer.Argument(metavar="ACCOUNT", help="The id of an account.")],
    role: Annotated[RoleName, typer.Argument(metavar="ROLE", help="reader, publisher or admin.")],
) -> None:
    """Let an account have another role; a running service knows within a second.

    What subscriptions of a former admin find, which saw everything, is not sent any more.

    [bold]Example[/bold]

    \b
      triplewire token role hub.db 3f9a0c12ab34 reader
    """
    from triplewire.hub.identity.accounts import Accounts

    with store_at(store) as opened:
        account = Accounts(opened).set_role(id, role)
    Problems().note(f"{account.name} is {account.standing} of the tenant {account.tenant} now")


def _public_key(path: Path) -> str:
    """The public key, in hexadecimal, to the private one in a file; the file is made for its owner's eyes only."""
    from triplewire.wire.keys import new_private_key, public_key_of

    with usage_for(OSError, ValueError, before=f"{path}: this is no Ed25519 private key that can be used: "):
        if not path.exists():
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(new_private_key())
        return public_key_of(path.read_bytes())
