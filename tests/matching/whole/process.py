"""All rows of a whole graph in one process, with the parts that workers run: read, plan, find in shares."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from triplewire.matching.incremental import MOST_TRIPLES
from triplewire.matching.incremental.flat import flat_triples
from triplewire.matching.incremental.numbering import Numbering
from triplewire.matching.whole.finding import Finder
from triplewire.matching.whole.plan import Plan
from triplewire.matching.whole.queries import Queries
from triplewire.matching.whole.reading import kept_of


class Process:
    """`rows` by subscription, each row with the documents behind it; `errors` by subscription."""

    def __init__(self, documents, patterns, taxonomy, *, shares=1, most_triples=MOST_TRIPLES, saved=False, **limits):
        numbering = Numbering()
        queries = Queries(patterns.items())
        statements, kinds, counts = {}, {}, Counter()
        kept = kept_of(documents, queries.fitting(taxonomy), numbering)
        for document, triples in zip(documents, kept, strict=True):
            for triple, own in triples.items():
                statements.setdefault(triple, set()).add(document.uri)
                kinds[triple] = own
                counts.update(own)
        self.triples = flat_triples(statements, numbering, queries.constants)
        plan = queries.plan(counts, taxonomy, numbering)
        if saved:
            with TemporaryDirectory() as folder:
                plan.save(Path(folder) / "plan")
                plan = Plan.load(Path(folder) / "plan")
        for name, limit in limits.items():
            assert name == "max_rows"
            plan.index._limits = (limit, plan.index._limits[1])
        chosen = set(plan.kinds)
        seeds = [
            (kind, tuple(self.triples.terms(triple))) for triple, own in kinds.items() for kind in own if kind in chosen
        ]
        self.seeds = len(seeds)
        self.rows = {id: {} for id in patterns}
        self.errors = {}
        for share in range(shares):
            finder = Finder(plan, self.triples, most_triples=most_triples)
            for query, row, uris in finder.find(seeds[share::shares]):
                named = zip(queries.patterns[query].answer, row, strict=True)
                key = frozenset((name, text) for name, text in named if text is not None)
                for id in queries.subscriptions[query]:
                    self.rows[id].setdefault(key, uris)
            for query, reason in finder.errors.items():
                self.errors |= dict.fromkeys(queries.subscriptions[query], reason)
