"""Scores of several runs, by name: a mapping that shows itself as a table and gives frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.evaluation.scoring import Evaluation
from irplatform.reports.columns import Column, Table, as_text
from irplatform.reports.table import measure_column
from irplatform.system.frames import pandas_frame, polars_frame
from irplatform.system.html import block, cell, table

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    import pandas as pd
    import polars as pl


class Evaluations(dict[str, Evaluation]):
    """The scores of runs by their names.

    Attributes:
        paths: the run files by name; a run in memory has its name.
    """

    def __init__(self, evaluations: Mapping[str, Evaluation], paths: Mapping[str, Path]) -> None:
        super().__init__(evaluations)
        self.paths = paths

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return [*next(iter(self.values())).aggregate] if self else []

    def table(self) -> Table:
        """Return a line for each run with its means; the best ones are bold."""
        contenders = [len(self) > 1] * len(self)
        columns = [
            measure_column(m, [e.aggregate[m] for e in self.values()], contends=contenders)
            for m in self.measures
        ]
        return Table([Column("system", [*self]), *columns])

    def to_pandas(self, *, per_topic: bool = False) -> pd.DataFrame:
        """Return means, a row for each run; or the values of topics, a row for each.

        Args:
            per_topic: columns system, topic, measure and value.

        Raises:
            InputError: pandas is not installed.
        """
        return pandas_frame(self._columns(per_topic))

    def to_polars(self, *, per_topic: bool = False) -> pl.DataFrame:
        """Return what `to_pandas` returns, as a frame of polars."""
        return polars_frame(self._columns(per_topic))

    def _columns(self, per_topic: bool) -> dict[str, list[object]]:
        if per_topic:
            return topic_columns({name: evaluation.per_topic for name, evaluation in self.items()})
        of_measures = {m: [e.aggregate[m] for e in self.values()] for m in self.measures}
        return {"system": [*self], **of_measures}

    def __repr__(self) -> str:
        """The table, for `print`."""
        return as_text(self.table(), None)

    def _repr_html_(self) -> str:
        return block(html_table(self.table()))


def topic_columns(
    per_topic: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> dict[str, list[object]]:
    """Return columns of the values of topics, by system and measure."""
    rows = [
        (system, topic, measure, value)
        for system, by_measure in per_topic.items()
        for measure, values in by_measure.items()
        for topic, value in values.items()
    ]
    names = ("system", "topic", "measure", "value")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def html_table(content: Table, asides: Collection[int] = ()) -> str:
    """Return a table as HTML; the best cells are bold, and those with marks coloured.

    `asides` are rows that describe the one above.
    """
    rows = [
        [
            cell(
                text.strip() if number in asides else text,
                bold=content.is_best(number, column),
                kind="better" if "▲" in text else "worse" if "▼" in text else "",
            )
            for column, text in enumerate(row)
        ]
        for number, row in enumerate(content.rows)
    ]
    long = len(content.columns) - 1 if content.text else None
    return table(content.header, rows, left=content.left, long=long, asides=asides)
