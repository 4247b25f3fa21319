"""`triplewire deliver`: where events are sent, and sending them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from triplewire.cli import options
from triplewire.cli.hubs import HOW_TO_DELIVER, HubUrl, StoreUrl, deliveries_at, store_at, url_of
from triplewire.cli.listing import print_records
from triplewire.cli.problems import SOME_BAD, Problems, counted, needing, usage, usage_for
from triplewire.cli.signals import ended_by
from triplewire.cli.terminal import print_json, print_text
from triplewire.errors import SecretLocked

if TYPE_CHECKING:
    from triplewire.outbound import Reach

app = options.group("Send events to web hooks, inboxes and digests.")

_COLUMNS = ("id", "subscription", "kind", "url", "state", "delivered", "lag", "dead", "last_error")
_LETTERS = ("number", "id", "reason", "attempts", "died", "replay")

DeliveryId = Annotated[str, typer.Argument(metavar="DELIVERY", help="The id of a delivery, as `list` tells it.")]
Numbers = Annotated[
    list[int], typer.Argument(metavar="NUMBER", help="Numbers of dead letters, as `dead` tells them; all, if none.")
]
ReachOption = Annotated[
    str,
    typer.Option(
        "--reach",
        metavar="NETWORKS",
        help="Networks besides the public internet that may be asked: 127.0.0.0/8, fd00::/8; `private` for all.",
    ),
]


@app.command()
def add(
    store: HubUrl,
    subscription: Annotated[str, typer.Argument(metavar="SUBSCRIPTION", help="The id of a subscription.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="Where to send; for ldn, an inbox or what has one.")],
    kind: Annotated[
        Literal["webhook", "digest", "ldn"],
        typer.Option("--kind", help="Each event signed; a signed digest; a notification to an inbox."),
    ] = "webhook",
    every: Annotated[
        Literal["hourly", "daily"] | None,
        typer.Option("--every", help="How often a digest comes; daily, if not said."),
    ] = None,
    contents: Annotated[bool, typer.Option("--contents", help="With the content before and after.")] = False,
    after: Annotated[int, typer.Option("--after", min=0, help="Begin after this cursor.")] = 0,
    from_now: Annotated[bool, typer.Option("--from-now", help="Only what happens from now on.")] = False,
    json: options.AsJson = False,
) -> None:
    """Send the events of a subscription somewhere; print the secret, which cannot be found out later.

    [bold]Examples[/bold]

    \b
      triplewire deliver add hub.db maja https://maja.example/hook
      triplewire deliver add hub.db maja https://maja.example/hook --kind digest --every daily
      triplewire deliver add hub.db maja https://pod.example/maja --kind ldn --from-now
    """
    with deliveries_at(store) as deliveries:
        made = deliveries.add(
            subscription,
            url,
            kind=kind,
            every="daily" if kind == "digest" and every is None else every,
            contents=contents,
            after=None if from_now else after,
        )
    if json:
        print_json(made)
        return
    if made["secret"]:
        print_text(made["secret"])
    Problems().note(f"events of {subscription} go to {url} as the delivery {made['id']}")


@app.command(name="list")
def listing(
    store: HubUrl,
    subscription: Annotated[
        str | None, typer.Option("--subscription", metavar="ID", help="Only those of this subscription.")
    ] = None,
    format: options.OutputFormat = None,
    json: options.AsJson = False,
) -> None:
    """List the deliveries, and how they are.

    [bold]Example[/bold]

    \b
      triplewire deliver list hub.db
    """
    with deliveries_at(store) as deliveries:
        print_records(deliveries.listing(subscription), _COLUMNS, options.chosen(format, json), {})


@app.command()
def pause(store: HubUrl, delivery: DeliveryId) -> None:
    """Send nothing until it is resumed; what happens meanwhile is sent then."""
    with deliveries_at(store) as deliveries:
        deliveries.pause(delivery)


@app.command()
def resume(store: HubUrl, delivery: DeliveryId) -> None:
    """Go on where it was, at once: also after it was disabled."""
    with deliveries_at(store) as deliveries:
        deliveries.resume(delivery)


@app.command()
def remove(store: HubUrl, delivery: DeliveryId) -> None:
    """Deliver no more, and forget what could not be delivered."""
    with deliveries_at(store) as deliveries:
        deliveries.remove(delivery)


@app.command()
def secret(store: HubUrl, delivery: DeliveryId) -> None:
    """Make a new secret and print it; for a day, messages are signed with the old one as well."""
    with deliveries_at(store) as deliveries:
        print_text(deliveries.rotate(delivery))


@app.command()
def ping(store: HubUrl, delivery: DeliveryId, reach: ReachOption = "") -> None:
    """Send a test, which is no event, and say what the receiver says; exit code 1 if it did not arrive."""
    with deliveries_at(store, _reach(reach)) as deliveries:
        said = deliveries.ping(delivery)
    Problems().note(f"{'arrived' if said['arrived'] else 'did not arrive'}: {said['detail']} ({said['seconds']:g} s)")
    if not said["arrived"]:
        raise typer.Exit(SOME_BAD)


@app.command()
def dead(
    store: HubUrl, delivery: DeliveryId, format: options.OutputFormat = None, json: options.AsJson = False
) -> None:
    """List the messages that were given up."""
    with deliveries_at(store) as deliveries:
        print_records(deliveries.dead(delivery), _LETTERS, options.chosen(format, json), {})


@app.command()
def replay(store: HubUrl, delivery: DeliveryId, numbers: Numbers = []) -> None:
    """Try messages again that were given up, before anything else is sent."""
    with deliveries_at(store) as deliveries:
        Problems().note(f"{counted(deliveries.replay(delivery, numbers), 'message')} will be tried again")


@app.command()
def drop(store: HubUrl, delivery: DeliveryId, numbers: Numbers = []) -> None:
    """Forget messages that were given up."""
    with deliveries_at(store) as deliveries:
        Problems().note(f"{counted(deliveries.drop(delivery, numbers), 'message')} dropped")


@app.command()
def run(store: StoreUrl, reach: ReachOption = "") -> None:
    """Deliver what a store has until it is told to stop. `triplewire serve` does so by itself.

    Several may run on one store: they share the deliveries, and each is held by one at a
    time. What one leaves undone, because it was stopped or killed, another goes on with.

    [bold]Example[/bold]

    \b
      triplewire deliver run postgresql://hub@db.example/hub
    """
    with needing(HOW_TO_DELIVER):
        from triplewire.deliver import Deliverer
    from triplewire.hub.identity.accounts import Accounts

    ended, note = threading.Event(), Problems().note
    with (
        store_at(store) as opened,
        ended_by(lambda *_: ended.set()),
        Deliverer(reach=_reach(reach), roles=Accounts(opened).roles) as deliverer,
    ):
        with usage_for(SecretLocked):
            deliverer.serve("main", url_of(store))
        note("delivering; stop it with Ctrl-C")
        ended.wait()
    note("stopped; what was delivered is in the store")


@app.command()
def key(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Where the key shall be; it must not be there.")],
) -> None:
    """Make a key that secrets of deliveries are encrypted with, for a store on a server.

    Beside a store that is a file, one is made when it is first needed. Elsewhere every process
    of the hub must have the same: name its file in TRIPLEWIRE_SECRETS_KEY, or as secrets_key
    in the settings. Keep a copy: without it, deliveries need new secrets.

    [bold]Example[/bold]

    \b
      triplewire deliver key secrets.key
    """
    with needing(HOW_TO_DELIVER):
        from triplewire.deliver.vault import make_key
    if path.exists():
        usage(f"{path} is there already; a key that is in use must stay as it is")
    try:
        make_key(path)
    except OSError as error:
        usage(f"{path} cannot be written: {error.strerror}")
    Problems().note(f"{path} has a new key; only you can read it, so keep it, and keep a copy")


def _reach(text: str) -> Reach:
    from triplewire.outbound import Reach

    with usage_for(ValueError, before=f"--reach {text}: ", after="; write networks with commas, or private"):
        return Reach.of(text)
