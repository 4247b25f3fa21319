"""Live nodes of tests, run step by step in one thread, without sockets: what they send is handed over in order."""

from __future__ import annotations

from itertools import combinations

from triplewire.network.live import LiveNode, NetworkHub
from triplewire.network.live.node import Input, _Asked, _awaited


class Exchange:
    """Carries the messages of nodes to each other, and remembers the order of what happens."""

    def __init__(self) -> None:
        self.nodes: dict[str, LiveNode] = {}
        self.happened: list[str] = []
        self.closed: list[str] = []
        self.now = 1_000.0

    def add(self, hub: NetworkHub, *, founds: bool) -> LiveNode:
        post = _Post(self, hub.identity.name)
        node = LiveNode(hub, f"http://127.0.0.1/{hub.identity.name}", post, patience=30.0, founds=founds)
        node._load()
        write = hub.take_step

        def noted(*about):
            found = write(*about)
            self.happened.append(f"durable {node.name}")
            return found

        def do(deed, prepare=None):
            asked = _Asked(deed, prepare)
            node._inputs.put(Input("call", about=lambda now: node._deeds.append(asked)))
            self.step(node)
            return _awaited(asked.done, asked.found)

        hub.take_step, node.do = noted, do
        self.nodes[node.name] = node
        return node

    def connect(self, one: LiveNode, other: LiveNode) -> None:
        for a, b in ((one, other), (other, one)):
            a.opened(b.name, b._hub.identity.public_key)

    def form(self, hubs: list[NetworkHub]) -> list[LiveNode]:
        """A network of these hubs; the first one begins."""
        made = [self.add(hub, founds=not number) for number, hub in enumerate(hubs)]
        for node in made[1:]:
            node.council.joins_by = made[0].name
        for one, other in combinations(made, 2):
            self.connect(one, other)
        self.run()
        assert all(node.council.is_member for node in made)
        return made

    def restart(self, node: LiveNode) -> None:
        """What is not durable of a node is lost, and so are the messages to it; its channels are new."""
        while not node._inputs.empty():
            node._inputs.get()
        node._load()
        for other in self.nodes.values():
            if other is not node:
                for a, b in ((node, other), (other, node)):
                    a.closed(b.name)
                self.connect(node, other)

    def run(self, steps: int = 40) -> None:
        for _ in range(steps):
            self.now += 0.1
            for node in self.nodes.values():
                self.step(node)

    def step(self, node: LiveNode) -> None:
        inputs = []
        while not node._inputs.empty():
            inputs.append(node._inputs.get())
        node._step(inputs, self.now)


class _Post:
    def __init__(self, exchange: Exchange, name: str) -> None:
        self._exchange, self._name = exchange, name

    def send(self, member: str, message: dict) -> None:
        self._exchange.happened.append(f"sent {self._name}")
        if member in self._exchange.nodes:
            self._exchange.nodes[member].received(self._name, message)

    def want(self, members: dict[str, str]) -> None:
        pass

    def close(self, member: str, reason: str) -> None:
        self._exchange.closed.append(reason)
