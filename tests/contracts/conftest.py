"""The engines that keep the hub's contract: what holds by definition must hold for the hub."""

from __future__ import annotations

import pytest
from tests.contracts.listening import Ear
from tests.contracts.reference import Reference

import triplewire


@pytest.fixture(params=["definition", "hub"])
def hub(request):
    engine = Reference() if request.param == "definition" else triplewire.Hub(":memory:")
    yield engine
    engine.close()


@pytest.fixture
def ear(hub):
    return Ear(hub)
