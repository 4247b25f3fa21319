"""The engine: changes in, events out.

It ties matching to a store, in one process: a batch of changes becomes revisions of documents (`revisions`), these
seed partial matches that are completed by lookups (`neighbourhoods`), the rows that begin and end are the difference
with what is on record (`differences`), and one transaction writes it all, with the events and their reasons
(`applying`, `reasons`). Who asks is told why (`explaining`), what a subscription would be like (`preview`), what there
is (`browsing`, `replica`), and whether all of it is true (`checking`). `Hub` is what people use. It never parses a
language or plans a match itself, and never delivers an event: whoever wants them reads the log.
"""

from __future__ import annotations

from triplewire.engine.hub import Hub
from triplewire.engine.inspect.explanations import Source, Why, WhyNot
from triplewire.engine.inspect.preview import Preview
from triplewire.engine.inspect.resources import Resource, Version
from triplewire.tables import Outcome

__all__ = ["Hub", "Outcome", "Preview", "Resource", "Source", "Version", "Why", "WhyNot"]
