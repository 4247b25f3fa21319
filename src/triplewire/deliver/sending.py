"""Sending: one message to one receiver, signed as its kind is, and what that gave."""

from __future__ import annotations

import time

from triplewire.deliver.envelopes import Message
from triplewire.deliver.retrying import Answer
from triplewire.deliver.signing import hub_signature, webhook_headers
from triplewire.outbound import Connections, Refused, Unreachable, retry_after
from triplewire.store import DeliveryRecord


async def send(connections: Connections, record: DeliveryRecord, message: Message, url: str, now: float) -> Answer:
    """Post a message. Whatever goes wrong is an answer as well, told without what the receiver's body says."""
    headers = {"Content-Type": message.media_type, **dict(message.headers), **_proof(record, message, now)}
    try:
        reply = await connections.ask("POST", url, headers, message.body)
    except Unreachable as error:
        return Answer(None, str(error))
    except Refused as error:
        return Answer(None, f"not sent: {error}")
    wish = retry_after(reply.headers.get("retry-after", ""), time.time())
    return Answer(reply.status, f"the receiver says {reply.status}", wish)


def _proof(record: DeliveryRecord, message: Message, now: float) -> dict[str, str]:
    if record.kind == "websub":
        secret = record.settings.get("secret")
        return {"X-Hub-Signature": hub_signature(secret, message.body)} if secret else {}
    if record.secrets:
        return webhook_headers(message.id, message.body, record.secrets, now)
    return {}
