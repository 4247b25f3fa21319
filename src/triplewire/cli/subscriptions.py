"""Subscriptions from files: one to a file, or many in JSON lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triplewire.cli.paths import expand, parse_json, read_text
from triplewire.cli.problems import Problems
from triplewire.errors import DuplicateSubscription, TriplewireError

if TYPE_CHECKING:
    from triplewire import Index, Pattern, Taxonomy

LANGUAGE_OF = {
    ".rq": "sparql",
    ".sparql": "sparql",
    ".rules": "rules",
    ".gql": "gql",
    ".qel": "qel",
    ".cq": "conjunctive",
    ".xpath": "xpath",
}
"""The language of a file with one subscription, by its suffix."""

_DECLARED = re.compile(r"\bPREFIX\s+([\w-]*):\s*<([^<>\s]*)>", re.IGNORECASE)

_SEARCH = re.compile(r"\bsearch\b(.*?)\bregister\b", re.IGNORECASE | re.DOTALL)

MANY = (".jsonl", ".ndjson")
SUFFIXES = (*LANGUAGE_OF, *MANY)
FEEDS = (".rss", ".atom", ".rdf", ".xml")
"""What may be a feed with subscriptions in it, if it is named itself: not every feed in a folder is meant to ask."""

PREFIXES_FILE = "prefixes.json"
"""Beside subscriptions: an object from prefix to namespace that counts for all files of its folder."""


@dataclass(frozen=True, slots=True)
class WrittenSubscription:
    """What a person wrote: an id, a text in a language, its prefixes, and the file (and line) that it came from."""

    id: str
    language: str
    text: str
    prefixes: Mapping[str, str]
    source: str

    @property
    def query(self) -> dict[str, Any]:
        """What is asked, as a hub and `compile` take it."""
        return {"text": self.text, "language": self.language, "prefixes": self.prefixes}


class BadSubscriptionFile(Exception):
    """A file, or one line of it, does not hold a subscription."""


def load(given: Iterable[str], prefixes: Mapping[str, str], problems: Problems) -> list[WrittenSubscription]:
    """The subscriptions in the files and folders that the arguments mean; what is not one is reported."""
    paths = dict.fromkeys(path for argument in given for path in expand(argument, SUFFIXES, problems, "subscription"))
    found: dict[str, WrittenSubscription] = {}
    for path in paths:
        for subscription in _read(path, prefixes, problems):
            if subscription.id in found:
                problems.report(subscription.source, DuplicateSubscription(subscription.id))
            else:
                found[subscription.id] = subscription
    return list(found.values())


def _read(path: Path, prefixes: Mapping[str, str], problems: Problems) -> Iterator[WrittenSubscription]:
    suffix = path.suffix.lower()
    if suffix in FEEDS:
        yield from _in_feed(path, prefixes, problems)
        return
    if suffix not in SUFFIXES:
        problems.report(str(path), f"not a subscription by its name; known file types: {' '.join(SUFFIXES)}")
        return
    try:
        text = read_text(path)
        known = {**_prefixes_beside(path), **prefixes}
    except (OSError, ValueError, BadSubscriptionFile) as error:
        problems.report(str(path), error)
        return
    if suffix in LANGUAGE_OF:
        yield WrittenSubscription(path.stem, LANGUAGE_OF[suffix], text, known, str(path))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield _from_json(line, known, f"{path}, line {number}")
            except BadSubscriptionFile as error:
                problems.report(f"{path}, line {number}", str(error))


def _in_feed(path: Path, prefixes: Mapping[str, str], problems: Problems) -> Iterator[WrittenSubscription]:
    """The subscriptions in a feed: items whose title is a language (G-ToPSS figure 12)."""
    from triplewire.cli.documents import read
    from triplewire.feeds import subscriptions_in

    try:
        found = subscriptions_in(read(path))
        known = {**_prefixes_beside(path), **prefixes}
    except (OSError, ValueError, TriplewireError, BadSubscriptionFile) as error:
        problems.report(str(path), error)
        return
    if not found:
        problems.report(str(path), "no subscription is in it: an item whose title is GQL (or another language) is one")
    for each in found:
        yield WrittenSubscription(each.id, each.language, each.text, known, f"{path}, {each.id}")


def _prefixes_beside(path: Path) -> dict[str, str]:
    file = path.parent / PREFIXES_FILE
    if not file.is_file():
        return {}
    try:
        found = parse_json(read_text(file))
    except ValueError as error:
        raise BadSubscriptionFile(f"{file}: {error}") from None
    if not _maps_texts(found):
        raise BadSubscriptionFile(f"{file} is not a JSON object from prefix to namespace")
    return dict(found)


def _maps_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _from_json(line: str, prefixes: Mapping[str, str], source: str) -> WrittenSubscription:
    try:
        record = parse_json(line)
    except ValueError as error:
        raise BadSubscriptionFile(str(error)) from None
    if not isinstance(record, dict) or not all(isinstance(record.get(key), str) for key in ("id", "language", "text")):
        raise BadSubscriptionFile('a subscription is an object with the texts "id", "language" and "text"')
    own = record.get("prefixes", {})
    if not _maps_texts(own):
        raise BadSubscriptionFile('"prefixes" is not an object from prefix to namespace')
    return WrittenSubscription(record["id"], record["language"], record["text"], {**prefixes, **own}, source)


def compile_all(subscriptions: Iterable[WrittenSubscription], problems: Problems) -> dict[str, Pattern]:
    """The patterns, by id; what cannot be compiled is reported. A rule may use another one, in any order of files."""
    patterns: dict[str, Pattern] = {}
    rules: dict[str, Pattern] = {}
    for subscription in in_order_of_use(list(subscriptions)):
        try:
            patterns[subscription.id] = pattern = compile_one(subscription, rules)
        except TriplewireError as error:
            problems.report(subscription.source, error)
        else:
            if subscription.language == "rules":
                rules[subscription.id] = pattern
    return patterns


def index_of(found: Collection[WrittenSubscription], taxonomy: Taxonomy | None, problems: Problems) -> Index:
    """A new index of the subscriptions that can be compiled; the others are reported."""
    from triplewire import Index

    index = Index(taxonomy=taxonomy)
    add_all(index, found, problems)
    return index


def add_all(index: Index, found: Collection[WrittenSubscription], problems: Problems) -> None:
    """Add what can be compiled to an index; the rest is reported."""
    sources = {each.id: each.source for each in found}
    for id, pattern in compile_all(found, problems).items():
        try:
            index.add(id, pattern)
        except TriplewireError as error:
            problems.report(sources[id], error)


def in_order_of_use(subscriptions: list[WrittenSubscription]) -> list[WrittenSubscription]:
    """The subscriptions, a rule after those that it searches (MDV section 2.3), otherwise in the order that they had.

    Rules that search each other in a circle come last; there, the name of one that is not known yet means a class.
    """
    unplaced = {each.id for each in subscriptions if each.language == "rules"}
    waiting, placed = subscriptions, list[WrittenSubscription]()
    while waiting:
        later = [each for each in waiting if (_searched(each) & unplaced) - {each.id}]
        if len(later) == len(waiting):
            return placed + later
        held = {each.id for each in later}
        placed += [each for each in waiting if each.id not in held]
        waiting, unplaced = later, held
    return placed


def _searched(subscription: WrittenSubscription) -> set[str]:
    """The names of the extensions that a rule searches."""
    found = _SEARCH.search(subscription.text) if subscription.language == "rules" else None
    return {part.split()[0] for part in found[1].split(",") if part.split()} if found else set()


def compile_one(subscription: WrittenSubscription, named: Mapping[str, Pattern] | None = None) -> Pattern:
    """The pattern of one subscription; QueryError if it has none."""
    from triplewire import compile

    return compile(**subscription.query, named=named)


def all_prefixes(found: Iterable[WrittenSubscription]) -> dict[str, str]:
    """Every prefix that one of the subscriptions knows or declares, to write answers with."""
    declared = {
        name: space for each in found if each.language == "sparql" for name, space in _DECLARED.findall(each.text)
    }
    return declared | {name: space for each in found for name, space in each.prefixes.items()}
