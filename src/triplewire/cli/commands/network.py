"""`triplewire network`: a network of hubs, asked at any of them."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from triplewire.cli import options
from triplewire.cli.hubs import HubUrl, StoreUrl, client_of, is_address, store_at
from triplewire.cli.listing import print_records
from triplewire.cli.problems import Problems, counted, usage
from triplewire.cli.terminal import print_json, print_text

if TYPE_CHECKING:
    from triplewire.client import Client
    from triplewire.wire.networks import LinkTold, MapTold, NetworkTold, RingPlaceTold

_LEAVING = 60.0
"""Seconds that a hub has for taking back what it has told the others."""
_LOOK = 0.2

app = options.group("Look at a network of hubs, from any of them.")


@app.command()
def status(store: HubUrl, format: options.OutputFormat = None, json: options.AsJson = False) -> None:
    """Say who the members are, where each stands, and how far this hub is with its neighbours.

    A lag is a number of messages that are missing here. It is "unknown" while a neighbour is
    silent: then there may be more.

    [bold]Example[/bold]

    \b
      triplewire network status http://127.0.0.1:8080
    """
    with client_of(_address(store)) as client:
        told = client.network()
    if options.chosen(format, json) == "jsonl":
        print_json(asdict(told))
        return
    if told.ring is not None:
        _print_ring(told, told.ring)
        return
    has_corners = told.network != "hierarchy"
    where = ("corner", "stands_at") if has_corners else ("place", "stands_at_places")
    columns = ("name", *where, "is_away", "url")
    print_records(map(asdict, told.members), columns, options.chosen(format, json), {})
    for link in told.links:
        print_text(_link(link))
    Problems().note(_summary(told))


@app.command("map")
def map_of(store: HubUrl, json: options.AsJson = False) -> None:
    """Draw the whole network: each hub with its place, its links, and what waits on them.

    [bold]Example[/bold]

    \b
      triplewire network map http://127.0.0.1:8080
    """
    with client_of(_address(store)) as client:
        told = client.network_map()
    if json:
        print_json(asdict(told))
        return
    if told.hubs and told.hubs[0].ring is not None:
        _print_circle(told)
        return
    if told.hubs and told.hubs[0].network == "hierarchy":
        _print_units(told.hubs[0])
    for each in sorted(told.hubs, key=lambda one: (not one.place, one.corner or 0, one.place)):
        decides = " (decides who is a member)" if each.name == each.decider else ""
        print_text(f"{each.place or 'no place yet'}: {each.name}{decides}")
        for link in each.links:
            print_text(f"  {_link(link)}")
    for name, reason in told.silent.items():
        Problems().note(f"{name}: {reason}")


@app.command()
def trace(
    store: HubUrl,
    subscription: Annotated[str, typer.Argument(metavar="SUBSCRIPTION", help="The id of a subscription.")],
    cursor: Annotated[
        int | None, typer.Argument(metavar="[CURSOR]", min=0, help="The cursor of an event; the last, if not said.")
    ] = None,
) -> None:
    """Tell the way of an event through the network, in plain words.

    [bold]Example[/bold]

    \b
      triplewire network trace http://127.0.0.1:8080 water
    """
    with client_of(_address(store)) as client:
        for line in client.trace(subscription, cursor).lines:
            print_text(line)


@app.command()
def spread(
    store: HubUrl,
    uri: Annotated[str, typer.Argument(metavar="URI", help="The uri of a document that was published at this hub.")],
) -> None:
    """Tell where a document of a hub went in the network, why there, and why nowhere else.

    [bold]Example[/bold]

    \b
      triplewire network spread http://127.0.0.1:8080 http://example.org/parking
    """
    with client_of(_address(store)) as client:
        for line in client.spread(uri).lines:
            print_text(line)


@app.command()
def move(
    store: HubUrl,
    hub: Annotated[str, typer.Argument(metavar="HUB", help="The name of the hub that you were at (see status).")],
    subscriptions: Annotated[
        list[str] | None, typer.Argument(metavar="[SUBSCRIPTION]...", help="Which ones; all of yours, if not said.")
    ] = None,
    after: Annotated[
        list[str] | None,
        typer.Option(
            "--after", metavar="SUBSCRIPTION=CURSOR", help="How far you have read one there; repeat for more."
        ),
    ] = None,
) -> None:
    """Go on at a hub with the subscriptions that you have at another one of the network.

    What you have not read there goes along; nothing is told twice. Where the hubs ask who you
    are, you have the same key at both.

    [bold]Example[/bold]

    \b
      triplewire network move http://127.0.0.1:8081 harbour-3f2a9c0d1b2e3f4a5b6c7d8e water --after water=17
    """
    read: dict[str, int] = {}
    for each in after or ():
        id, _, cursor = each.rpartition("=")
        if not id or not cursor.isdecimal():
            usage(f"{each}: say it as SUBSCRIPTION=CURSOR, such as water=17")
        read[id] = int(cursor)
    with client_of(_address(store)) as client:
        for moved in client.move_from(hub, subscriptions=subscriptions or (), after=read).subscriptions:
            print_text(f"{moved.id}: goes on here, with events after cursor {moved.cursor}")


@app.command()
def leave(
    store: HubUrl,
    anyway: Annotated[
        bool,
        typer.Option(help="Also while what a subscriber had there, who moves, has not arrived at the other hub."),
    ] = False,
    unit: Annotated[
        str | None, typer.Option("--unit", metavar="NAME", help="All hubs of this unit of a hierarchy, not that one.")
    ] = None,
) -> None:
    """Have a hub, or a peer of a ring, take back what it told the others, and leave the network. A peer ends then.

    It is refused while something waits there for subscribers who move to another hub, and has not arrived.
    With --unit the hubs of a unit leave, one after the other; you are an admin at each of them. At the first
    that refuses it ends: those before have left.

    [bold]Examples[/bold]

    \b
      triplewire network leave http://127.0.0.1:8081
      triplewire network leave http://127.0.0.1:8080 --unit lindhaven/harbour
    """
    if unit is not None:
        _leave_whole(_address(store), unit, anyway=anyway)
        return
    with client_of(_address(store)) as client:
        client.leave_network(anyway=anyway)
    Problems().note("it takes back what it told the others, and leaves; `triplewire network status` says when it has")


@app.command()
def expel(
    store: HubUrl, name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the hub that has to go.")]
) -> None:
    """Let a hub be a member no more, one that will not come back. Ask the hub that decides (see status).

    What it published is gone for the others.

    [bold]Example[/bold]

    \b
      triplewire network expel http://127.0.0.1:8080 hill-3f2a9c0d1b2e3f4a5b6c7d8e
    """
    with client_of(_address(store)) as client:
        client.expel(name)


@app.command()
def identity(store: StoreUrl) -> None:
    """Print the name of a store's hub and its public key: for an account at the hub that it joins, or for its edges.

    [bold]Example[/bold]

    \b
      triplewire network identity hub.db
    """
    from triplewire.network.channels.identities import read_identity

    with store_at(store) as opened, opened.reading() as reader:
        known = read_identity(reader)
    if known is None:
        usage(f"{store}: this hub has no key yet; it makes one when it is first started with triplewire serve")
    print_text(f"{known.name} {known.public_key}")


def _leave_whole(asked: str, unit: str, *, anyway: bool) -> None:
    """Let the hubs of a unit leave, each when those before it are out; the one that is asked for them comes last."""
    with client_of(asked) as client:
        told = client.network()
        inside = [each for each in told.members if each.place.startswith(f"broker {unit.strip('/')}/")]
        if not inside:
            usage(f"--unit {unit}: no hub of this network is in it; `triplewire network map` draws its units")
        away = [each.name for each in inside if each.is_away]
        if away:
            usage(f"--unit {unit}: {', '.join(away)} cannot be asked, being away; expel it, or wait until it is back")
        others = [each for each in inside if each.name != told.name]
        for each in others:
            with client_of(each.url) as other:
                other.leave_network(anyway=anyway)
            _wait_until_out(client, each.name)
            print_text(f"{each.name} has left")
        if len(others) < len(inside):
            client.leave_network(anyway=anyway)
            print_text(f"{told.name} leaves")


def _wait_until_out(client: Client, name: str) -> None:
    """Until a hub is no member any more; the command ends if that takes too long."""
    until = time.monotonic() + _LEAVING
    while any(each.name == name for each in client.network().members):
        if time.monotonic() > until:
            Problems().note(
                f"{name} leaves, and is still a member after {_LEAVING:g} seconds; the others have not left"
            )
            raise typer.Exit(1)
        time.sleep(_LOOK)


def _address(store: str) -> str:
    if not is_address(store):
        usage(
            f"{store}: a network is asked over HTTP: name the address of a hub that runs, such as http://127.0.0.1:8080"
        )
    return store


def _link(link: LinkTold) -> str:
    state = "open" if link.is_open else "closed"
    lag = "unknown" if link.lag is None else str(link.lag)
    flows = f"{counted(link.interests, 'interest')} from there"
    return (
        f"{link.place} to {link.to_place} ({link.member}): {state}, {link.waiting} waiting, lag {lag}, "
        f"silent for {link.silence:g} s, {flows}"
    )


def _print_ring(told: NetworkTold, ring: RingPlaceTold) -> None:
    """The peers around the circle as this one knows them, the peers next to it, and what it keeps."""
    roles = {link.member: link.to_place for link in told.links} | {told.name: "this peer"}
    waiting = {link.member: link.waiting for link in told.links}
    known = [
        asdict(each) | {"is": roles.get(each.name, ""), "waiting": waiting.get(each.name, 0)} for each in told.members
    ]
    print_records(known, ("place", "name", "is", "waiting", "is_connected", "is_away", "url"), "table", {})
    Problems().note(f"{told.name}: {_kept(told, ring)}")


def _print_circle(told: MapTold) -> None:
    """All peers around the circle, each with what it says of itself."""
    for each in sorted(told.hubs, key=lambda one: float(one.place.removesuffix(" %") or 0)):
        assert each.ring is not None, "it is a peer"
        print_text(
            f"{each.place or 'no place yet'}: {each.name}, then {', '.join(each.ring.successors[:1]) or 'itself'}"
        )
        print_text(f"  {_kept(each, each.ring)}")
    for name, reason in told.silent.items():
        Problems().note(f"{name}: {reason}")


def _kept(told: NetworkTold, ring: RingPlaceTold) -> str:
    keys = (
        f"{counted(ring.keys, 'key')} of its own ({100 * ring.share:.1f} % of the circle) with {ring.triples} triples"
    )
    keys += f" and {ring.waiting_queries} waiting queries, {counted(ring.copies, 'key')} for others"
    own = f"{counted(told.subscriptions, 'subscription')} and {counted(told.documents, 'document')} of its clients"
    lag = f"{counted(ring.unanswered, 'message')} unanswered, the oldest for {ring.lag:g} s"
    problem = f"; {told.problem}" if told.problem else ""
    return f"{ring.algorithm}, {keys}; {own}; {lag}{problem}"


def _print_units(told: NetworkTold) -> None:
    """The tree of units, each with the hub that controls it, and brokers with theirs."""
    stands = sorted((place, each) for each in told.members for place in each.stands_at_places)
    for place, member in sorted(stands, key=lambda one: one[0].partition(" ")[2].strip("/").split("/")):
        kind, _, path = place.partition(" ")
        names = [name for name in path.split("/") if name]
        verb = "controlled by " if kind == "unit" else "" if member.place == place else "stood in for by "
        print_text(f"{'  ' * len(names)}{names[-1] if names else 'the network'}: {verb}{member.name}")


def _summary(told: NetworkTold) -> str:
    problem = f"; {told.problem}" if told.problem else ""
    asked = f"{counted(told.subscriptions, 'interest')} of its own, {counted(told.documents, 'document')} kept"
    return f"{told.name}: {asked}; {told.decider} decides who is a member{problem}"
