"""Writes the tables of results into the documentation, from the rows that plugins ship.

    python docs/generate_results.py

Within a label the first stage comes first, then the rerankers by the better of their two lines. A
table stands between two comments; the first one says what is in it:

    <!-- results nfcorpus by retrievers: nDCG@20, AP -->
    …
    <!-- /results -->

names a tag, a heading for the rows' labels where they have some, and the measures. The last column
has what papers report on data of their own.

The table between `<!-- claims -->` and `<!-- /claims -->` has a line for each claim, in the order
of the papers' years, and else of the files. A test compares the page with `written()`, so that the
tables cannot differ from what `platform reproduce` checks.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.registry.loading import registry
from irplatform.reproduction.differences import known_claims
from irplatform.reproduction.rows import known_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.reproduction.differences import Claim
    from irplatform.reproduction.rows import Expected, Row

PAGE = Path(__file__).with_name("results.md")

_TABLE = re.compile(
    r"(?P<begin><!-- results (?P<tag>[\w.-]+)( by (?P<label>\w+))?: (?P<measures>[^>]+?) -->\n).*?"
    r"(?P<end><!-- /results -->)",
    re.DOTALL,
)
_CLAIMS = re.compile(r"(?<=<!-- claims -->\n).*?(?=<!-- /claims -->)", re.DOTALL)
_YEAR = re.compile(r"\b(19|20)\d\d\b")
_NO_YEAR = "9999"
_OURS = "irplatform"


def written(text: str, rows: Sequence[Row], claims: Sequence[Claim] = ()) -> str:
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

    of_claims = "".join(f"{line}\n" for line in _claims(claims, rows))
    return _CLAIMS.sub(lambda _: of_claims, _TABLE.sub(table, text))


def our_rows() -> list[Row]:
    """The rows of our own plugins; others document theirs."""
    return list(known_rows(_our_files()))


def our_claims() -> list[Claim]:
    """The claims about them."""
    return known_claims(_our_files(), our_rows())


def _our_files() -> list[Path]:
    held = registry().results
    return [file for file, plugin in held.items() if plugin.distribution == _OURS]


def _claims(claims: Sequence[Claim], rows: Sequence[Row]) -> Iterator[str]:
    by_id = {row.id: row for row in rows}
    header = ["claim", "source", "published", "here [95 %]", "measure", "topics", "verdict"]
    yield _line(header)
    yield "|---" * len(header) + "|"
    for claim in sorted(claims, key=lambda claim: _year(claim.source)):
        row = by_id[claim.better]
        collection = f"`{row.collection.rpartition('}/')[2]}`"
        yield _line(
            [
                claim.claim,
                claim.source,
                "" if claim.published is None else _signed(claim.published)[0],
                _interval(claim.expected) if claim.expected else "",
                f"{claim.measure} alone" if claim.alone else claim.measure,
                f"{collection}, judged" if "judged" in row.retrievers else collection,
                f"{claim.verdict} ({claim.variant})"
                if claim.variant and claim.expected
                else claim.verdict,
            ]
        )


def _year(source: str) -> str:
    found = _YEAR.search(source)
    return found[0] if found else _NO_YEAR


def _interval(difference: tuple[float, float, float]) -> str:
    middle, low, high = _signed(*difference)
    return f"{middle} [{low}, {high}]"


def _signed(*numbers: float) -> list[str]:
    """Numbers with as many digits as the file has, and at least three."""
    digits = max(3, *(len(str(number).partition(".")[2]) for number in numbers))
    return [f"{number:+.{digits}f}".replace("-", "−") for number in numbers]


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
    text = written(PAGE.read_text(encoding="utf-8"), our_rows(), our_claims())
    PAGE.write_text(text, encoding="utf-8")
