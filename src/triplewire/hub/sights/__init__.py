"""Sights: what people look at on the page, as JSON (`messages`), and what a query asks for as a picture (`pictures`).

Every list in it is bounded. The page itself is in `page`, and the routes that answer with these are in `routes`.
"""
