"""Writes the tables of results into the documentation, from the rows that plugins ship.

    python docs/generate_results.py

A table stands between two comments, of which the first says what is in it:

    <!-- results nfcorpus by retrievers: nDCG@20, AP -->
    <!-- years 2017 trec-pm-paper, 2018 trec-pm-paper-2018: nDCG@20, AP -->
    <!-- claims WWW 2018 -->
    <!-- claims delta-over-bm25-title, delta-over-wmd -->
    <!-- claims clicks.toml AllNewWords -->
    <!-- verdicts WWW 2018, DeepSenSe -->
    <!-- verdicts WWW 2018: AP -->
    …
    <!-- /results -->

`results` has the rows with a tag, with a heading for their labels where they have some. The first
stage comes first, then the rerankers by the better of their two lines; the last column has what
papers report on data of their own. `years` has one line for a system, with the rows of two tags
side by side: those whose ids differ by the year only. `claims` has the differences of a paper, or
those with the ids that are named; a claim has one line for all collections. A file with tables of
its own, which no paper's has, is named with a word of its claims' sources. `verdicts` counts the
differences of papers by their tables, by the first measure of each or by those that are named.

A test compares the pages with `render()`, so that the tables cannot differ from what `platform
reproduce` checks.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.registry.loading import registry
from irplatform.reproduction.differences import known_claims
from irplatform.reproduction.rows import known_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from irplatform.reproduction.differences import Claim
    from irplatform.reproduction.rows import Expected, Row

PAGES = [
    Path(__file__).parent / name
    for name in ("results.md", "protocol.md", "results-clicks.md", "../README.md")
]

_BLOCK = re.compile(
    r"(?P<begin><!-- (?P<kind>results|years|claims|verdicts) (?P<what>[^:>]+?)"
    r"(: (?P<measures>[^>]+?))? -->\n).*?(?P<end><!-- /(?P=kind) -->)",
    re.DOTALL,
)
_YEAR = re.compile(r"-20\d\d$")
_OURS = "irplatform"
_PLACES = {
    "trec-pm/2017.toml": "2017",
    "trec-pm/2018.toml": "2018",
    "nfcorpus:dev": "NFCorpus",
    "citations:dev": "citing sentences",
    "${IRPLATFORM_MESH}:test": "MeSH-term queries",
    **{f"noise-{noise}:test": f"noise {noise}" for noise in ("0", "0.1", "0.3", "0.5")},
}
"""What columns call a collection."""
_APART = ("clicks.toml",)
"""Files with tables of their own."""
_SPACE = "\N{NO-BREAK SPACE}"
_UNINFORMED = ("revdocid", "random-order")
_VERDICTS = ("reproduced", "direction only", "undecided", "not reproduced", "opposite", "not run")


def render(text: str, rows: Sequence[Row], claims: Sequence[Claim] = ()) -> str:
    """A page with its tables written anew."""

    def table(block: re.Match[str]) -> str:
        subject = block["what"]
        measures = [measure.strip() for measure in (block["measures"] or "").split(",")]
        if block["kind"] == "claims":
            lines = _claims(_select_claims(claims, subject), {row.id: row for row in rows})
        elif block["kind"] == "verdicts":
            papers = [paper.strip() for paper in subject.split(",")]
            lines = _verdicts(claims, papers, measures if block["measures"] else ())
        elif block["kind"] == "years":
            lines = _years(rows, [place.split() for place in subject.split(",")], measures)
        else:
            tag, _, label = subject.partition(" by ")
            lines = _table(tagged(rows, tag, measures[0], bool(label)), label, measures)
        return block["begin"] + "".join(f"{line}\n" for line in lines) + block["end"]

    return _BLOCK.sub(table, text)


def tags_in(text: str) -> set[str]:
    """The tags whose rows a page has in its tables."""
    tags = set()
    for block in _BLOCK.finditer(text):
        if block["kind"] == "years":
            tags |= {place.split()[1] for place in block["what"].split(",")}
        elif block["kind"] == "results":
            tags.add(block["what"].partition(" by ")[0])
    return tags


def our_rows() -> list[Row]:
    """The rows of our own plugins; others document theirs."""
    return list(known_rows(_our_files()))


def our_claims() -> list[Claim]:
    """The claims about them."""
    return known_claims(_our_files(), our_rows())


def _our_files() -> list[Path]:
    files = registry().results
    return [file for file, plugin in files.items() if plugin.distribution == _OURS]


def tagged(rows: Sequence[Row], tag: str, measure: str, labelled: bool = False) -> list[Row]:
    """The rows with a tag, in the order of a table."""
    selection = [row for row in rows if tag in row.tags]
    return sorted(
        selection,
        key=lambda row: (
            row.label if labelled else "",
            row.reranker is not None,
            -_value(row, measure),
        ),
    )


def _select_claims(claims: Sequence[Claim], subject: str) -> list[Claim]:
    """The claims of a paper or a file, or with these ids in their order."""
    by_id = {claim.id: claim for claim in claims}
    names = [name.strip() for name in subject.split(",")]
    if names[0] in by_id:
        return [by_id[name] for name in names]
    file, _, word = subject.partition(" ")
    if file in _APART:
        return [claim for claim in claims if claim.file.name == file and word in claim.source]
    of_papers = [claim for claim in claims if claim.file.name not in _APART]
    return [claim for claim in of_papers if claim.source.startswith(f"{subject},")]


def _claims(claims: Sequence[Claim], rows: Mapping[str, Row]) -> Iterator[str]:
    """A line for each claim, with the collections that it was looked at on side by side."""
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    papers = {claim.source.partition(",")[0] for claim in claims}
    for claim in claims:
        measure = f"{claim.measure} alone" if claim.alone else claim.measure
        published = "" if claim.published is None else _signed(claim.published)[0]
        text = f"{claim.claim} ({claim.variant})" if claim.variant else claim.claim
        source = claim.source.partition(", ")[2] if len(papers) == 1 else claim.source
        place = _place(rows[claim.better].collection)
        place += f", {claim.of_topics}" if isinstance(claim.topics, tuple) and claim.topics else ""
        cells = lines.setdefault((text, f"{source}; {measure}", published), {})
        mark = "*" if claim.variant else "**"
        verdict = f"{mark}{claim.verdict.removesuffix(', of a variant')}{mark}"
        once = claim.expected and any(_is_one_training(rows[row_id]) for row_id in claim.rows)
        cells[place] = f"{_interval(claim.expected)} {verdict}{', once' if once else ''}".lstrip()
    places = list(dict.fromkeys(place for cells in lines.values() for place in cells))
    places.sort(key=[*_PLACES.values(), *places].index)
    yield _line(["claim", "table; measure", "published", *places])
    yield "|---" * (3 + len(places)) + "|"
    for start, cells in lines.items():
        yield _line([*start, *(cells.get(place, "") for place in places)])


def _verdicts(
    claims: Sequence[Claim], papers: Sequence[str], measures: Sequence[str]
) -> Iterator[str]:
    """A line for each table of a paper, with the number of differences that came out so.

    Two rows count once for a table, by the first of their measures (of these, if there are some)
    and topics. Rankers that know nothing of the query are no rivals here, and a file with tables of
    its own is left out. Verdicts that no claim has get no column.
    """
    counted: dict[tuple[str, ...], Claim] = {}
    for claim in claims:
        if measures and claim.measure not in measures:
            continue
        if claim.file.name not in _APART and not claim.worse.startswith(_UNINFORMED):
            counted.setdefault((claim.source, *claim.rows), claim)
    verdicts = {claim.verdict for claim in counted.values()}
    columns = [name for name in _VERDICTS if any(verdict.startswith(name) for verdict in verdicts)]
    yield _line(["source", *columns])
    yield "|---" * (1 + len(columns)) + "|"
    for paper in papers:
        sources = [c.source for c in counted.values() if c.source.startswith(f"{paper},")]
        for source in sorted(dict.fromkeys(sources), key=_natural):
            of_source = [claim for claim in counted.values() if claim.source == source]
            cells = []
            for verdict in columns:
                group = [claim for claim in of_source if claim.verdict.startswith(verdict)]
                variants = sum(bool(claim.variant) for claim in group)
                count = len(group) - variants
                parts = [str(count)] if count else []
                cells.append(", ".join(parts + ([f"*{variants}*"] if variants else [])))
            yield _line([source, *cells])


def _natural(text: str) -> list[str]:
    """A key that puts table 10 after table 9."""
    return [part.rjust(3, "0") if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def _place(collection: str) -> str:
    name = collection.rpartition("}/")[2]
    return _PLACES.get(name, name)


def _is_one_training(row: Row) -> bool:
    """Whether a row is of a model that learned once."""
    return "--members" in row.arguments and "--seeds" not in row.arguments


def _interval(difference: tuple[float, float, float] | None) -> str:
    if difference is None:
        return ""
    middle, low, high = _signed(*difference)
    return f"{middle}{_SPACE}[{low},{_SPACE}{high}]"


def _signed(*numbers: float) -> list[str]:
    """Numbers as they are written, to three digits."""
    rounded = [
        Decimal(str(number)).quantize(Decimal("0.001"), ROUND_HALF_EVEN) for number in numbers
    ]
    return [f"{number:+}".replace("-", "−").replace("0.", ".", 1) for number in rounded]


def _years(
    rows: Sequence[Row], places: Sequence[Sequence[str]], measures: Sequence[str]
) -> Iterator[str]:
    """A line for each system, with its rows of several tags side by side, to three digits."""
    first, *others = measures
    systems: dict[str, dict[str, Row]] = {}
    for _, tag in places:
        for row in tagged(rows, tag, first):
            systems.setdefault(_YEAR.sub("", row.id), {})[tag] = row
    header = ["system"]
    for year, _ in places:
        header += [f"{year}: {first}", "gain [95 %]", *others]
    yield _line(header)
    yield "|---" * len(header) + "|"
    for of_system in systems.values():
        row = next(iter(of_system.values()))
        cells = [row.title or row.name]
        for _, tag in places:
            figures = of_system[tag].expected if tag in of_system else {}
            gain = figures[first].gain if first in figures else None
            cells += [_short_cell(figures.get(first), spread=True), _interval(gain)]
            cells += [_short_cell(figures.get(measure), spread=False) for measure in others]
        yield _line(cells)


def _short_cell(figure: Expected | None, *, spread: bool) -> str:
    if figure is None:
        return ""
    value = f"{figure.value:.3f}".removeprefix("0")
    std = "" if figure.std is None or not spread else f"{figure.std:.3f}".removeprefix("0")
    return f"{value}{_SPACE}±{_SPACE}{std}" if std else value


def _table(rows: Sequence[Row], label: str, measures: Sequence[str]) -> Iterator[str]:
    first, *others = measures
    gains = any(first in row.expected and row.expected[first].gain for row in rows)
    papers = any(row.paper for row in rows)
    header = [*([label] if label else []), "system", "W", first]
    header += [*(["gain [95 %]"] if gains else []), *others]
    header += ["published, on other data"] if papers else []
    yield _line(header)
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
        (figures[measure].value for figures in (row.expected, row.alone) if measure in figures),
        default=0.0,
    )


def _line(cells: Sequence[str]) -> str:
    return " ".join(["|", *(f"{cell} |" if cell else "|" for cell in cells)])


def _cells(figures: Mapping[str, Expected], measures: Sequence[str]) -> Iterator[str]:
    for measure in measures:
        figure = figures.get(measure)
        yield "" if figure is None else _cell(figure)


def _cell(figure: Expected) -> str:
    spread = "" if figure.std is None else f" ± {figure.std:.4f}"
    return f"{figure.value:.4f}{spread}"


def _gain(figure: Expected | None) -> str:
    if figure is None or figure.gain is None:
        return ""
    difference, low, high = figure.gain
    return f"{difference:+.4f} [{low:+.4f}, {high:+.4f}]".replace("-", "−")


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(
            render(page.read_text(encoding="utf-8"), our_rows(), our_claims()), encoding="utf-8"
        )
