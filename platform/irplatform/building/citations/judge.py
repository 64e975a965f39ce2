"""Which citing sentences become queries, and which of their cited articles are relevant.

The rules are DeepSenSe's (Lo et al., Datasets), looked at in the order in which they are reported;
a sentence counts for the first one that leaves it nothing to cite.
"""

from __future__ import annotations

import csv
import itertools
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from irplatform.building.citations.references import Target, normalized
from irplatform.building.splits import Shares
from irplatform.errors import InputError, counted, listing
from irplatform.system.console import notice
from irplatform.system.reading import decoded, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Collection as Container
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from irplatform.building.citations.articles import CitingArticle, CitingSentence
    from irplatform.building.citations.references import Targets


# What became of sentences and references: the account of a build.

UNMARKED = "articles without a mark of their references"
SHORT = "fewer than {least} words without stop words"
LONG = "more than {most} words without stop words"
NOWHERE = "its marks point to no reference"
UNRESOLVED = "no cited article has a PMID or DOI"
OUTSIDE = "no cited article is in the collection"
SHORT_ARTICLE = "the cited article has fewer than {least_cited} words of title and abstract"
NOT_EARLIER = "the cited article is not from an earlier year"


@dataclass
class SplitCounts:
    """What a split holds."""

    articles: int = 0
    sentences: int = 0
    judgments: int = 0


@dataclass
class Report:
    """The account of a build.

    Attributes:
        options: limits, shares and seed.
        read: counts of what was read, by name.
        references: how the cited references were resolved, by way.
        removed: reason to citing sentences that it removed, in the order of the rules.
        splits: name to what it holds.
        notes: what else the user should know.
    """

    options: Mapping[str, Any]
    read: Counter[str] = field(default_factory=Counter)
    references: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    splits: dict[str, SplitCounts] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def kept(self) -> int:
        """Sentences in all splits."""
        return sum(counts.sentences for counts in self.splits.values())

    def as_json(self) -> dict[str, Any]:
        """The report as one JSON object."""
        return {
            "options": dict(self.options),
            "read": dict(self.read),
            "references": dict(self.references),
            "removed": dict(self.removed),
            "kept": self.kept,
            "splits": {name: vars(counts) for name, counts in self.splits.items()},
            "notes": self.notes,
        }

    def tables(self) -> list[list[tuple[str, ...]]]:
        """The report as tables of text."""
        return [
            _lines(self.read),
            _lines(self.references, "references "),
            [*_lines(self.removed, "removed: "), ("kept", f"{self.kept:,}")],
            [
                ("split", "articles", "sentences", "judgments"),
                *(
                    (name, *(f"{number:,}" for number in vars(counts).values()))
                    for name, counts in self.splits.items()
                ),
            ],
        ]


def _lines(counts: Mapping[str, int], prefix: str = "") -> list[tuple[str, ...]]:
    return [(f"{prefix}{name}", f"{number:,}") for name, number in counts.items()]


# A table of identifiers that mean the same article: PMID, PMC id, DOI.
#
# PubMed Central publishes one as `PMC-ids.csv.gz`, ten million lines; only those that are asked
# for are kept.

_KINDS = ("pmid", "pmcid", "doi")

csv.field_size_limit(min(sys.maxsize, 1 << 24))


def read_table(path: Path, wanted: Container[str]) -> dict[str, tuple[str, ...]]:
    """Read what a table says about some identifiers.

    Args:
        path: a .csv or .tsv file (also .gz) whose header names two or more of PMID, PMCID and DOI.
        wanted: identifiers, see `references`.

    Returns:
        Of those that are in the table, what else the article is called.

    Raises:
        InputError: the file is missing, no table, or has none of these columns.
    """
    lines = (decoded(line, path, number) for number, line in numbered_lines(path))
    header = next(lines, None)
    if header is None:
        raise InputError("there is nothing in this file.", path=path)
    rows = _rows(header, lines, path)
    names = [name.strip().strip("\ufeff").lower() for name in next(rows)]
    columns = {kind: names.index(kind) for kind in _KINDS if kind in names}
    if len(columns) < 2:
        raise InputError(
            "the first line needs two or more of the columns PMID, PMCID and DOI, parted by commas "
            f"or tabs; it has: {', '.join(names)[:200]}.",
            path=path,
            line=1,
        )
    aliases: dict[str, tuple[str, ...]] = {}
    invalid: Counter[str] = Counter()
    for row in rows:
        identifiers = _identifiers(row, columns, invalid)
        for identifier in identifiers:
            if identifier in wanted:
                aliases[identifier] = identifiers
    if invalid:
        left_out = counted(invalid.total(), "cell")
        notice(f"{path}: left out {left_out} without an identifier: {listing(invalid)}")
    return aliases


