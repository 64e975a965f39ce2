"""The report of a matrix: first stages down, rerankers across, a block for each measure.

Each reranker is compared with the first stage of its own row. The ceiling of a row is the score of
a perfect reranking of its candidates.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from irplatform.errors import for_display
from irplatform.reports.columns import Table, as_text, print_text, side_by_side
from irplatform.reports.evaluations import html_table
from irplatform.reports.run_report import part_remark
from irplatform.reports.table import (
    CEILING,
    FOUND,
    OF_ROW,
    SAME,
    SAME_TOLD,
    glyphs,
    legend_of,
    marks,
    matrix_table,
    share_table,
)
from irplatform.run_folder.mixture import folds_told, weights_told
from irplatform.system.console import terminal_width, wrapped
from irplatform.system.frames import pandas_frame, polars_frame
from irplatform.system.html import block

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    import polars as pl

    from irplatform.reports.run_report import RunReport
    from irplatform.run_folder.mixture import Mixture

_HOW = "paired t-test, Holm's correction over the rerankers of a row, mixed and alone"


@dataclass(frozen=True)
class Cell:
    """The runs of one first stage on one collection.

    Attributes:
        collection: the collection's id.
        first_stage: its name in the table.
        folder: of the runs.
        report: their table.
    """

    collection: str
    first_stage: str
    folder: Path
    report: RunReport

    @property
    def scores(self) -> dict[str, Mapping[str, float]]:
        """The scores of `FOUND`, rerankers, their own ("NAME-alone") and `CEILING`, by measure."""
        scores = {FOUND: self.report.final_stage.measures}
        for system in self.report.rerankers:
            entry = {f"{system.name}-alone": system.measures_alone or {}}
            scores |= {system.name: system.measures, **entry}
        return {**scores, CEILING: self.report.ceiling}

    def mark(self, column: str, measure: str) -> str:
        """Return the mark of a score: also of a reranker that was given no weight."""
        if column in self.shares and self.shares[column].has_no_weight:
            return SAME
        return glyphs(marks(self.report.comparisons.get(column, {})).get(measure, 0))

    @property
    def shares(self) -> dict[str, Mixture]:
        """The rerankers' mixtures, by name."""
        return {s.name: replace(s.mixture, share=s.interpolation) for s in self.report.rerankers}


