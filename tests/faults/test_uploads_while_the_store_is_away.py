"""What is sent while the store is away is refused with 503, in every way in; what was applied before is told."""

from __future__ import annotations

import json
from xmlrpc.client import Fault, dumps, loads

import httpx
import pytest

from triplewire.errors import StoreUnavailable
from triplewire.hub import Settings, start

LINES = {"Content-Type": "application/x-ndjson"}


@pytest.fixture
def service(tmp_path):
    with start(Settings(store=f"sqlite:///{tmp_path}/hub.db", port=0, deliver=False)) as started:
        yield started


@pytest.fixture
def away(service, monkeypatch):
    """The store takes nothing from the n-th batch on; the error is the one of a disk or a server that is gone."""
    hub = next(iter(service.server._app.state.service.tenants)).hub
    real, left = hub.apply, []

    def apply(*args, **named):
        if not left or left.pop():
            raise StoreUnavailable("hub.db: the store cannot be used: disk I/O error")
        return real(*args, **named)

    monkeypatch.setattr(hub, "apply", apply)
    return left


def lines(*uris: str) -> str:
    return "".join(json.dumps({"uri": uri, "content": "<urn:s> <urn:p> 1 ."}) + "\n" for uri in uris)


def upload(service, text: str) -> httpx.Response:
    return httpx.post(f"{service.url}/v1/documents", content=text, headers=LINES, timeout=60)


def test_upload_of_which_nothing_could_be_taken_is_no_success(service, away):
    answer = upload(service, lines("urn:a", "urn:b"))
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    told = answer.json()
    assert (told["published"], told["refused"]) == (0, 2)
    assert [each["problem"]["status"] for each in told["problems"]] == [503, 503]


def test_upload_of_which_a_part_could_not_be_taken_tells_it_for_each_document(service, away):
    away.append(False)  # the first batch is taken
    answer = upload(service, lines(*(f"urn:doc:{n}" for n in range(300))))
    assert answer.status_code == 503
    told = answer.json()
    assert told["published"] > 0
    assert told["refused"] == 300 - told["published"]
    assert len(told["problems"]) == told["refused"]


def test_upload_with_documents_that_are_bad_says_so_by_its_status(service):
    answer = upload(service, lines("urn:a") + '{"uri": "urn:b", "content": "nonsense", "media_type": "text/turtle"}\n')
    assert answer.status_code == 207
    assert (answer.json()["published"], answer.json()["refused"]) == (1, 1)
    assert upload(service, lines("urn:a")).status_code == 200


def test_changes_as_one_are_refused_with_503(service, away):
    wanted = {"changes": [{"uri": "urn:a", "content": "<urn:s> <urn:p> 1 .", "media_type": "text/turtle"}]}
    assert httpx.post(f"{service.url}/v1/changes", json=wanted, timeout=60).status_code == 503


def test_call_by_xml_rpc_is_a_fault(service, away):
    body = dumps(("<urn:s> <urn:p> 1 .", "urn:a", "text/turtle"), "triplewire.publish")
    answer = httpx.post(f"{service.url}/v1/xml-rpc", content=body, headers={"Content-Type": "text/xml"}, timeout=60)
    with pytest.raises(Fault, match="cannot be used"):
        loads(answer.content)
