"""Delivery for a service: one deliverer for all of its tenants, those that come later among them."""

from __future__ import annotations

import logging
import threading

from triplewire.deliver import Deliverer
from triplewire.errors import SecretLocked, StoreError
from triplewire.hub.identity.accounts import Accounts, tenants_of
from triplewire.hub.settings import Settings
from triplewire.store import Store

log = logging.getLogger("triplewire.hub")

_LOOK = 5.0
"""Seconds between two looks for new tenants."""


def deliverer_of(settings: Settings, accounts: Accounts) -> Deliverer:
    """A deliverer that knows the accounts of each tenant, and sends nothing for one that was revoked."""
    return Deliverer(reach=settings.reachable, secrets_key=settings.secrets_key, roles=accounts.roles)


def deliver_for(deliverer: Deliverer, settings: Settings, name: str) -> None:
    """Deliver what a tenant has; a store that cannot be used is told in the log, and does not stop the others."""
    store = settings.of_tenant(name).store
    assert store is not None
    try:
        deliverer.serve(name, store)
    except (StoreError, SecretLocked) as error:
        log.error("nothing is delivered for the tenant %s: %s", name, error)


def deliver_for_all(deliverer: Deliverer, settings: Settings, accounts: Accounts) -> None:
    """For every tenant that there is, also those that nobody has asked for yet."""
    for name in sorted(tenants_of(settings, accounts)):
        deliver_for(deliverer, settings, name)


class DeliveryRole:
    """A process that only delivers: it looks for tenants by itself, as nobody tells it of new ones."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._over = threading.Event()
        self._store = Store.open(settings.store)
        self._deliverer = deliverer_of(settings, Accounts(self._store))
        self._deliverer.start()
        self._look()
        self._thread = threading.Thread(target=self._keep_looking, name="triplewire tenants")
        self._thread.start()

    def _look(self) -> None:
        deliver_for_all(self._deliverer, self._settings, Accounts(self._store))

    def _keep_looking(self) -> None:
        while not self._over.wait(_LOOK):
            try:
                self._look()
            except StoreError as error:
                log.error("the tenants cannot be read: %s", error)

    def close(self) -> None:
        """Finish what is on its way."""
        self._over.set()
        self._thread.join()
        self._deliverer.stop()
        self._store.close()
