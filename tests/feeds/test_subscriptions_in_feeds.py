"""Subscriptions that come as items of a feed: figure 12 of the G-ToPSS paper (G1, G4)."""

from __future__ import annotations

import json

import pytest

from triplewire import Hub, compile
from triplewire.feeds import subscriptions_in

FIGURE_12 = """<?xml version="1.0"?>
<rdf:RDF
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns="http://purl.org/rss/1.0/">
  <channel rdf:about="http://www.xml.com/xml/news.rss">
    <title>XML.com</title>
    <link>http://xml.com/pub</link>
    <description> XML.com features a rich mix of information and services for
the XML community. </description>
    <image rdf:resource="http://xml.com/universal/images/xml_tiny.gif"/>
    <items>
      <rdf:Seq>
        <rdf:li resource="http://xml.com/pub/2000/08/09/xslt/xslt.html"/>
        <rdf:li resource="http://xml.com/pub/2000/08/09/rdfdb/index.html"/>
      </rdf:Seq>
    </items>
  </channel>
  <item rdf:about="http://xml.com/pub/2000/08/09/rdfdb/index.html">
    <title>GQL</title>
    <link>http://xml.com/pub/2000/08/09/rdfdb/index.html</link>
    <description>
      SELECT ?x
      WHERE (Homepage325, Project, G-ToPSS), (G-ToPSS, Supervisor,
Arno Jacobsen), (G-ToPSS, YEAR, ?x)
      SUCHTHAT (?x > 2000) </description>
  </item>
</rdf:RDF>
"""
QUERY = "SELECT ?i WHERE { ?i a <http://purl.org/rss/1.0/item> . FILTER(1 < 2) }"


def test_the_subscription_of_figure_12_is_understood_and_fires():
    (found,) = subscriptions_in(FIGURE_12)
    assert found.id == "http://xml.com/pub/2000/08/09/rdfdb/index.html"
    assert found.language == "gql"
    prefixes = {"": "http://topss.example/"}
    hub = Hub(":memory:")
    hub.subscribe(found.text, language=found.language, id=found.id, prefixes=prefixes)
    page = (
        "@prefix : <http://topss.example/> . :Homepage325 :Project :G-ToPSS . "
        ':G-ToPSS :Supervisor "Arno Jacobsen" ; :YEAR 2005 .'
    )
    (event,) = hub.publish(page, uri="http://topss.example/page")
    assert event.row["x"].value == "2005"


@pytest.mark.parametrize(
    "feed",
    [
        "<rss version='2.0'><channel><item><guid>urn:q</guid><title> SPARQL </title><description><![CDATA[{}]]>"
        "</description></item></channel></rss>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>urn:q</id><title>sparql</title><content type='text'>"
        "<![CDATA[{}]]></content></entry></feed>",
    ],
)
def test_an_address_in_angle_brackets_is_not_taken_for_markup(feed):
    (found,) = subscriptions_in(feed.replace("{}", QUERY))
    assert (found.id, found.language, found.text) == ("urn:q", "sparql", QUERY)
    compile(found.text, language=found.language)


def test_a_json_feed_may_ask_as_well():
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [{"id": "urn:q", "title": "SPARQL", "content_text": QUERY}],
    }
    (found,) = subscriptions_in(json.dumps(feed))
    assert found.text == QUERY


@pytest.mark.parametrize(
    "item",
    [
        "<title>News of GQL</title><description>SELECT ?x WHERE (?x, a, b)</description>",
        "<title>GQL</title>",
        "<description>SELECT</description>",
    ],
)
def test_other_items_are_no_subscriptions(item):
    assert subscriptions_in(f"<rss version='2.0'><channel><item>{item}</item></channel></rss>") == []


def test_a_document_that_is_no_feed_has_none():
    assert subscriptions_in("<urn:a> <urn:b> <urn:c> .") == []
