"""A hub is a hub, in this process or over HTTP: the same names, and both take what any hub takes."""

from __future__ import annotations

import inspect

import pytest

from triplewire import Hub
from triplewire.client import Client
from triplewire.client.deliveries import RemoteDeliveries
from triplewire.deliver.stored import StoreDeliveries
from triplewire.wire.deliveries import AnyDeliveries
from triplewire.wire.hubs import AnyHub

HUBS = [(Hub, AnyHub), (Client, AnyHub)]
PAIRS = [*HUBS, (StoreDeliveries, AnyDeliveries), (RemoteDeliveries, AnyDeliveries)]


def names_of(kind):
    return [name for name, value in vars(kind).items() if inspect.isfunction(value) and not name.startswith("_")]


@pytest.mark.parametrize(("kind", "wanted"), HUBS, ids=lambda kind: kind.__name__)
def test_every_name_takes_what_any_hub_takes(kind, wanted):
    assert len(names_of(wanted)) >= 10
    for name in names_of(wanted):
        asked = inspect.signature(getattr(wanted, name)).parameters
        taken = inspect.signature(getattr(kind, name)).parameters
        for each, parameter in asked.items():
            assert each in taken, (name, each)
            assert taken[each].default == parameter.default, (name, each)
            assert taken[each].kind == parameter.kind, (name, each)
        for each in taken.keys() - asked.keys():
            assert taken[each].default is not inspect.Parameter.empty, (name, each)


@pytest.mark.parametrize(("kind", "wanted"), PAIRS, ids=lambda kind: kind.__name__)
def test_no_name_is_left_to_do_nothing(kind, wanted):
    """What the protocol only names has a body of dots, which a class must not inherit."""
    for name in names_of(wanted):
        inherited = getattr(kind, name) is getattr(wanted, name)
        assert not inherited or name in ("pause", "resume", "each_row", "each_event"), name


@pytest.mark.parametrize("wanted", [AnyHub, AnyDeliveries], ids=lambda kind: kind.__name__)
def test_every_name_says_what_it_does(wanted):
    for name in names_of(wanted):
        assert inspect.getdoc(getattr(wanted, name)), name
