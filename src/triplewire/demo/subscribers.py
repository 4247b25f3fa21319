"""Who listens in the story, to what, and in which language."""

from __future__ import annotations

from dataclasses import dataclass

from triplewire import Hub, Pattern, Subscription, compile
from triplewire.demo import files
from triplewire.model import Scope, Start


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A person, what they want in plain words, and the file that says it in a query language."""

    name: str
    who: str
    wish: str
    language: str
    file: str
    scope: Scope = "document"
    start: Start = "now"

    @property
    def text(self) -> str:
        """The subscription as the person wrote it."""
        return files.text(self.file)

    def pattern(self) -> Pattern:
        """What the subscription means."""
        return compile(self.text, language=self.language, prefixes=files.prefixes())

    def subscribe(self, hub: Hub) -> Subscription:
        """Register the subscription with a hub."""
        return hub.subscribe(
            self.text,
            language=self.language,
            id=self.name,
            scope=self.scope,
            start=self.start,
            prefixes=files.prefixes(),
        )


SUBSCRIBERS = (
    Subscriber("maja", "swims", "everything about water", "sparql", "subscriptions/maja.rq"),
    Subscriber(
        "jonas", "writes for the paper", "budgets with a file over a megabyte", "rules", "subscriptions/jonas.rules"
    ),
    Subscriber("ines", "builds apps", "CSV files about mobility", "gql", "subscriptions/ines.gql"),
    Subscriber("omar", "keeps the archive", "what is real time, or older than 2022", "qel", "subscriptions/omar.qel"),
    Subscriber("lene", "plans cycle paths", "cycling, with the title", "conjunctive", "subscriptions/lene.cq"),
    Subscriber("tomas", "cycles to work", "cycling, with the title", "sparql", "subscriptions/tomas.rq"),
)

MISTAKE = Subscriber("viktor", "is in a hurry", "files over 5 MB and under 3 MB", "sparql", "broken/viktor.rq")
"""A subscription that is a sentence of its language, and that nothing can ever match."""

NORA = Subscriber("nora", "asks questions", "whom to write to about a dataset", "sparql", "later/nora.rq", "graph")
"""What she wants to know of a dataset is in another document."""

IDA = Subscriber("ida", "is a doctor", "everything about health", "sparql", "later/ida.rq", "graph", "ever")
"""She comes late, and wants to know what is there already."""
