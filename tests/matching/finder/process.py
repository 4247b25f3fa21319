"""All rows of a whole graph in one process, with the parts that workers run: read, plan, find in shares."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from triplewire.algebra.evaluate import Graph, evaluate
from triplewire.algebra.normalize import normalize
from triplewire.algebra.pattern import Pattern
from triplewire.algebra.taxonomy import EMPTY
from triplewire.engine.subscriptions.registrations import refuse_unserved
from triplewire.errors import UnsupportedQuery
from triplewire.languages import compile
from triplewire.matching import Index
from triplewire.matching.finder.finder import RowFinder
from triplewire.matching.finder.plan import load_plans, save_plans
from triplewire.matching.finder.queries import Queries
from triplewire.matching.finder.spelling import kept_of, spelled_rows
from triplewire.matching.incremental import HIGH, MOST_TRIPLES
from triplewire.matching.incremental.fans import ROUNDS, in_rounds, shared_out, triples_of
from triplewire.matching.incremental.flat import Numbering, flat_triples
from triplewire.model import parse_triple
from triplewire.model.spelling import triples_of as spelled_triples


class Process:
    """`rows` by subscription, each row with the documents behind it; `errors` by subscription."""

    def __init__(
        self,
        documents,
        patterns,
        taxonomy,
        *,
        shares=1,
        high=HIGH,
        most_triples=MOST_TRIPLES,
        popular=None,
        saved=False,
        **limits,
    ):
        numbering = Numbering()
        self.queries = queries = Queries(patterns.items())
        self.bounds = {"high": high, "most_triples": most_triples}
        statements, kinds, counts = {}, {}, Counter()
        kept = kept_of(documents, queries.fitting(taxonomy), numbering)
        for document, triples in zip(documents, kept, strict=True):
            for triple, own in triples.items():
                statements.setdefault(triple, set()).add(document.uri)
                kinds[triple] = own
                counts.update(own)
        self.triples = flat_triples(statements, numbering, queries.constants)
        plans = queries.plans(counts, Index(taxonomy, **limits), numbering.number)
        if saved:
            with TemporaryDirectory() as folder:
                save_plans(plans, Path(folder) / "plans")
                plans = load_plans(Path(folder) / "plans")
        chosen = {kind for plan in plans for kind in plan.kinds}
        seeds = [
            (kind, tuple(self.triples.terms(triple))) for triple, own in kinds.items() for kind in own if kind in chosen
        ]
        self.seeds = len(seeds)
        self.rows = {id: {} for id in patterns}
        self.errors = {}
        self.pieces = []
        """By round, the triples of each share of what was put off."""
        fans = self._find(plans, [seeds[share::shares] for share in range(shares)], popular)

        def find(fans, left):
            places = sorted({fan.place for fan in fans})
            plans = queries.fan_plans(places, Index(taxonomy, **limits), numbering.number)
            cut = [
                [(places.index(piece.fan.place), triple) for piece in share for triple in self.cut(piece, left)]
                for share in shared_out(fans, shares)
            ]
            self.pieces.append([len(share) for share in cut])
            found = self._find(plans, cut, popular if left else None)
            assert left or not found
            return found

        in_rounds(fans, find)

    def cut(self, piece, left):
        """Both ways to cut a fan: by the places of its triples, and by their numbers."""
        return self.triples.piece(piece) if (ROUNDS - left) % 2 else triples_of(piece, self.triples)

    def _find(self, plans, shares, popular):
        """What there is around seeds, each with its kind; gives what was put off."""
        fans = []
        for share in shares:
            for plan in plans:
                finder = RowFinder(plan, self.triples, popular=popular, **self.bounds)
                found = finder.around(plan.seeds_of(share))
                for query, row, uris in (each for rows in found for each in spelled_rows(rows, self.triples)):
                    named = zip(self.queries.patterns[query].answer, row, strict=True)
                    key = frozenset((name, text) for name, text in named if text is not None)
                    for id in self.queries.subscriptions[query]:
                        self.rows[id].setdefault(key, uris)
                for query, error in finder.errors.items():
                    self.errors |= dict.fromkeys(self.queries.subscriptions[query], error.reason)
                fans += finder.fans
        return fans


def union_of(several):
    """The graph that documents state together, each blank node under a name of its own."""
    number = Numbering().number
    return Graph(
        parse_triple(*spelled)
        for document in several
        for spelled in spelled_triples(number(document.uri), document.ntriples)
    )


def expected_rows(pattern, graph, taxonomy=EMPTY):
    return {frozenset((name, str(term)) for name, term in row.items()) for row in evaluate(pattern, graph, taxonomy)}


def served(texts):
    """Those of the queries that are served in scope graph, by name."""
    found = {}
    for i, text in enumerate(texts):
        pattern = normalize(text if isinstance(text, Pattern) else compile(text, language="sparql"))
        try:
            refuse_unserved(pattern, "graph", "sparql")
        except UnsupportedQuery:
            continue
        found[f"q{i}"] = pattern
    return found


def distinct(several):
    return list({document.uri: document for document in several}.values())


def sparql(text):
    return normalize(compile(f"PREFIX : <http://example.org/> {text}", language="sparql"))
