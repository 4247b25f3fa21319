"""Pinging: a test message at once, outside the order of events, for a person who sets a delivery up."""

from __future__ import annotations

import time
from uuid import uuid4

from triplewire.deliver.digests import moment
from triplewire.deliver.sending import send
from triplewire.deliver.vault import Vault
from triplewire.errors import BadRequest
from triplewire.outbound import Connections, Reach
from triplewire.store import DeliveryRecord
from triplewire.wire.deliveries import Pinged
from triplewire.wire.envelopes import ping_event

_SECONDS = 10.0


async def ping(record: DeliveryRecord, reach: Reach, vault: Vault) -> Pinged:
    """What the receiver says to a test; only who takes CloudEvents understands one."""
    if record.kind not in ("webhook", "digest"):
        raise BadRequest(f"a test can be sent to a webhook or a digest, and this is of the kind {record.kind}")
    began = time.time()
    message = ping_event(record.subscription, record.id, uuid4().int >> 96, moment(began))
    connections = Connections(reach, seconds=_SECONDS)
    try:
        answer = await send(connections, vault, record, message, record.settings["url"], began)
    finally:
        await connections.close()
    return Pinged(answer.is_fine, answer.status, answer.text, round(time.time() - began, 3))
