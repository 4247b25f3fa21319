"""Sending: one message to one receiver, signed as its kind is, and what that gave."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from triplewire.deliver.retrying import Attempt
from triplewire.deliver.signing import hub_signature, webhook_headers
from triplewire.deliver.vault import Vault
from triplewire.errors import SecretLocked
from triplewire.outbound import AddressRefused, Connections, Unreachable, retry_after
from triplewire.store import DeliveryRecord
from triplewire.wire.envelopes import Envelope


async def send(
    connections: Connections, vault: Vault, record: DeliveryRecord, message: Envelope, url: str, now: float
) -> Attempt:
    """Post a message. Whatever goes wrong is an answer as well, told without what the receiver's body says."""
    try:
        headers = {"Content-Type": message.media_type, **dict(message.headers), **_proof(vault, record, message, now)}
    except SecretLocked as error:  # it waits until the key is back, because nothing goes unsigned
        return Attempt(None, f"not sent: {error}")
    try:
        reply = await connections.ask("POST", url, headers, message.body)
    except Unreachable as error:
        return Attempt(None, str(error))
    except AddressRefused as error:
        return Attempt(None, f"not sent: {error}")
    wish = retry_after(reply.headers.get("retry-after", ""), time.time())
    return Attempt(reply.status, f"the receiver says {reply.status}", wish)


def _proof(vault: Vault, record: DeliveryRecord, message: Envelope, now: float) -> dict[str, str]:
    if record.kind == "websub":
        secret = record.settings.get("secret")
        return {"X-Hub-Signature": hub_signature(vault.open(secret), message.body)} if secret else {}
    if record.secrets:
        return webhook_headers(message.id, message.body, list(_opened(vault, record)), now)
    return {}


def _opened(vault: Vault, record: DeliveryRecord) -> Iterator[dict[str, Any]]:
    """The secrets of a delivery; one that another has replaced is left out, if its key is lost."""
    for each in record.secrets:
        try:
            yield {**each, "secret": vault.open(each["secret"])}
        except SecretLocked:
            if each["until"] is None:
                raise
