"""Who wants what, and who publishes it: topics, each with a share of the hubs that ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

COVERED = 0.5
"""The share of subscriptions that ask for less than another one of their topic does."""

UNADVERTISED = 0.1
"""The share of topics that subscriptions ask for, and that nobody advertises."""

VALUES = 10
"""Documents say one of so many values of their topic's property."""

KINDS = ("schemas", "properties", "values")
"""In turn, topics are advertised by one of these."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A property, the hubs with subscriptions to it and their texts, and the hubs that advertise and publish it."""

    name: str
    asked: Sequence[tuple[int, str]]
    publishers: Sequence[int]
    kind: str = "properties"

    @property
    def advertisement(self) -> dict[str, Any]:
        """What a publisher advertises, in the words of `SimulatedClient.advertise`."""
        if self.kind == "values":
            return {"values": {self.name: range(VALUES)}}
        return {self.kind: [self.name if self.kind == "properties" else self.name.removesuffix("value")]}


@dataclass(frozen=True, slots=True)
class Demand:
    """Topics, and documents: each with its publisher, its number and its text."""

    topics: Sequence[Topic]
    documents: Sequence[tuple[int, int, str]]

    @property
    def subscriptions(self) -> int:
        return sum(len(topic.asked) for topic in self.topics)


def demand(
    nodes: Sequence[int], subscriptions: int, documents: int, interested: float, publishing: float, seed: int
) -> Demand:
    """Topics are added until there are so many subscriptions; shares are of the hubs, and at least one of them."""
    chance = Random(seed)
    topics: list[Topic] = []
    left = subscriptions
    while left > 0:
        asking = chance.sample(nodes, min(left, max(1, round(interested * len(nodes)))))
        is_advertised = not topics or chance.random() >= UNADVERTISED
        publishers = chance.sample(nodes, max(1, round(publishing * len(nodes)))) if is_advertised else []
        name = f"urn:topic/{len(topics)}/value"
        asked = [(node, _query(name, chance)) for node in asking]
        topics.append(Topic(name, asked, publishers, KINDS[len(topics) % len(KINDS)]))
        left -= len(asking)
    published = [topic for topic in topics if topic.publishers]
    told = [_document(chance.choice(published), number, chance) for number in range(documents)]
    return Demand(topics, told)


def _query(name: str, chance: Random) -> str:
    condition = f" FILTER(?x > {chance.randrange(VALUES // 2)})" if chance.random() < COVERED else ""
    return f"SELECT ?d ?x {{ ?d <{name}> ?x{condition} }}"


def _document(topic: Topic, number: int, chance: Random) -> tuple[int, int, str]:
    return (
        chance.choice(topic.publishers),
        number,
        f"<urn:document/{number}> <{topic.name}> {chance.randrange(VALUES)} .",
    )
