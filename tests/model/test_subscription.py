"""Subscriptions: values that refuse to be built wrong."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from triplewire import compile
from triplewire.errors import SubscriptionError
from triplewire.model import Subscription

TEXT = "SELECT ?s {\n  ?s a <urn:Dataset>\n}"


def test_a_subscription_is_a_frozen_value_that_crosses_processes():
    subscription = Subscription("s", TEXT, "sparql", "graph", "ever", "ann", compile(TEXT, language="sparql"))
    copy = pickle.loads(pickle.dumps(subscription))
    assert copy == subscription
    assert copy.pattern == subscription.pattern
    assert hash(copy) == hash(subscription)
    with pytest.raises(dataclasses.FrozenInstanceError):
        subscription.owner = "bob"


@pytest.mark.parametrize(("field", "value"), [("scope", "world"), ("start", "yesterday")])
def test_an_unknown_scope_or_start_is_refused_and_the_choices_are_named(field, value):
    with pytest.raises(SubscriptionError, match=f"{field} is '{value}'; it must be '") as caught:
        Subscription("s", TEXT, "sparql", **{field: value})
    assert caught.value.subscription == "s"


def test_a_subscription_reads_as_one_line():
    text = str(Subscription("s", TEXT, "sparql", owner="ann"))
    assert text == "s of ann (sparql, scope document, start now): SELECT ?s { ?s a <urn:Dataset> }"
