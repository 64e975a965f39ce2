"""Results as data: what a command is expected to give, and whether it does here.

Plugins ship TOML files of results through the hook `register_results`; `platform reproduce` runs
them, and the tables of the documentation are written from them.
"""

from irplatform.reproduction.choosing import select
from irplatform.reproduction.execute import Execution, reproduce
from irplatform.reproduction.rows import Expected, Row, read_rows
from irplatform.reproduction.shipped import known_rows, shipped_rows
from irplatform.reproduction.verdicts import Judged, Verdict

__all__ = [
    "Execution",
    "Expected",
    "Judged",
    "Row",
    "Verdict",
    "known_rows",
    "read_rows",
    "reproduce",
    "select",
    "shipped_rows",
]