@dataclass(frozen=True, repr=False)
class MatrixReport:
    """The reports of all cells.

    Attributes:
        folder: where `matrix.json` and the cells' folders are.
        rerankers: names, in the order of the table.
        cells: collection by collection, in the order of the first stages.
    """

    folder: Path
    rerankers: Sequence[str]
    cells: Sequence[Cell]

    @property
    def measures(self) -> list[str]:
        """The measures of all collections, in the order of the table."""
        return [*dict.fromkeys(m for cell in self.cells for m in cell.report.measures)]

    @property
    def scored(self) -> bool:
        """True if a collection had judgments."""
        return any(cell.report.scored for cell in self.cells)

    @property
    def _several(self) -> bool:
        """Whether there are several collections."""
        return len({cell.collection for cell in self.cells}) > 1

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a record for each score, for data frames and CSV.

        `system` is a reranker, its own scores ("NAME-alone"), "as found" or "ceiling"; `difference`
        and `p` compare a reranker with the first stage, whose share is `first_stage_share`. With
        the share 1 a reranker has the first stage's ranking, and no p.
        """
        for cell in self.cells:
            shares = {name: mixture.share for name, mixture in cell.shares.items()}
            for system, values in cell.scores.items():
                for measure, value in values.items():
                    compared = cell.report.comparisons.get(system, {}).get(measure)
                    yield {
                        "collection": cell.collection,
                        "first_stage": cell.first_stage,
                        "system": system,
                        "measure": measure,
                        "value": value,
                        "first_stage_share": shares.get(system),
                        "difference": compared.difference if compared else None,
                        "p": compared.p if compared else None,
                    }

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each score, see `rows`.

        Raises:
            InputError: pandas is not installed.
        """
        return pandas_frame(self._columns())

    def to_polars(self) -> pl.DataFrame:
        """Return what `to_pandas` returns, as a frame of polars."""
        return polars_frame(self._columns())

    def _columns(self) -> dict[str, list[object]]:
        rows = [*self.rows()]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `platform run`: the reports of the cells."""
        return {
            "rerankers": [*self.rerankers],
            "measures": self.measures,
            "cells": [
                {
                    "collection": cell.collection,
                    "first_stage": cell.first_stage,
                    "folder": str(cell.folder),
                    "baseline": cell.report.first_stage,
                    **cell.report.as_json(),
                }
                for cell in self.cells
            ],
        }

    def print_table(self) -> None:
        """Print the tables, fitted to a terminal."""
        print_text(self._text(terminal_width(sys.stdout)))

    def __repr__(self) -> str:
        """The tables, for `print` and notebooks."""
        return self._text()

    def _repr_html_(self) -> str:
        notes = dict.fromkeys(c.report.note for c in self.cells if c.report.note)
        tables = [*map(html_table, [*self._tables(), *self._shares()])]
        return block(*tables, notes=[*self._legend(), *self._remarks(), *notes])

    def _text(self, width: int | None = None) -> str:
        notes = dict.fromkeys(for_display(c.report.note) for c in self.cells if c.report.note)
        table = side_by_side(self._tables(), width) if self.scored else self._counts()
        table = "\n\n".join([table, *(as_text(shares, width) for shares in self._shares())])
        remarks = [*self._legend(), *self._remarks()]
        lines = [*(f"{wrapped(note, width)}\n" for note in notes), table]
        return "\n".join([*lines, *(wrapped(for_display(line), width) for line in remarks)])

    def _tables(self) -> list[Table]:
        return [self.table(measure) for measure in self.measures]

    def _legend(self) -> Iterator[str]:
        if not self.scored:
            return
        if marked := legend_of(self._tables(), OF_ROW, _HOW):
            yield marked
        yield (
            f"{FOUND}: the first stage itself; {CEILING}: its candidates in the order of their "
            "judgments, as a perfect reranker"
        )
        if any(mixture.has_no_weight for cell in self.cells for mixture in cell.shares.values()):
            yield SAME_TOLD

    def _shares(self) -> list[Table]:
        """The table of the first stages' shares, if there are rerankers."""
        shares = {
            f"{cell.collection}, {cell.first_stage}"
            if self._several
            else cell.first_stage: cell.shares
            for cell in self.cells
        }
        return [share_table(self.rerankers, shares)] if any(shares.values()) else []

    def _remarks(self) -> Iterator[str]:
        """The reranked documents of each row, if not the first N of its retrievers."""
        yield from dict.fromkeys(r for cell in self.cells for r in part_remark(cell.report.part))
        depths: dict[int, None] = {}
        for cell in self.cells:
            candidates = cell.report.candidates
            label = cell.first_stage
            if not candidates.usual and self._several:
                label = f"{cell.collection}, {label}"
            if candidates.usual:
                depths[candidates.facts["rerank_depth"]] = None
            elif candidates.sentence:
                yield f"{label}: {candidates.sentence}"
        for depth in depths if self.rerankers else ():
            yield f"Candidates of retrievers: the first {depth:,} of each"
        mixtures = {cell.first_stage: cell.report.final_stage.mixture for cell in self.cells}
        of_cells = {
            f"{c.first_stage}/{name}": m for c in self.cells for name, m in c.shares.items()
        }
        yield from (*weights_told(mixtures), *folds_told(of_cells))
        cut_short = (line for cell in self.cells for line in cell.report.cut_short)
        yield from {line.partition(":")[0]: line for line in cut_short}.values()

    def _counts(self) -> str:
        """The runs of collections without judgments."""
        header = ("collection", "first stage", "runs", "folder")
        rows = [
            (cell.collection, cell.first_stage, f"{len(cell.report.systems):,}", str(cell.folder))
            for cell in self.cells
        ]
        return as_text(Table.of(header, rows, left=2), None)

    def table(self, measure: str) -> Table:
        """Return the table of a measure; the best figure of each row is bold."""
        columns = [FOUND, *self.rerankers, CEILING]
        rows: list[tuple[str, dict[str, tuple[float, str]]]] = []
        above = ""
        for cell in self.cells:
            figures = cell.scores
            scores = {
                column: (figures[column][measure], cell.mark(column, measure))
                for column in columns
                if measure in figures.get(column, {})
            }
            if scores and self._several and cell.collection != above:
                above = cell.collection
                rows.append((above, {}))
            if scores:
                rows.append(
                    (f"  {cell.first_stage}" if self._several else cell.first_stage, scores)
                )
        return matrix_table(measure, columns, rows)
