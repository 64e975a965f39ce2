"""The files that make a pool a collection: a TOML for each year, and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform import storage
from irplatform.collections.missing import FILE_NAME as MISSING
from irplatform.collections.toml import FILE_NAME
from irplatform.collections.trec_pm_pool.sources import QUERY, pool_name
from irplatform.toml_io import toml_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.collections.trec_pm_pool.sources import Year
    from irplatform.collections.write import Written

MEASURES = ("P@10", "Rprec", "nDCG@20", "AP", "Judged@20")
"""What the track reported, and nDCG@20; infNDCG comes with the sampled judgments."""


def declarations(years: Iterable[int]) -> dict[int, str]:
    """Names of the years' TOML files: the first one's makes the folder a collection."""
    first, *others = years
    return {first: FILE_NAME, **{year: f"{pool_name(year)}.toml" for year in others}}


def write_declarations(
    folder: Path, years: Sequence[Year], written: Written, missing: Mapping[str, str]
) -> None:
    """Write a TOML file for each year; two years train rerankers for each other.

    Args:
        folder: the collection's.
        years: one or two.
        written: the documents, under `docs`.
        missing: judged documents that could not be had, with the reason.
    """
    files = declarations(year.year for year in years)
    for year in years:
        partner = next((name for other, name in files.items() if other != year.year), None)
        with storage.atomic_write(folder / files[year.year]) as file:
            file.write(_declaration(year, years, written, missing, partner))


def _declaration(
    year: Year,
    years: Sequence[Year],
    written: Written,
    missing: Mapping[str, str],
    partner: str | None,
) -> str:
    parts = [
        f"id = {toml_value(pool_name(year.year))}",
        f"title = {toml_value(f'TREC Precision Medicine {year.year}, closed pool')}",
        f"note = {toml_value(_note(years, written, missing))}",
        f"measures = {toml_value(MEASURES)}",
        "\n[documents]",
        f"files = {toml_value([f'docs/{name}' for name in written.files])}",
        f"fields = {toml_value(written.fields)}",
        "\n[topics]",
        f"file = {toml_value(year.topics)}",
        'format = "trec-pm"',
        f"query = {toml_value(QUERY)}",
        "\n[qrels]",
        f"file = {toml_value(year.qrels)}",
        *([f"sampled = {toml_value(year.sampled)}"] if year.sampled else []),
        *(["\n[train]", f"collection = {toml_value(partner)}"] if partner else []),
    ]
    return "\n".join(parts) + "\n"


def _note(years: Sequence[Year], written: Written, missing: Mapping[str, str]) -> str:
    of = " and ".join(sorted(str(year.year) for year in years))
    lost = f" {len(missing):,} more could not be had, see {MISSING}." if missing else ""
    return (
        f"closed pool: only the {written.count:,} documents that were judged in {of}. Scores are "
        f"not comparable with those over all of MEDLINE.{lost}"
    )
