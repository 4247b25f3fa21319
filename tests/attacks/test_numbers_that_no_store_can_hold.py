"""Cursors and counts of XML-RPC, which are numbers of any length: a fault, and no failure of the service."""

from xmlrpc.client import Fault, ServerProxy

import pytest

FAR = ["-" + "9" * 30, "9" * 30, "9" * 5_000, "-1", str(2**60 + 1), "1e3", "nan", "", "\u0663" * 40]


@pytest.mark.parametrize("cursor", FAR)
@pytest.mark.parametrize("method", ["notifications", "feed"])
def test_cursor_that_no_event_can_have_is_refused(served, method, cursor):
    served.subscribe("s", "SELECT ?d { ?d <urn:a> 1 }", language="sparql")
    with ServerProxy(f"{served.url}/v1/xml-rpc") as proxy, pytest.raises(Fault, match="is no cursor") as caught:
        getattr(proxy.triplewire, method)("s", cursor)
    assert caught.value.faultCode == 400


@pytest.mark.parametrize("kind", ["int", "i8", "biginteger"])
@pytest.mark.parametrize("number", ["-" + "9" * 30, "9" * 4_000])
@pytest.mark.parametrize("place", [1, 2])
def test_number_of_any_length_is_refused(served, kind, number, place):
    served.subscribe("s", "SELECT ?d { ?d <urn:a> 1 }", language="sparql")
    numbers = [number if at == place else "1" for at in (1, 2)]
    given = "".join(f"<param><value><{kind}>{each}</{kind}></value></param>" for each in numbers)
    call = (
        "<methodCall><methodName>triplewire.notifications</methodName><params>"
        f"<param><value><string>s</string></value></param>{given}</params></methodCall>"
    )
    told = served.post("/v1/xml-rpc", content=call, headers={"Content-Type": "text/xml"})
    assert told.status_code == 200
    assert "<int>400</int>" in told.text
    assert len(told.content) < 1_000
