"""Records: a peer as it was written, read again (see `states` for the rows)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from triplewire.matching.incremental import load_pattern
from triplewire.model import Document, Row, parse_term
from triplewire.network.ring import HomeState, PeerState, RingSettings, RingSubscription, RingView
from triplewire.network.ring.holdings import SplittingKey, changed
from triplewire.network.ring.homes import PublishedDocument
from triplewire.network.ring.keys import KeyState
from triplewire.network.ring.notation import (
    binding_in,
    key_state_in,
    query_in,
    statements_in,
    support_in,
    triple_in,
)
from triplewire.network.ring.post import MOST_TRIES, KeptParcel, PostedCause, PostState
from triplewire.network.ring.spelling import parcel_in, read_ring_body
from triplewire.network.ring.statements import Support
from triplewire.network.ring.subscriptions import AnswerKey, ToldRow
from triplewire.store.network import NetworkReader


class PeerRecords:
    """The rows of one peer."""

    def __init__(self, reader: NetworkReader) -> None:
        self._reader = reader

    def read(self, name: str, settings: RingSettings) -> tuple[PeerState, dict[str, int]]:
        """The peer as it was written, new if it never was; and how many messages are written of each key."""
        keys, messages = self._keys()
        state = PeerState(name, f"{name}-1", view=self._view(name), post=self._post(), keys=keys)
        state.homes[name] = self._home(name, settings)
        return state, messages

    def _rows(self, part: str) -> Iterator[tuple[str, Any]]:
        for name, text in self._reader.state_in(part):
            yield name, json.loads(text)

    def _single(self, name: str) -> Any:
        text = self._reader.state_of("peer", name)
        return None if text is None else json.loads(text)

    def _view(self, name: str) -> RingView:
        told = self._single("view")
        if told is None:
            return RingView(name)
        successors, predecessor, start, fingers, lost, contact = told
        view = RingView(name, tuple(successors), predecessor, start, dict(fingers), dict.fromkeys(lost), contact)
        view.point((), name)  # finds the ways anew
        return view

    def _post(self) -> PostState:
        (newest,) = self._single("post") or (0,)
        post = PostState(newest=newest)
        for _, ((sender, number), about, touched) in self._rows("cause"):
            post.causes[sender, number] = PostedCause(touched={(home, id) for home, id in touched}, about=_about(about))
        for _, (spelled, cause) in self._rows("kept"):
            parcel, key = parcel_in(spelled), None if cause is None else (cause[0], cause[1])
            post.kept[parcel.number] = KeptParcel(parcel, key, tries=MOST_TRIES)
            if key in post.causes:
                post.causes[key].waits_for.add(parcel.number)
        return post

    def _keys(self) -> tuple[dict[str, KeyState], dict[str, int]]:
        keys: dict[str, KeyState] = {}
        messages: dict[str, int] = {}
        for _, rows in groupby(self._rows("key"), key=lambda row: row[0].split(" ")[0]):
            (key, whole), *several = [told for _, told in rows]
            keys[key], messages[key] = key_state_in(whole), len(several)
            for told in several:
                changed(keys[key], read_ring_body(told))
        return keys, messages

    def _home(self, name: str, settings: RingSettings) -> HomeState:
        home = HomeState(name)
        (home.watches,) = self._single("home") or (0,)
        for _, (uri, version, content, until) in self._rows("document"):
            document = None if content is None else Document(uri, content.encode())
            home.documents[uri] = PublishedDocument(version, document)
            if until is not None:
                home.limits["document", uri] = until
        for _, (resource, said) in self._rows("content"):
            home.contents[parse_term(resource)] = dict(statements_in(said))
        answers, told = self._answers(), self._told()
        found = []
        for digest, asked in self._rows("subscription"):
            found.append(_subscription(home, asked))
            found[-1].restore(answers.get(digest, ()), told.get(digest, {}))
        home.restore(found, settings)
        return home

    def _answers(self) -> dict[str, list[tuple[AnswerKey, Support]]]:
        found: dict[str, list[tuple[AnswerKey, Support]]] = {}
        for name, ((branch, required, parts, binding), support) in self._rows("answer"):
            key = (branch, binding_in(required)), tuple(parts), binding_in(binding)
            found.setdefault(name.split(" ")[0], []).append((key, support_in(support)))
        return found

    def _told(self) -> dict[str, dict[Row, ToldRow]]:
        found: dict[str, dict[Row, ToldRow]] = {}
        for name, (spelled, content, triples) in self._rows("told"):
            row = Row({column: parse_term(text) for column, text in spelled.items()})
            told = ToldRow(tuple(map(triple_in, content)), tuple(map(triple_in, triples)))
            found.setdefault(name.split(" ")[0], {})[row] = told
        return found


def _about(told: Any) -> Any:
    match told:
        case {"split": key}:
            return SplittingKey(key)
        case {"asked": [home, id]}:
            return home, id
        case {"changed": [[home, uri], [before, after]]}:
            return (home, uri), (before, after)
    return None


def _subscription(home: HomeState, asked: Any) -> RingSubscription:
    id, client, pattern, since, in_one, queries, cursor, last_told, due, counts, until = asked
    for key, counted in counts.items():
        home.counts[key] = dict(counted)
    if until is not None:
        home.limits["subscription", id] = until
    found = RingSubscription(id, client, load_pattern(pattern), since, in_one, tuple(map(query_in, queries)))
    found.cursor, found.last_told, found.due = cursor, last_told, due
    return found
