"""`triplewire explain`: what a subscription is made of, and why a document matches it or does not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triplewire.cli import documents, options, subscriptions
from triplewire.cli.problems import Problems, usage
from triplewire.cli.terminal import print_text
from triplewire.cli.terms import short

if TYPE_CHECKING:
    from triplewire import Document, Index
    from triplewire.algebra.explain import Reason


def run(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID...]", help="Which subscriptions; all, if none is named.")
    ] = None,
    subscription_paths: options.Subscriptions = [],
    document_paths: Annotated[
        list[str],
        typer.Option("--document", "-d", metavar="PATH", help="Say why it matches, or why not. Repeatable."),
    ] = [],
    taxonomy: options.TaxonomyFile = None,
    prefix: options.Prefixes = [],
) -> None:
    """Explain subscriptions: their atoms, which of them others share, and the one that each waits under.

    With a document: the triples that make it match, or the first condition that fails and the values that were seen.

    [bold]Examples[/bold]

    \b
      triplewire explain -s subscriptions/
      triplewire explain maja -s subscriptions/ --taxonomy themes.ttl
      triplewire explain maja -s subscriptions/ -t themes.ttl --document catalogue/parking.ttl
    """
    if not subscription_paths:
        usage("nothing to explain: name subscriptions (-s)")
    problems = Problems()
    found = subscriptions.load(subscription_paths, options.prefixes_of(prefix), problems)
    index = subscriptions.index_of(found, documents.read_taxonomy(taxonomy), problems)
    prefixes = subscriptions.all_prefixes(found)
    wanted = _wanted(ids, [each.id for each in found], index, problems)
    for id in wanted:
        print_text(f"{short(index.explain(id), prefixes)}\n")
    for path in documents.find(document_paths, problems):
        document = documents.try_to_read(path, problems)
        if document is not None:
            _explain_document(path, document, wanted, index, prefixes)
    raise typer.Exit(problems.exit_code)


def _wanted(ids: list[str] | None, found: list[str], index: Index, problems: Problems) -> list[str]:
    """The ids to explain; one that is not there is reported, unless its file already was."""
    for id in set(ids or ()) - set(found):
        problems.report(id, f"there is no subscription with this id; there are: {', '.join(found)}")
    return [id for id in ids or found if id in index]


def _explain_document(
    path: Path, document: Document, ids: list[str], index: Index, prefixes: Mapping[str, str]
) -> None:
    for id in ids:
        reasons, failure = _told(document, id, index)
        verdict = "matches" if reasons else "does not match"
        text = "\n".join(map(str, reasons)) or failure
        print_text(f"{path} {verdict} {id}\n{short(text, prefixes)}\n")


def _told(document: Document, id: str, index: Index) -> tuple[list[Reason], str]:
    """The reasons for which a document matches; or in words, why it does not."""
    from triplewire.algebra.wording import readable

    pattern = readable(index.pattern(id))
    reasons = pattern.why(document, index.taxonomy)
    return reasons, "" if reasons else str(pattern.why_not(document, index.taxonomy))
