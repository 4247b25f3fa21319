"""Subscriptions that come, change and go: a text becomes a query that stands (`registrations`), and asks something else
or is paused (`edits`, with `absences` for what waits meanwhile), or goes on at another hub (`handovers`). What
answers a query already is a matter of `backfill`; matching is not done here.
"""
