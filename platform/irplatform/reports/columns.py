"""Rows of text as aligned columns, for tables that are read in a terminal and kept in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def aligned(
    rows: Sequence[Sequence[str]],
    *,
    left: int = 1,
    head: int = 1,
    bold: Collection[tuple[int, int]] = (),
) -> list[str]:
    """Align the cells of rows, two spaces apart, without trailing white space.

    Args:
        rows: as many cells each.
        left: how many columns stand to the left; numbers, behind them, stand to the right.
        head: how many rows a line is drawn under; none for 0.
        bold: rows and columns of cells that a terminal shows in bold.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for column in range(len(cells)):
            if (number, column) in bold:
                cells[column] = f"\x1b[1m{cells[column]}\x1b[0m"
        lines.append("  ".join(cells).rstrip())
    rule = ["-" * (sum(widths) + 2 * (len(widths) - 1))] if head else []
    return [*lines[:head], *rule, *lines[head:]]
