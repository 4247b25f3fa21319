"""The pipeline: Triplewire on Spark.

What comes in: documents, as a DataFrame of uri, content and media type, and an index. What goes out: answers and bad
documents, as DataFrames. It distributes work and nothing else: parsing is `documents`, matching is `matching`, and
no rule of either is repeated in a DataFrame expression, so that Spark gives the answers that one process gives.

`session` starts a Spark that is tuned for this, `java` finds what that needs, `daemon` is what its Python workers are
forked from.
"""

from triplewire.pipeline.session import session

__all__ = ["session"]
