"""The OpenAPI description is right: what it allows is answered as it says, and never by a failure of the service."""

from __future__ import annotations

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS

from hub.serving import serving
from triplewire.hub import create_app

WANTED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    store = f"sqlite:///{tmp_path_factory.mktemp('described')}/hub.db"
    with serving(store, longest_wait=0.1, query_seconds=5.0) as served:
        served.publish("urn:doc", "<urn:a> <urn:p> 1 .")
        served.put("/v1/subscriptions/a", json={"text": "SELECT ?s { ?s <urn:p> ?o }", "start": "ever"})
        yield served.url


for _kind in (
    "text/turtle",
    "application/trig",
    "application/n-triples",
    "application/n-quads",
    "application/rdf+xml",
    "application/ld+json",
    "application/x-ndjson",
    "application/sparql-query",
):

    @schemathesis.serializer(_kind)
    def as_text(context, value):
        return str(value).encode("utf-8", "replace")


DESCRIBED = schemathesis.openapi.from_dict(create_app().openapi())
OPERATIONS = [found.ok() for found in DESCRIBED.get_all_operations() if not found.ok().path.endswith("/stream")]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_every_operation_answers_as_described(url, operation):
    """A stream never ends, so it is left out here."""
    checks = [CHECKS.get_one(name) for name in WANTED]

    @settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
    @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
    def answers_as_described(case):
        case.call_and_validate(base_url=url, checks=checks, timeout=60)

    answers_as_described()


def test_description_names_every_route(url):
    told = httpx.get(f"{url}/v1/openapi.json", trust_env=False).json()
    assert told["openapi"].startswith("3.1")
    assert "/v1/document" in told["paths"]
    for path, operations in told["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (path, method)
            assert {"4XX", "5XX"} <= operation["responses"].keys()
            assert "422" not in operation["responses"]
