"""`triplewire lint`: what is wrong with subscriptions before any document has come."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from triplewire.cli import documents, options, subscriptions
from triplewire.cli.problems import SOME_BAD, Problems, counted
from triplewire.cli.progress import tracked
from triplewire.cli.terminal import print_text
from triplewire.cli.terms import short

if TYPE_CHECKING:
    from triplewire import Finding, Pattern, Taxonomy


def run(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Files or folders of subscriptions.")],
    taxonomy: options.TaxonomyFile = None,
    prefix: options.Prefixes = [],
    format: options.OutputFormat = None,
) -> None:
    """Look for mistakes in subscriptions.

    Finds those that can never match (an error), those that combine everything with
    everything (a warning), and those that another one covers or equals (a note). The
    exit code is 1 if there is an error, or a file that does not compile.

    [bold]Examples[/bold]

    \b
      triplewire lint subscriptions/
      triplewire lint maja.rq jonas.rules --taxonomy themes.ttl --format jsonl
    """
    problems = Problems()
    found = subscriptions.load(paths, options.prefixes_of(prefix), problems)
    patterns = subscriptions.compile_all(found, problems)
    prefixes = subscriptions.all_prefixes(found)
    errors = warnings = 0
    for id, finding in _findings(patterns, documents.read_taxonomy(taxonomy), problems):
        print_text(_line(id, finding, prefixes, options.chosen(format)))
        errors += finding.severity == "error"
        warnings += finding.severity == "warning"
    problems.note(f"{counted(len(found), 'subscription')}: {counted(errors, 'error')}, {counted(warnings, 'warning')}")
    raise typer.Exit(SOME_BAD if errors else problems.exit_code)


def _findings(
    patterns: Mapping[str, Pattern], taxonomy: Taxonomy | None, problems: Problems
) -> Iterator[tuple[str, Finding]]:
    """What is wrong with each, alone and next to those that have the same answer variables: only these can cover it."""
    from triplewire import Taxonomy, lint
    from triplewire.algebra.wording import readable

    known = Taxonomy() if taxonomy is None else taxonomy
    alike: defaultdict[frozenset[str], dict[str, Pattern]] = defaultdict(dict)
    for id, pattern in patterns.items():
        alike[frozenset(pattern.answer)][id] = pattern
    for id in tracked([*patterns], "linting", problems.console):
        pattern = patterns[id]
        others = {other: p for other, p in alike[frozenset(pattern.answer)].items() if other != id}
        for finding in lint(readable(pattern), others=others, taxonomy=known):
            yield id, finding


def _line(id: str, finding: Finding, prefixes: Mapping[str, str], format: options.Format) -> str:
    if format == "table":
        return f"{id}: {short(finding, prefixes)}"
    record = {
        "subscription": id,
        "severity": finding.severity,
        "kind": finding.kind,
        "message": finding.message,
        "others": list(finding.others),
    }
    return json.dumps(record, ensure_ascii=False)
