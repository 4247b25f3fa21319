"""The past: what resources held after an earlier batch, told from what has changed since (M7).

What has not changed is what `Contents` has for now, and is looked up once for both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from triplewire.algebra.content import climb
from triplewire.engine.edges.changes import DocumentChanges
from triplewire.engine.edges.contents import Contents


class PastContents:
    """What resources held after an earlier batch, by documents that the viewer may read now."""

    def __init__(self, now: Contents, changes: DocumentChanges) -> None:
        self._now, self._changes = now, changes
        now.know_documents(changes.uris)
        self.is_whole = changes.is_whole
        self.xml_nodes = frozenset(now.named(changes.with_xml))
        """The resources that are documents which have changed, and have or had XML."""
        self._children: dict[int, tuple[int, ...]] = {}

    def differing(self, nodes: Collection[int]) -> frozenset[int]:
        """The nodes of which something else is stated now than then; an XML document differs with every version."""
        return self.xml_nodes.intersection(nodes).union(self._changes.touched(nodes))

    def closure(self, roots: Iterable[int]) -> set[int]:
        """See `Contents.closure`."""
        return climb(roots, self._held)

    def _held(self, nodes: Sequence[int]) -> list[int]:
        missing = [node for node in nodes if node not in self._children]
        if missing:
            now = self._now.children(missing)
            self._children.update((node, now[node]) for node in missing)
            self._children.update(self._children_then(self._changes.touched(missing)))
        return [child for node in nodes for child in self._children[node]]

    def _children_then(self, nodes: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """What each node held, of those that hold something by another statement now."""
        added, removed = self._changes.added(nodes), self._changes.removed(nodes)
        stated = self._now.stated(added.keys() | removed.keys())
        found = {}
        for node in added.keys() | removed.keys():
            then = (stated[node] - added.get(node, set())) | removed.get(node, set())
            texts = self._now.read_texts(o for _, o, _ in then)
            found[node] = tuple(sorted({o for p, o, _ in then if self._now.is_held(p, texts[o])}))
        return found
