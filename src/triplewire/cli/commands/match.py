"""`triplewire match`: which subscriptions want which documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triplewire.cli import batches, documents, options, subscriptions
from triplewire.cli.problems import Problems, counted, usage, usage_for
from triplewire.cli.progress import tracked
from triplewire.cli.subscriptions import WrittenSubscription
from triplewire.cli.terminal import Screen, print_json
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire import Document, Index
    from triplewire.model import Term


@dataclass(slots=True)
class PrintedAnswer:
    """One row of one subscription in one document, with the triples that made it if they were asked for."""

    document: str
    subscription: str
    row: Mapping[str, Term]
    why: list[str] | None


def run(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[DOCUMENT]...", help="Files, folders or globs: RDF or feeds.")
    ] = None,
    subscription_paths: options.Subscriptions = [],
    taxonomy: options.TaxonomyFile = None,
    prefix: options.Prefixes = [],
    format: options.OutputFormat = None,
    why: Annotated[bool, typer.Option("--why", help="Add the triples that made each match.")] = False,
    index_file: Annotated[
        Path | None, typer.Option("--index", metavar="FILE", help="Start from a saved index.")
    ] = None,
    save_index: Annotated[
        Path | None, typer.Option("--save-index", metavar="FILE", help="Save the index for another time.")
    ] = None,
    document_paths: Annotated[
        list[str], typer.Option("--documents", "-d", metavar="PATH", help="The same as DOCUMENT. Repeatable.")
    ] = [],
    out: batches.Out = None,
    to: batches.Form = "parquet",
    overwrite: batches.Overwrite = False,
    master: batches.Master = None,
    split: batches.SplitOption = None,
    content_column: batches.ContentColumn = None,
    uri_column: batches.UriColumn = "uri",
    scope: options.Scope = "document",
    work: batches.WorkFolder = None,
    conf: batches.Conf = [],
    verbose: batches.Verbose = False,
) -> None:
    """Match documents against subscriptions.

    A file holds one subscription, named as the file is; a .jsonl file holds many, one
    {"id", "language", "text", "prefixes"} to a line. A prefixes.json beside them
    has the prefixes that all of them may use.

    [bold]Examples[/bold]

    \b
      triplewire match catalogue/ -s subscriptions/
      triplewire match new.ttl -s maja.rq -s jonas.rules -t themes.ttl --why
      triplewire match 'feed/**/*.jsonld' -s all.jsonl > matches.jsonl
      triplewire match day1/ -s all.jsonl --save-index all.index
      triplewire match day2/ --index all.index
      triplewire match -s all.jsonl --documents dump.nt.gz --split subject --out answers
      triplewire match -s all.jsonl catalogue/ offices.ttl --scope graph --out answers

    With --out it runs on Spark, which reads Parquet tables, compressed files,
    dumps and the URLs of object stores as well.
    """
    given = [*(paths or []), *document_paths]
    if not given:
        usage("no documents: name files, folders or globs")
    needs_spark = master is not None or split is not None or content_column is not None
    _check(out is not None, needs_spark, why, scope)
    if not subscription_paths and index_file is None:
        usage("nothing to match against: name subscriptions (-s) or a saved index (--index)")
    problems = Problems()
    found = subscriptions.load(subscription_paths, options.prefixes_of(prefix), problems)
    index = _index(index_file, taxonomy, found, problems)
    if save_index is not None:
        with usage_for(OSError, before="the index cannot be saved: "):
            index.save(save_index)
    if out is not None:
        where = master or batches.LOCAL
        batch = batches.Batch(
            given, out, to, overwrite, where, split, content_column, uri_column, scope, work, conf, verbose
        )
        batches.run(batch, index, problems)
        raise typer.Exit(problems.exit_code)
    files = documents.find(given, problems)
    printer = _PRINTERS[options.chosen(format)]
    count = printer(_answers(files, index, why, problems), subscriptions.all_prefixes(found))
    problems.note(_summary(len(files), len(index), count, problems.count))
    raise typer.Exit(problems.exit_code)


def _check(on_spark: bool, needs_spark: bool, why: bool, scope: options.ScopeName) -> None:
    """End the command where options do not go together."""
    if on_spark and why:
        usage("--why is not served on Spark; leave it out, or leave --out out")
    if needs_spark and not on_spark:
        usage("--master, --split and --content-column are for Spark: say where the answers go (--out PATH)")
    if scope == "graph" and not on_spark:
        usage("without --out, documents are matched one by one; for scope graph use a hub (triplewire publish)")


def _index(file: Path | None, taxonomy: Path | None, found: list[WrittenSubscription], problems: Problems) -> Index:
    """The saved index, or an empty one, with these subscriptions added."""
    if file is None:
        return subscriptions.index_of(found, documents.read_taxonomy(taxonomy), problems)
    if taxonomy is not None:
        usage("a saved index has its own taxonomy; leave --taxonomy out")
    from triplewire import Index

    with usage_for(OSError, TriplewireError):
        index = Index.load(file)
    subscriptions.add_all(index, found, problems)
    return index


def _answers(files: list[Path], index: Index, why: bool, problems: Problems) -> Iterator[PrintedAnswer]:
    for path in tracked(files, "matching", problems.console):
        document = documents.try_to_read(path, problems)
        if document is None:
            continue
        yield from _answers_in(document, path, index, why, problems)


def _answers_in(document: Document, path: Path, index: Index, why: bool, problems: Problems) -> Iterator[PrintedAnswer]:
    """The answers in a document; in a feed, each item is looked at alone, as a hub does, and a row is told once."""
    told: set[tuple[str, frozenset[tuple[str, Term]]]] = set()
    for part in document.parts:
        matches = index.match(part)
        for match in matches:
            reasons = _reasons(index, match.subscription, part) if why else {}
            for row in match.rows:
                terms = frozenset(row.items())
                if (match.subscription, terms) not in told:
                    told.add((match.subscription, terms))
                    yield PrintedAnswer(str(path), match.subscription, row, reasons.get(terms))
        for error in matches.errors.values():
            problems.report(str(path), error)


def _reasons(index: Index, id: str, document: Document) -> dict[frozenset[tuple[str, Term]], list[str]]:
    """For each row, the triples that made it; of XPath, the expression."""
    reasons = index.why(id, document)
    if (query := index.path_query(id)) is not None:
        return {frozenset(reason.row.items()): [query.text] for reason in reasons}
    return {frozenset(reason.row.items()): [f"{triple} ." for triple in reason.triples] for reason in reasons}


def _print_lines(answers: Iterator[PrintedAnswer], prefixes: Mapping[str, str]) -> tuple[int, int]:
    matched, rows = set(), 0
    for answer in answers:
        record: dict[str, Any] = {"document": answer.document, "subscription": answer.subscription}
        record["row"] = {name: str(term) for name, term in answer.row.items()}
        if answer.why is not None:
            record["why"] = answer.why
        print_json(record)
        matched.add((answer.document, answer.subscription))
        rows += 1
    return len(matched), rows


def _print_table(answers: Iterator[PrintedAnswer], prefixes: Mapping[str, str]) -> tuple[int, int]:
    from triplewire.cli.tables import answers_table

    collected = list(answers)
    if collected:
        Screen().print(answers_table(collected, prefixes))
    return len({(answer.document, answer.subscription) for answer in collected}), len(collected)


_PRINTERS = {"jsonl": _print_lines, "table": _print_table}


def _summary(files: int, subscriptions: int, count: tuple[int, int], problems: int) -> str:
    inputs = f"{counted(files, 'document')}, {counted(subscriptions, 'subscription')}"
    answers = f"{counted(count[0], 'match', 'matches')}, {counted(count[1], 'row')}"
    return f"{inputs}: {answers}" + (f"; {counted(problems, 'problem')}" if problems else "")
