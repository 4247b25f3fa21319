"""`triplewire match`: which subscriptions want which documents."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triplewire.cli import documents, options, subscriptions
from triplewire.cli.counts import counted
from triplewire.cli.indexes import add_all, index_of
from triplewire.cli.problems import Problems, usage
from triplewire.cli.progress import tracked
from triplewire.cli.subscriptions import Subscription
from triplewire.errors import TriplewireError

if TYPE_CHECKING:
    from triplewire import Document, Index
    from triplewire.model import Term


@dataclass(slots=True)
class Answer:
    """One row of one subscription in one document, with the triples that made it if they were asked for."""

    document: str
    subscription: str
    row: Mapping[str, Term]
    why: list[str] | None


def run(
    paths: Annotated[list[str], typer.Argument(metavar="DOCUMENT", help="Files, folders or globs, in any RDF syntax.")],
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
    """
    if not subscription_paths and index_file is None:
        usage("nothing to match against: name subscriptions (-s) or a saved index (--index)")
    problems = Problems()
    found = subscriptions.load(subscription_paths, options.prefixes_of(prefix), problems)
    index = _index(index_file, taxonomy, found, problems)
    if save_index is not None:
        _save(index, save_index)
    files = documents.find(paths, problems)
    printer = _PRINTERS[options.chosen(format)]
    count = printer(_answers(files, index, why, problems), subscriptions.all_prefixes(found))
    problems.note(_summary(len(files), len(index), count, problems.count))
    raise typer.Exit(problems.exit_code)


def _index(file: Path | None, taxonomy: Path | None, found: list[Subscription], problems: Problems) -> Index:
    """The saved index, or an empty one, with these subscriptions added."""
    if file is None:
        return index_of(found, documents.read_taxonomy(taxonomy), problems)
    if taxonomy is not None:
        usage("a saved index has its own taxonomy; leave --taxonomy out")
    from triplewire import Index

    try:
        index = Index.load(file)
    except (OSError, TriplewireError) as error:
        usage(str(error))
    add_all(index, found, problems)
    return index


def _save(index: Index, file: Path) -> None:
    try:
        index.save(file)
    except OSError as error:
        usage(f"the index cannot be saved: {error}")


def _answers(files: list[Path], index: Index, why: bool, problems: Problems) -> Iterator[Answer]:
    for path in tracked(files, "matching", problems.console):
        document = documents.try_to_read(path, problems)
        if document is None:
            continue
        matches = index.match(document)
        for match in matches:
            reasons = _reasons(index, match.subscription, document) if why else {}
            for row in match.rows:
                yield Answer(str(path), match.subscription, row, reasons.get(frozenset(row.items())))
        for error in matches.errors.values():
            problems.report(str(path), error)


def _reasons(index: Index, id: str, document: Document) -> dict[frozenset[tuple[str, Term]], list[str]]:
    """For each row, the triples that made it; of XPath, the expression."""
    reasons = index.why(id, document)
    if (query := index.path_query(id)) is not None:
        return {frozenset(reason.row.items()): [query.text] for reason in reasons}
    return {frozenset(reason.row.items()): [f"{triple} ." for triple in reason.triples] for reason in reasons}


def _print_lines(answers: Iterator[Answer], prefixes: Mapping[str, str]) -> tuple[int, int]:
    matched, rows = set(), 0
    for answer in answers:
        record: dict[str, Any] = {"document": answer.document, "subscription": answer.subscription}
        record["row"] = {name: str(term) for name, term in answer.row.items()}
        if answer.why is not None:
            record["why"] = answer.why
        sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
        matched.add((answer.document, answer.subscription))
        rows += 1
    return len(matched), rows


def _print_table(answers: Iterator[Answer], prefixes: Mapping[str, str]) -> tuple[int, int]:
    from rich.console import Console

    from triplewire.cli.tables import answers_table

    collected = list(answers)
    if collected:
        Console().print(answers_table(collected, prefixes))
    return len({(answer.document, answer.subscription) for answer in collected}), len(collected)


_PRINTERS = {options.Format.jsonl: _print_lines, options.Format.table: _print_table}


def _summary(files: int, subscriptions: int, count: tuple[int, int], problems: int) -> str:
    inputs = f"{counted(files, 'document')}, {counted(subscriptions, 'subscription')}"
    answers = f"{counted(count[0], 'match', 'matches')}, {counted(count[1], 'row')}"
    return f"{inputs}: {answers}" + (f"; {counted(problems, 'problem')}" if problems else "")
