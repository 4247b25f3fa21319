"""Who wants what, and who publishes it: topics, each with a share of the hubs that ask for it.

A hub that asks for a topic does so twice: for all of it, and for a part of it. So half of the subscriptions are
covered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

UNADVERTISED = 0.1
"""The share of topics that subscriptions ask for, and that nobody advertises."""

VALUES = 10
"""Documents say one of so many values of their topic's property."""

KINDS = ("schemas", "properties", "values")
"""In turn, topics are advertised by one of these."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A subscription at a hub: to all of a topic, or to values that are greater than `above`."""

    node: int
    topic: str
    above: int | None = None

    @property
    def text(self) -> str:
        condition = "" if self.above is None else f" FILTER(?x > {self.above})"
        return f"SELECT ?d ?x {{ ?d <{self.topic}> ?x{condition} }}"

    def wants(self, value: int) -> bool:
        """Whether a document with this value is told."""
        return self.above is None or value > self.above


@dataclass(frozen=True, slots=True)
class Topic:
    """A property, the subscriptions to it, and the hubs that advertise and publish it."""

    name: str
    asked: Sequence[Asked]
    publishers: Sequence[int]
    kind: str = "properties"


@dataclass(frozen=True, slots=True)
class Published:
    """A document of a topic, published at a hub."""

    node: int
    uri: str
    topic: Topic
    value: int

    @property
    def text(self) -> str:
        return f"<{self.uri}> <{self.topic.name}> {self.value} ."

    @property
    def told(self) -> list[Asked]:
        """The subscriptions that are told of it."""
        return [asked for asked in self.topic.asked if asked.wants(self.value)]


@dataclass(frozen=True, slots=True)
class Demand:
    """Topics, and documents."""

    topics: Sequence[Topic]
    documents: Sequence[Published]

    @property
    def subscriptions(self) -> int:
        """How many there are."""
        return sum(len(topic.asked) for topic in self.topics)

    @property
    def told(self) -> int:
        """How many events are told: each document once to each subscription that it matches."""
        return sum(len(document.told) for document in self.documents)

    @property
    def advertisements(self) -> dict[int, dict[str, Any]]:
        """By hub, what it advertises, in the words of `SimulatedClient.advertise`."""
        found: dict[int, dict[str, Any]] = {}
        for topic in self.topics:
            for node in topic.publishers:
                said = found.setdefault(node, {"schemas": [], "properties": [], "values": {}})
                if topic.kind == "values":
                    said["values"][topic.name] = range(VALUES)
                else:
                    said[topic.kind].append(topic.name if topic.kind == "properties" else _schema(topic.name))
        return found


def demand(
    nodes: Sequence[int], subscriptions: int, documents: int, interested: float, publishing: float, seed: int
) -> Demand:
    """Topics are added until there are so many subscriptions; shares are of the hubs, and at least one of them."""
    chance = Random(seed)
    topics: list[Topic] = []
    left = subscriptions
    while left > 0:
        asking = chance.sample(nodes, min((left + 1) // 2, max(1, round(interested * len(nodes)))))
        is_advertised = not topics or chance.random() >= UNADVERTISED
        publishers = chance.sample(nodes, max(1, round(publishing * len(nodes)))) if is_advertised else []
        name = f"urn:topic/{len(topics)}/value"
        asked = [Asked(node, name, above) for node in asking for above in (None, chance.randrange(VALUES // 2))][:left]
        topics.append(Topic(name, asked, publishers, KINDS[len(topics) % len(KINDS)]))
        left -= len(asked)
    published = [topic for topic in topics if topic.publishers]
    return Demand(topics, [_document(chance.choice(published), number, chance) for number in range(documents)])


def _document(topic: Topic, number: int, chance: Random) -> Published:
    return Published(chance.choice(topic.publishers), f"urn:document/{number}", topic, chance.randrange(VALUES))


def _schema(name: str) -> str:
    return name.removesuffix("value")
