"""Sending: one message to one receiver, signed as its kind is, and what that gave; or a test, for who sets it up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from triplewire.deliver.registry import time_told
from triplewire.deliver.retrying import Attempt
from triplewire.deliver.signing import hub_signature, webhook_headers
from triplewire.deliver.vault import Vault
from triplewire.errors import BadRequest, SecretLocked
from triplewire.outbound import AddressRefused, Connections, Reach, Unreachable, retry_after
from triplewire.store import DeliveryRecord
from triplewire.wire.deliveries import Pinged
from triplewire.wire.envelopes import Envelope, ping_event

_SECONDS = 10.0
"""For the answer to a test."""


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


async def ping(record: DeliveryRecord, reach: Reach, vault: Vault) -> Pinged:
    """What the receiver says to a test, outside the order of events; only who takes CloudEvents understands one."""
    if record.kind not in ("webhook", "digest"):
        raise BadRequest(f"a test can be sent to a webhook or a digest, and this is of the kind {record.kind}")
    began = time.time()
    message = ping_event(record.subscription, record.id, uuid4().int >> 96, time_told(began))
    connections = Connections(reach, seconds=_SECONDS)
    try:
        answer = await send(connections, vault, record, message, record.settings["url"], began)
    finally:
        await connections.close()
    return Pinged(answer.is_fine, answer.status, answer.text, round(time.time() - began, 3))


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
