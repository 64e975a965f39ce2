"""Writes the tables of results into the documentation, from the rows that plugins ship.

    python docs/generate_results.py

Within a label the first stage comes first, then the rerankers by the better of their two lines. A
table stands between two comments; the first one says what is in it:

    <!-- results nfcorpus by retrievers: nDCG@20, AP -->
    …
    <!-- /results -->

names a tag, a heading for the rows' labels where they have some, and the measures. The last column
has what papers report on data of their own. A test compares the page with `written()`, so that the
tables cannot differ from what `platform reproduce` checks.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.registry.loading import registry
from irplatform.reproduction.rows import known_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.reproduction.rows import Expected, Row

PAGE = Path(__file__).with_name("results.md")

_TABLE = re.compile(
    r"(?P<begin><!-- results (?P<tag>[\w.-]+)( by (?P<label>\w+))?: (?P<measures>[^>]+?) -->\n).*?"
    r"(?P<end><!-- /results -->)",
    re.DOTALL,
)
_OURS = "irplatform"


def written(text: str, rows: Sequence[Row]) -> str:
    """A page with its tables written anew."""

    def table(found: re.Match[str]) -> str:
        measures = [measure.strip() for measure in found["measures"].split(",")]
        chosen = [row for row in rows if found["tag"] in row.tags]
        chosen.sort(
            key=lambda row: (
                row.label if found["label"] else "",
                row.reranker is not None,
                -_value(row, measures[0]),
            )
        )
        return (
            found["begin"]
            + "".join(f"{line}\n" for line in _table(chosen, found["label"], measures))
            + found["end"]
        )

    return _TABLE.sub(table, text)


def our_rows() -> list[Row]:
    """The rows of our own plugins; others document theirs."""
    held = registry().results
    files = [file for file, plugin in held.items() if plugin.distribution == _OURS]
    return list(known_rows(files))


def _table(rows: Sequence[Row], label: str | None, measures: Sequence[str]) -> Iterator[str]:
    first, *others = measures
    gains = any(first in row.expected and row.expected[first].gain for row in rows)
    papers = any(row.paper for row in rows)
    header = [*([label] if label else []), "system", "W", first]
    header += [*(["gain [95 %]"] if gains else []), *others]
    header += ["published, on other data"] if papers else []
    yield f"| {' | '.join(header)} |"
    yield "|---" * len(header) + "|"
    for row in rows:
        start = [row.label] if label else []
        name = row.title or row.name
        share = "" if row.interpolation is None else f"{row.interpolation:.2f}"
        lines = [(name, share, row.expected, row.paper)]
        if row.alone and row.interpolation != 0:
            lines.append((f"{name}, alone", "0", row.alone, ""))
        for system, weight, figures, paper in lines:
            cells = [*start, system, weight, *_cells(figures, [first])]
            cells += [_gain(figures.get(first))] if gains else []
            cells += _cells(figures, others)
            yield _line([*cells, paper] if papers else cells)


def _value(row: Row, measure: str) -> float:
    """What a table is sorted by: the best of the two lines of a row."""
    return max(
        (held[measure].value for held in (row.expected, row.alone) if measure in held), default=0.0
    )


def _line(cells: Sequence[str]) -> str:
    return " ".join(["|", *(f"{cell} |" if cell else "|" for cell in cells)])


def _cells(figures: Mapping[str, Expected], measures: Sequence[str]) -> Iterator[str]:
    for measure in measures:
        held = figures.get(measure)
        yield "" if held is None else _cell(held)


def _cell(held: Expected) -> str:
    spread = "" if held.std is None else f" ± {held.std:.4f}"
    return f"{held.value:.4f}{spread}"


def _gain(held: Expected | None) -> str:
    if held is None or held.gain is None:
        return ""
    difference, low, high = held.gain
    return f"{difference:+.4f} [{low:+.4f}, {high:+.4f}]".replace("-", "−")


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), our_rows()), encoding="utf-8")
