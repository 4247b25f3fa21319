"""The deliverer: a thread that delivers what one or several stores have, until it is stopped."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterator
from uuid import uuid4

from triplewire.deliver.dispatcher import DeliveryManners, Dispatcher
from triplewire.deliver.lanes import Lanes
from triplewire.deliver.permits import Permits, Roles
from triplewire.deliver.vault import Vault
from triplewire.deliver.work import work
from triplewire.errors import StoreError
from triplewire.outbound import PUBLIC, Connections, Reach
from triplewire.store import Store

log = logging.getLogger("triplewire.deliver")


class Deliverer:
    """Delivers from stores, by url; several processes may do so from the same ones, and share the work.

    `reach` says which machines may be asked besides those of the public internet. `secrets_key` is the file of the key
    that secrets are encrypted with, if it is not beside the store (see `vault`). `with Deliverer() as deliverer:`
    starts it and stops it; `serve` adds a store, under a name that is for logs and numbers. `roles` gives the accounts
    that there are for the store of a name (see `permits`); without it, owners of subscriptions are only names.
    """

    def __init__(
        self,
        *,
        reach: Reach = PUBLIC,
        manners: DeliveryManners | None = None,
        secrets_key: str | None = None,
        roles: Callable[[str], Roles | None] = lambda name: None,
    ) -> None:
        self._roles = roles
        self._secrets_key = secrets_key
        self._manners = manners = manners or DeliveryManners()
        self._lanes = Lanes(overall=manners.overall, per_host=manners.per_host)
        self._connections = Connections(reach, seconds=manners.seconds)
        self._name = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"
        self._dispatchers: dict[str, Dispatcher] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._adding = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="triplewire deliverer", daemon=True)
        self._stopping = asyncio.Event()

    def start(self) -> None:
        """Begin; stores are added with `serve`."""
        self._loop = asyncio.new_event_loop()
        self._thread.start()

    def serve(self, name: str, url: str) -> None:
        """Deliver what this store has, too; from any thread. The same name again changes nothing."""
        with self._adding:
            if name not in self._dispatchers:
                store = Store.open(url)
                try:
                    vault = Vault.of(url, self._secrets_key)
                    vault.seal_all(store)
                    asyncio.run_coroutine_threadsafe(self._add(name, store, vault), self._loop).result()
                except BaseException:
                    store.close()
                    raise

    def ring(self, name: str) -> None:
        """There may be something new in a store: look now, and not only a moment later; from any thread."""
        dispatcher = self._dispatchers.get(name)
        if dispatcher is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(dispatcher.ring)

    def stop(self) -> None:
        """Wait for what is on its way, write what was achieved, and end; what is left is for the next deliverer."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()

    def __iter__(self) -> Iterator[Dispatcher]:
        """The dispatchers, one for each store; for reading numbers."""
        return iter(list(self._dispatchers.values()))

    def __enter__(self) -> Deliverer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._work())
        finally:
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _work(self) -> None:
        try:
            await self._stopping.wait()
            for dispatcher in self._dispatchers.values():
                dispatcher.stop()
            for name, task in self._running.items():
                try:
                    await task
                except StoreError as error:
                    log.error("%s: deliveries ended: %s", name, error)
        finally:
            await self._connections.close()
            for dispatcher in self._dispatchers.values():
                dispatcher.store.close()

    async def _add(self, name: str, store: Store, vault: Vault) -> None:
        permits = Permits(store, lambda: self._roles(name))
        dispatcher = Dispatcher(
            name, store, vault, self._name, work, self._connections, self._lanes, self._manners, permits
        )
        self._dispatchers[name] = dispatcher
        self._running[name] = asyncio.create_task(dispatcher.run(), name=f"triplewire dispatcher {name}")
