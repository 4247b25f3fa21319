"""Nodes that tell each neighbour every word that they hear: the simplest of networks, to try the world with."""

from __future__ import annotations

from dataclasses import dataclass, field

from triplewire.network.link import Timing
from triplewire.network.node import Node, NodeState
from triplewire.network.simulation import World


@dataclass(slots=True)
class GossipState(NodeState):
    heard: list[str] = field(default_factory=list)


class Gossip(Node):
    state: GossipState

    def say(self, word: str, now: float):
        self._take(None, [word], now)
        return self._sent()

    def hear(self, peer, body, now):
        self._take(peer, [body], now)

    def hear_all(self, peer, body, now):
        self._take(peer, body, now)

    def all_for(self, peer):
        return tuple(self.state.heard)

    def _take(self, giver, words, now):
        for word in words:
            if word not in self.state.heard:
                self.state.heard.append(word)
                for peer in self.neighbours:
                    if peer != giver:
                        self.tell(peer, word, now)


def ring(world: World, size: int) -> list[str]:
    """Nodes in a ring."""
    names = [f"n{number}" for number in range(size)]
    for name in names:
        world.add(GossipState(name, f"{name}-1"), lambda state: Gossip(state, timing=Timing(heartbeat=None)))
    for number, name in enumerate(names):
        world.join(name, names[(number + 1) % size])
    return names


def say(world: World, name: str, word: str) -> None:
    world.carry(name, world.nodes[name].say(word, world.now))


def heard(world: World) -> dict[str, list[str]]:
    return {name: sorted(node.state.heard) for name, node in world.nodes.items()}
