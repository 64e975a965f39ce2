"""What people look at when a run is done: tables."""

from irplatform.reports.rows import ResultRow, mark
from irplatform.reports.table import print_table, render_table

__all__ = ["ResultRow", "mark", "print_table", "render_table"]
