"""How a ring works: the algorithm, and what can be switched off for experiments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from triplewire.network.ring.queries import Algorithm, triple_keys


@dataclass(frozen=True, slots=True)
class RingSettings:
    """What all peers of a ring agree on.

    `scope`: whether an answer's triples may be of any documents, or must be of one. `replicas` counts the peers that
    have what is kept under a key, the responsible one among them. `is_grouped` and `learns` are the paper's
    optimisations: messages of a kind that go the same way are one, and a peer that has answered is reached in one hop.
    `is_wide`: triples are also indexed by their subject and their object alone, for subqueries without a predicate, and
    so that subscribers hear of changed content. `hot`: a peer that has done so many times what is usual splits the keys
    that more work comes to; None: keys are never split, as in the paper. `rewriter`, in MQC: a query is indexed by the
    subquery that the fewest triples are known for when it is asked, or by any of them, as in the paper.
    """

    algorithm: Algorithm = "mqc"
    scope: Literal["graph", "document"] = "graph"
    replicas: int = 3
    is_grouped: bool = True
    learns: bool = True
    is_wide: bool = True
    hot: float | None = 2.0
    rewriter: Literal["rarest", "any"] = "rarest"

    def __post_init__(self) -> None:
        if self.algorithm not in ("sqc", "mqc"):
            raise ValueError(f"the algorithms of a ring are sqc and mqc, and not {self.algorithm!r}")
        if self.scope not in ("graph", "document"):
            raise ValueError(f"a scope is graph or document, and not {self.scope!r}")
        if not 1 <= self.replicas <= 8:
            raise ValueError(f"replicas are from 1 to 8, and are {self.replicas}")

        if self.rewriter not in ("rarest", "any"):
            raise ValueError(f"a rewriter is the rarest or any, and not {self.rewriter!r}")
        if self.hot is not None and not self.hot > 0:
            raise ValueError(f"a key is hot from more than 0 times the usual on, and not from {self.hot}")

    @property
    def keys(self) -> tuple[str, ...]:
        """The places of triples by which they are indexed."""
        return triple_keys(self.algorithm, is_wide=self.is_wide)
