"""What a resource holds is part of its content, whoever else speaks of it in the same batch (M6, M7)."""

from __future__ import annotations

import pytest

from triplewire import Publish, parse

PREFIX = "@prefix : <http://example.org/> .\n"
QUERY = "PREFIX : <http://example.org/> SELECT ?x { ?x :q ?y }"


def document(uri, text):
    return parse(PREFIX + text, uri=uri, media_type="text/turtle")


@pytest.mark.parametrize("scope", ["graph", "document"])
def test_a_blank_node_that_grows_changes_its_holder_though_another_document_repeats_what_is_known(hub, scope):
    hub.subscribe(QUERY, language="sparql", id="q", scope=scope, start="ever")
    hub.publish(document("urn:1", ":n :q 1 ; :r [ :p 1 ] ."))
    told = hub.apply(
        [Publish(document("urn:1", ":n :q 1 ; :r [ :p 1, 2 ] .")), Publish(document("urn:2", ":n :q 1 ."))]
    )
    assert [event.kind for event in told] == ["changed"]
