"""What the tests of the store share: a store of every kind of database."""

from __future__ import annotations

import pytest

from triplewire.store import Store


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def kind(request):
    """Every kind of database."""
    return request.param


@pytest.fixture(params=["sqlite", "postgresql"])
def shared_kind(request):
    """Every kind of database that several processes can have open."""
    return request.param


@pytest.fixture
def store(kind, new_url):
    """An empty store of every kind."""
    with Store.open(new_url(kind)) as opened:
        yield opened


@pytest.fixture
def shared(shared_kind, new_url):
    """An empty store of every kind that several processes can have open."""
    with Store.open(new_url(shared_kind)) as opened:
        yield opened
