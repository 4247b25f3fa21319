"""The names that places have, as the compiled pass looks them up: by namespace and local name."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from triplewire.matching.kernel.compiled import Array
from triplewire.matching.xml.automaton import OTHER, XML
from triplewire.matching.xml.kernel.names import A_NAMESPACE, NO_NAMESPACE, slot_of_name

_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"})
"""How canonical XML writes the value of an attribute, such as the declaration of a namespace."""


class Vocabulary:
    """Numbers for labels: namespaces and names in them are entries of one table; `kernel.names` tells how."""

    def __init__(self, labels: Iterable[str], namespaces: Iterable[str]) -> None:
        self.labels: list[str] = []
        """By number. That of a namespace stands for all names in it that no place has."""
        self._names: list[bytes] = []
        self._owners: list[int] = []
        self._add(OTHER, b"", NO_NAMESPACE)
        parted = sorted(map(_parted, labels))
        owners = {"": NO_NAMESPACE}
        for namespace in dict.fromkeys([XML, *sorted({*namespaces, *(owner for owner, _ in parted if owner)})]):
            declared = namespace[1:-1].translate(_ESCAPED).encode()
            owners[namespace] = self._add(namespace + OTHER, declared, A_NAMESPACE)
        for owner, local in parted:
            self._add(owner + local, local.encode(), owners[owner])
        self._make_table()

    def __len__(self) -> int:
        return len(self.labels)

    def _add(self, label: str, name: bytes, owner: int) -> int:
        self.labels.append(label)
        self._names.append(name)
        self._owners.append(owner)
        return len(self.labels) - 1

    def _make_table(self) -> None:
        sizes = [*map(len, self._names)]
        ends = np.cumsum(sizes)
        self.entries: Array = np.stack([ends - sizes, ends, self._owners], axis=1).astype(np.int64)
        self.names: Array = np.frombuffer(b"".join(self._names) + b"\0", dtype=np.uint8)
        self.slots: Array = np.zeros(1 << (4 * len(sizes)).bit_length(), dtype=np.int32)
        for number in range(1, len(sizes)):
            first, end, owner = self.entries[number].tolist()
            at = slot_of_name(self.names, first, end, owner, self.slots, self.entries, self.names)
            self.slots[at] = number


def _parted(label: str) -> tuple[str, str]:
    """The namespace of a label, as it begins with it, and its local name."""
    local = label[label.rindex("}") + 1 :] if label[0] == "{" else label
    return label[: len(label) - len(local)], local
