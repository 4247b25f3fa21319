"""Entities in a call of XML-RPC, in encodings that hide them from a look at the bytes."""

import pytest

from triplewire.hub.calls import read_call

METHOD = "<methodName>system.listMethods</methodName>"
CALL = f"<methodCall>{METHOD}<params><param><value>{{}}</value></param></params></methodCall>"
BOMB = '<!DOCTYPE a [<!ENTITY b "' + "x" * 1000 + '">]>' + CALL.format("&b;" * 1000)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1"])
def test_document_type_is_refused_in_every_encoding(served, encoding):
    declared = f'<?xml version="1.0" encoding="{"utf-16" if "16" in encoding else encoding}"?>'
    answer = served.post("/v1/xml-rpc", content=(declared + BOMB).encode(encoding))
    assert answer.status_code == 200
    assert "-32700" in answer.text
    assert "xxxx" not in answer.text


def test_deep_values_are_refused():
    nested = "<array><data><value>" * 10_000 + "</value></data></array>" * 10_000
    with pytest.raises(ValueError, match="deeper"):
        read_call(CALL.format(nested).encode())


def test_plain_calls_are_read():
    assert read_call(CALL.format("<string>é</string>").encode()) == (("é",), "system.listMethods")
