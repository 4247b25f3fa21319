"""Matching many documents on Spark, each document by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

from triplewire.documents import Limits, parse
from triplewire.errors import PipelineError
from triplewire.matching import Index
from triplewire.pipeline.images import place
from triplewire.pipeline.tally import Tally, new_tally
from triplewire.pipeline.worker import ANSWERS, BAD, Given, Reader, Work

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession

_TRIES_ONCE = re.compile(r"local(?:\[(?:\d+|\*)\])?$")


def match(spark: SparkSession, documents: DataFrame, index: Index | str | PathLike[str]) -> DataFrame:
    """The answers that an index, or a saved one, has for documents: `subscription`, `row` and `document`.

    `documents` has the columns `uri` and `content`, and may have `media_type`. A row is a map from the names of columns
    to terms in their N-Triples spelling. What cannot be read is left out; `match_documents` tells of it.
    """
    return match_documents(spark, documents, index).answers


def match_documents(
    spark: SparkSession,
    documents: DataFrame,
    index: Index | str | PathLike[str],
    *,
    read: Reader = parse,
    limits: Limits | None = None,
) -> BatchMatch:
    """`match`, with what was bad and how many there were beside the answers."""
    missing = {"uri", "content"} - set(documents.columns)
    if missing:
        there = ", ".join(documents.columns)
        raise PipelineError(
            f"documents need the columns uri and content; {' and '.join(sorted(missing))} is missing ({there})"
        )
    columns = documents.select(*(name for name in Given._fields if name in documents.columns))
    work = Work(
        image=place(spark, index),
        read=read,
        limits=limits or Limits(),
        wanted="answers",
        tally=new_tally(spark.sparkContext),
        is_careful=bool(_TRIES_ONCE.match(str(spark.sparkContext.master))),
    )
    return BatchMatch(columns, work)


@dataclass(frozen=True)
class BatchMatch:
    """A batch that is to be matched. Nothing runs before something asks for `answers` or `bad`."""

    documents: DataFrame
    work: Work

    @cached_property
    def answers(self) -> DataFrame:
        """`subscription`, `row`, `document`: each distinct row of each document."""
        return self.documents.mapInArrow(self.work, ANSWERS)

    @cached_property
    def bad(self) -> DataFrame:
        """`document`, `subscription`, `reason`: what could not be read; or, with a subscription, what it failed on."""
        return self.documents.mapInArrow(replace(self.work, wanted="bad", tally=None), BAD)

    def again(self) -> BatchMatch:
        """The same batch with a tally that has counted nothing yet."""
        return BatchMatch(self.documents, replace(self.work, tally=new_tally(self.documents.sparkSession.sparkContext)))

    @property
    def tally(self) -> Tally:
        """What has been done by the tasks that have finished, each time that `answers` was computed."""
        accumulator: Accumulator[Tally] | None = self.work.tally
        return accumulator.value if accumulator is not None else Tally()