def _rows(header: str, lines: Iterator[str], path: Path) -> Iterator[list[str]]:
    """The rows of a table: CSV with quotes, or parted by tabs, where a quote is a character."""
    table = itertools.chain([header], lines)
    if "\t" in header:
        reader = csv.reader(table, delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(table, strict=True)
    began = 1
    try:
        for row in reader:
            began = reader.line_num + 1
            yield row
    except csv.Error as error:
        raise InputError(f"this row cannot be read: {error}.", path=path, line=began) from error


def _identifiers(
    row: list[str], columns: Mapping[str, int], invalid: Counter[str]
) -> tuple[str, ...]:
    """What a row calls an article; what is no identifier is counted in `invalid`."""
    identifiers = []
    for kind, column in columns.items():
        if value := row[column].strip() if column < len(row) else "":
            if identifier := normalized(kind, value):
                identifiers.append(identifier)
            else:
                invalid[f"{kind.upper()} '{value[:40]}'"] += 1
    return tuple(identifiers)


# The limits and the split of judgments from citations.
#
# The limits are those of DeepSenSe's clean-up (Lo et al., Datasets): "The sentences were first
# tokenized into words. Greek alphabets were converted into English words. Stop words and
# punctuations were removed". What is left (`irplatform.text.content_words`) is counted against
# them. The sentence itself stays as it was written, since every ranker has its own way with words.

SHARES = Shares(80, 10, 10)
"""By default, of the citing articles."""


@dataclass(frozen=True)
class CitationSettings:
    """How judgments are made of citations; the limits are DeepSenSe's.

    Attributes:
        least: fewest words that a sentence has without stop words.
        most: most words.
        least_cited: fewest words of title and abstract of a cited article.
        titles: seek documents by their title, too.
        skip_unreadable: leave out files that cannot be read.
        shares: of train, dev and test.
        seed: of the split.

    Raises:
        InputError: no number of words is within the limits.
    """

    least: int = 5
    most: int = 50
    least_cited: int = 50
    titles: bool = False
    skip_unreadable: bool = False
    shares: Shares = SHARES
    seed: int = 42

    def __post_init__(self) -> None:
        if self.most < self.least:
            raise InputError(
                f"no sentence has at least {self.least} words and at most {self.most}: raise "
                "--max-words, or lower --min-words."
            )

    def describe(self) -> dict[str, Any]:
        """The settings, flat."""
        return asdict(self) | {"shares": "/".join(map(str, asdict(self.shares).values()))}


_CitedWorks: TypeAlias = dict[int, list[tuple[tuple[str, ...], Target | None]]]
"""Position in the reference list to the works there, and their documents."""


class Judge:
    """Decides which sentences of an article are kept, and counts the rest.

    Args:
        targets: what can be cited.
        settings: the limits.
        report: takes the counts.
        years: whether documents have years, so that later ones can be recognized.
    """

    def __init__(
        self, targets: Targets, settings: CitationSettings, report: Report, *, years: bool
    ) -> None:
        self.targets = targets
        self.settings = settings
        self.report = report
        limits = settings.describe()
        self.short, self.long, self.short_article = (
            text.format(**limits) for text in (SHORT, LONG, SHORT_ARTICLE)
        )
        has_collection = targets.by_identifier is not None
        rules = [self.short, self.long, NOWHERE, UNRESOLVED]
        rules += [OUTSIDE, self.short_article] * has_collection
        rules += [NOT_EARLIER] * years
        report.removed.update(dict.fromkeys(rules, 0))

    def __call__(self, article: CitingArticle) -> Iterator[tuple[CitingSentence, list[str]]]:
        """Yield the sentences that are kept, with the ids of the documents that they cite."""
        cited_works = {
            int(position): [(work, self.targets.find(work)) for work in works]
            for position, works in article.references.items()
        }
        self._count(article, cited_works)
        for sentence in article.citing:
            cited = self._cited(article, sentence, cited_works)
            if isinstance(cited, str):
                self.report.removed[cited] += 1
            else:
                yield sentence, cited

    def _cited(
        self,
        article: CitingArticle,
        sentence: CitingSentence,
        cited_works: _CitedWorks,
    ) -> list[str] | str:
        """The documents that a sentence cites, or the reason to remove it."""
        if not self.settings.least <= sentence.words <= self.settings.most:
            return self.short if sentence.words < self.settings.least else self.long
        if not sentence.cites:
            return NOWHERE
        works = [pair for position in sentence.cites for pair in cited_works[position]]
        targets = [target for _, target in works if target is not None]
        if not targets:
            identified = any(self.targets.identified(work) for work, _ in works)
            outside = identified and self.targets.by_identifier is not None
            return OUTSIDE if outside else UNRESOLVED
        least = self.settings.least_cited
        long_enough = [t for t in targets if t.words is None or t.words >= least]
        if not long_enough:
            return self.short_article
        earlier = [t for t in long_enough if not (t.year and article.year) or t.year < article.year]
        return list(dict.fromkeys(target.id for target in earlier)) or NOT_EARLIER

    def _count(self, article: CitingArticle, cited_works: _CitedWorks) -> None:
        read, references = self.report.read, self.report.references
        read["articles"] += 1
        read[UNMARKED] += bool(article.listed and not article.citing)
        read["sentences"] += article.sentences
        read["citing sentences"] += len(article.citing)
        read["marks that point to no reference"] += article.unknown_marks
        references["listed"] += article.listed
        references["cited in the text"] += len(cited_works)
        for works in cited_works.values():
            in_file = any(i.startswith(("pmid:", "doi:")) for work, _ in works for i in work)
            identified = any(self.targets.identified(work) for work, _ in works)
            references["with a PMID or DOI in the file"] += in_file
            references["with a PMID or DOI from the table"] += identified and not in_file
            if self.targets.by_identifier is not None:
                in_collection = any(target is not None for _, target in works)
                references["in the collection"] += in_collection
