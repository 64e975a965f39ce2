"""The report of a matrix: first stages down, rerankers across, a block for each measure.

Each reranker is compared with the first stage of its own row. The ceiling of a row is the score of
a perfect reranking of its candidates.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.errors import for_display
from irplatform.reports.columns import Table, as_text, print_text
from irplatform.reports.evaluations import html_table
from irplatform.reports.run_report import part_remark
from irplatform.reports.table import GLYPHS, figure, glyphs, marks, shows_glyphs
from irplatform.runs.folder import MATRIX
from irplatform.system.console import terminal_width, wrapped
from irplatform.system.frames import pandas_frame, polars_frame
from irplatform.system.html import block

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pandas as pd
    import polars as pl

    from irplatform.reports.run_report import RunReport

FILE_NAME = MATRIX
FOUND, CEILING = "as found", "ceiling"
"""The columns before and after those of the rerankers."""
_GAP = "   "
"""Between two measures side by side."""
_BOLD = re.compile(r"\x1b\[\d*m")
_USUAL_WIDTH = 80
"""Where no terminal says how wide it is."""


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

    def value(self, column: str, measure: str) -> float | None:
        """Return a score: of a reranker, `FOUND` or `CEILING`; None if there is none."""
        if column == CEILING:
            return self.report.ceiling.get(measure)
        if column == FOUND:
            return self.report.final_stage.measures.get(measure)
        found = (each for each in self.report.rerankers if each.name == column)
        return next((each.measures.get(measure) for each in found), None)

    def mark(self, column: str, measure: str) -> int:
        """Return how significantly a reranker differs from the first stage; see `table.mark`."""
        if column in (FOUND, CEILING):
            return 0
        return marks(self.report.comparisons.get(column, {})).get(measure, 0)


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
        """Whether a collection had judgments."""
        return any(cell.report.scored for cell in self.cells)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a record for each score, for data frames and CSV.

        `system` is a reranker, its own scores ("NAME-alone"), "as found" or "ceiling"; `difference`
        and `p` compare a reranker with the first stage.
        """
        for cell in self.cells:
            report = cell.report
            found: dict[str, Any] = {FOUND: report.final_stage.measures}
            for each in report.rerankers:
                found |= {each.name: each.measures, f"{each.name}-alone": each.measures_alone or {}}
            found[CEILING] = report.ceiling
            for system, values in found.items():
                for measure, value in values.items():
                    compared = report.comparisons.get(system, {}).get(measure)
                    yield {
                        "collection": cell.collection,
                        "first_stage": cell.first_stage,
                        "system": system,
                        "measure": measure,
                        "value": value,
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
        """Return what `platform run --json` prints: the reports of the cells."""
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
        width = terminal_width(sys.stdout)
        print_text(self._text(width, ascii_only=not shows_glyphs(sys.stdout)))

    def __repr__(self) -> str:
        """The tables, for `print` and notebooks."""
        return self._text()

    def _repr_html_(self) -> str:
        notes = dict.fromkeys(c.report.note for c in self.cells if c.report.note)
        tables = [html_table(self.table(measure)) for measure in self.measures]
        return block(*tables, notes=[*self._legend(False), *self._remarks(), *notes])

    def _text(self, width: int | None = None, *, ascii_only: bool = False) -> str:
        notes = dict.fromkeys(for_display(c.report.note) for c in self.cells if c.report.note)
        table = self._tables(width, ascii_only) if self.scored else self._counts()
        told = [*self._legend(ascii_only), *self._remarks()]
        lines = [*(f"{wrapped(note, width)}\n" for note in notes), table]
        return "\n".join([*lines, *(wrapped(for_display(line), width) for line in told)])

    def _legend(self, ascii_only: bool) -> Iterator[str]:
        if not self.scored:
            return
        if any(
            cell.mark(name, measure)
            for cell in self.cells
            for name in self.rerankers
            for measure in self.measures
        ):
            better, worse = GLYPHS[ascii_only]
            yield (
                f"{better} better than the row's first stage, {worse} worse: p < 0.05; "
                f"{better * 2} {worse * 2} p < 0.01 (paired t-test, Holm's correction)"
            )
        yield (
            f"{FOUND}: the first stage itself; {CEILING}: its candidates in the order of their "
            "judgments, as a perfect reranker"
        )

    def _remarks(self) -> Iterator[str]:
        """What was reranked in each row, if not the first N of its retrievers."""
        yield from dict.fromkeys(r for cell in self.cells for r in part_remark(cell.report.part))
        depths: dict[int, None] = {}
        for cell in self.cells:
            candidates = cell.report.candidates
            where = cell.first_stage
            if not candidates.usual and len({c.collection for c in self.cells}) > 1:
                where = f"{cell.collection}, {where}"
            if candidates.usual:
                depths[candidates.facts["rerank_depth"]] = None
            elif candidates.sentence:
                yield f"{where}: {candidates.sentence}"
        for depth in depths if self.rerankers else ():
            yield f"Candidates of retrievers: the first {depth:,} of each"
        cut_short = (line for cell in self.cells for line in cell.report.cut_short)
        yield from {line.partition(":")[0]: line for line in cut_short}.values()

    def _counts(self) -> str:
        """The runs of collections without judgments."""
        header = ("collection", "first stage", "runs", "folder")
        rows = [
            (cell.collection, cell.first_stage, f"{len(cell.report.systems):,}", str(cell.folder))
            for cell in self.cells
        ]
        return as_text(Table("", header, rows, left=2), None)

    def _tables(self, width: int | None, ascii_only: bool) -> str:
        """A table for each measure; as many side by side as there is room for."""
        room = width or _USUAL_WIDTH
        rows: list[list[Table]] = []
        for measure in self.measures:
            table = self.table(measure, ascii_only=ascii_only)
            last = rows[-1] if rows else []
            beside = sum(each.width + len(_GAP) for each in last) + table.width <= room
            if last and beside and len(last[-1].rows) == len(table.rows):
                last.append(table)
            else:
                rows.append([table])
        return "\n\n".join(_beside(tables, width) for tables in rows)

    def table(self, measure: str, *, ascii_only: bool = False) -> Table:
        """Return the table of a measure; the best figure of each row is bold."""
        columns = [FOUND, *self.rerankers, CEILING]
        cells = [c for c in self.cells if any(c.value(n, measure) is not None for n in columns)]
        several = len({cell.collection for cell in self.cells}) > 1
        room = {n: max((abs(c.mark(n, measure)) for c in cells), default=0) for n in columns}
        rows: list[list[str]] = []
        means: list[dict[str, float]] = []
        above = ""
        for cell in cells:
            if several and cell.collection != above:
                above = cell.collection
                rows.append([above, *("" for _ in columns)])
                means.append({})
            values = {n: v for n in columns if (v := cell.value(n, measure)) is not None}
            texts = (
                figure(measure, values[n])
                + glyphs(cell.mark(n, measure), ascii_only).ljust(room[n])
                if n in values
                else "-" + " " * room[n]
                for n in columns
            )
            rows.append([f"  {cell.first_stage}" if several else cell.first_stage, *texts])
            means.append(values)
        best = frozenset(
            (number, place)
            for number, values in enumerate(means)
            for place, name in enumerate(columns[:-1], start=1)
            if name in values
            and round(values[name], 4)
            == max(round(values[n], 4) for n in columns[:-1] if n in values)
        )
        header = [measure, *(name + " " * room[name] for name in columns)]
        return Table("", header, rows, best=best)


def _beside(tables: Sequence[Table], width: int | None) -> str:
    """Tables of as many rows, side by side."""
    if len(tables) == 1:
        return as_text(tables[0], width)
    blocks = [as_text(table, width).split("\n") for table in tables]
    return "\n".join(
        _GAP.join(
            line + " " * (table.width - len(_BOLD.sub("", line)))
            for table, line in zip(tables, lines, strict=True)
        ).rstrip()
        for lines in zip(*blocks, strict=True)
    )
