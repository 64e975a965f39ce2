"""Data frames of pandas and polars, both of which may be missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.system.packages import absent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import polars as pl

    Columns = Mapping[str, Sequence[object]]


def pandas_frame(columns: Columns) -> pd.DataFrame:
    """Return columns by name as a frame of pandas.

    Raises:
        InputError: pandas is not installed.
    """
    _require("pandas")
    import pandas as pd

    return pd.DataFrame(dict(columns))


def polars_frame(columns: Columns) -> pl.DataFrame:
    """Return columns by name as a frame of polars.

    Raises:
        InputError: polars is not installed.
    """
    _require("polars")
    import polars as pl

    return pl.DataFrame(dict(columns), strict=False)


def _require(package: str) -> None:
    if absent(package):
        raise InputError(
            f"a frame of {package} needs {package}. Run pip install 'irplatform[frames]', or pip "
            f"install {package}."
        )
