"""XPath subscriptions see the XML of feeds: of each item, inside the elements around it (G4, N1)."""

from __future__ import annotations

from triplewire import Hub

URI = "https://courier.example/feed.xml"
PLACE = "/rss/channel/item[contains(title, 'crane')]/title"


def news(*titles: str) -> str:
    items = "".join(
        f"<item><guid isPermaLink='false'>{title[:5]}</guid><title>{title}</title></item>" for title in titles
    )
    return f"<rss version='2.0'><channel><title>Courier</title>{items}</channel></rss>"


def test_items_are_matched_changed_and_unmatched_by_their_xml():
    with Hub(":memory:") as hub:
        hub.subscribe(PLACE, language="xpath", id="cranes")
        kinds = [
            [event.kind for event in hub.publish(news(*titles), uri=URI)]
            for titles in (
                ("First crane", "Choir sings"),
                ("First crane falls", "Choir sings"),
                ("Choir sings", "Older crane"),
                ("First ship", "Choir sings"),
            )
        ]
        assert kinds == [["matched"], ["changed"], ["matched"], ["unmatched"]]
        (row,) = hub.rows("cranes")
        assert str(row["text"]) == '"Older crane"'
        assert str(row["document"]) == f"<{URI}#item=Older>"


def test_stored_items_are_found_by_xpath():
    with Hub(":memory:") as hub:
        hub.publish(news("First crane", "Choir sings"), uri=URI)
        assert [document.uri for document in hub.find(PLACE, language="xpath")] == [f"{URI}#item=First"]
