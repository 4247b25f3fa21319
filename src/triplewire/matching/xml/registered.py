"""The XPath subscriptions of an index's image: their expressions as text, and the index of them, built when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triplewire.algebra.encoding import dumps, loads
from triplewire.matching.image import Image

if TYPE_CHECKING:  # a process that matches triples alone need not load lxml
    from triplewire.algebra.xpath.query import PathQuery
    from triplewire.matching.xml.paths import PathIndex


class RegisteredPaths:
    """Which subscriptions of an image are XPath; `paths` in the image has for each the number of its text, plus one."""

    def __init__(self, image: Image, max_steps: int) -> None:
        self._image, self._max_steps = image, max_steps
        self.count = int(np.count_nonzero(image["paths"]))
        self._index: PathIndex | None = None

    def __contains__(self, number: int) -> bool:
        paths = self._image["paths"]
        return number < len(paths) and bool(paths[number])

    @property
    def index(self) -> PathIndex:
        """The index of them, made from their texts when it is first asked for."""
        if self._index is None:
            from triplewire.matching.xml.paths import PathIndex

            index = PathIndex(self._max_steps)
            for number in np.flatnonzero(self._image["paths"]).tolist():
                index.add(number, self.query(number))
            self._index = index
        return self._index

    def query(self, number: int) -> PathQuery:
        """The query of a subscription."""
        if self._index is not None:
            return self._index.query(number)
        from triplewire.algebra.xpath.query import load

        return load(loads(self._image.expressions.get(int(self._image["paths"][number]) - 1)))

    def add(self, number: int, query: PathQuery) -> None:
        """Register the query of a subscription that has its number already."""
        from triplewire.algebra.xpath.query import dump

        index = self.index
        (text,) = self._image.expressions.intern([dumps(dump(query))])
        self._image.reserve("paths", number + 1)[number] = text + 1
        index.add(number, query)
        self.count += 1

    def remove(self, number: int) -> None:
        """Take a subscription out."""
        self.index.remove(number)
        self._image["paths"][number] = 0
        self.count -= 1
