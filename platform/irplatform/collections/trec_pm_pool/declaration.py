"""The files that make a pool a collection: a TOML for each year, and what is missing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from irplatform import storage
from irplatform.collections.toml import FILE_NAME
from irplatform.collections.trec_pm_pool.sources import QUERY, pool_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from irplatform.collections.trec_pm_pool.sources import Year
    from irplatform.collections.write import Written

MISSING = "missing.tsv"
MEASURES = ("P@10", "Rprec", "nDCG@20", "AP", "Judged@20")
"""What the track reported, and nDCG@20; infNDCG comes with the sampled judgments."""


def declarations(years: Iterable[int]) -> dict[int, str]:
    """Names of the years' TOML files: the first one's makes the folder a collection."""
    first, *others = years
    return {first: FILE_NAME, **{year: f"{pool_name(year)}.toml" for year in others}}


def write_declarations(
    folder: Path, years: Sequence[Year], written: Written, missing: Mapping[str, str]
) -> None:
    """Write a TOML file for each year.

    Args:
        folder: the collection's.
        years: one, or two that train rerankers for each other.
        written: the documents, under `docs`.
        missing: judged documents that there are not, with the reason.
    """
    files = declarations(year.year for year in years)
    for year in years:
        partner = next((name for other, name in files.items() if other != year.year), None)
        with storage.atomic_write(folder / files[year.year]) as file:
            file.write(_declaration(year, years, written, missing, partner))


def write_missing(folder: Path, years: Sequence[Year], missing: Mapping[str, str]) -> None:
    """Write the judged documents that there are not, with how much they matter to each year.

    No file is written where nothing is missing.
    """
    if not missing:
        return
    columns = [f"{what}_{year.year}" for year in years for what in ("judged", "relevant")]
    with storage.atomic_write(folder / MISSING) as file:
        file.write("\t".join(["doc_id", "reason", *columns]) + "\n")
        for document_id, reason in missing.items():
            counts = []
            for year in years:
                grades = [g[document_id] for g in year.judged.values() if document_id in g]
                counts += [str(len(grades)), str(sum(grade > 0 for grade in grades))]
            file.write("\t".join([document_id, reason, *counts]) + "\n")


def _declaration(
    year: Year,
    years: Sequence[Year],
    written: Written,
    missing: Mapping[str, str],
    partner: str | None,
) -> str:
    parts = [
        f"id = {_quoted(pool_name(year.year))}",
        f"title = {_quoted(f'TREC Precision Medicine {year.year}, closed pool')}",
        f"note = {_quoted(_note(years, written, missing))}",
        f"measures = {_quoted(list(MEASURES))}",
        "\n[documents]",
        f"files = {_quoted([f'docs/{name}' for name in written.files])}",
        f"fields = {_quoted(list(written.fields))}",
        "\n[topics]",
        f"file = {_quoted(year.topics)}",
        'format = "trec-pm"',
        f"query = {_quoted(QUERY)}",
        "\n[qrels]",
        f"file = {_quoted(year.qrels)}",
        *([f"sampled = {_quoted(year.sampled)}"] if year.sampled else []),
        *(["\n[train]", f"collection = {_quoted(partner)}"] if partner else []),
    ]
    return "\n".join(parts) + "\n"


def _note(years: Sequence[Year], written: Written, missing: Mapping[str, str]) -> str:
    of = " and ".join(sorted(str(year.year) for year in years))
    lost = f" {len(missing):,} more could not be had, see {MISSING}." if missing else ""
    return (
        f"closed pool: only the {written.count:,} documents that were judged in {of}. Scores are "
        f"not comparable with those over all of MEDLINE.{lost}"
    )


def _quoted(value: str | list[str]) -> str:
    """As TOML, whose strings and lists of strings are written as JSON's are."""
    return json.dumps(value)
