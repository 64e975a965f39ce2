"""The rows that are committed to compare with have the figures of the tables."""

import gzip
import hashlib
from pathlib import Path
from statistics import fmean

import pytest

from irplatform.registry.loading import registry
from irplatform.reproduction.differences import shipped_claims
from irplatform.reproduction.rows import shipped_rows
from irplatform.run_folder.published import read_published
from irplatform.runs.names import alone_name

PUBLISHED = Path(__file__).parent.parent / "runs" / "published"
ROUNDING = 1e-4


@pytest.fixture(scope="module")
def tables():
    """The table of every folder, by its path."""
    return {folder: read_published(folder) for folder in sorted(PUBLISHED.iterdir())}


@pytest.fixture(scope="module")
def scores(tables):
    """The topics' scores of every row, by its id."""
    return {id_: row.per_topic for table in tables.values() for id_, row in table.rows.items()}


@pytest.fixture(scope="module")
def rows():
    shipped, refused = shipped_rows(registry().results)
    assert refused == []
    return shipped


def _figures(rows, scores):
    for row in rows:
        for measure, alone, expected in row.figures():
            id_ = alone_name(row.id) if alone else row.id
            if id_ in scores:
                yield f"{id_}, {measure}", scores[id_][measure], expected.value


def test_every_row_is_published_but_those_of_run_files_and_of_a_built_pool(rows, scores):
    started_from_a_file = {row.id for row in rows if any("/" in name for name in row.retrievers)}
    built = {row.id for row in rows if "trec-pm-built" in row.tags}
    missing = {row.id for row in rows} - scores.keys()
    assert missing == started_from_a_file | built


def test_topics_have_the_means_of_the_tables(rows, scores):
    others = [
        (name, fmean(topics.values()), expected)
        for name, topics, expected in _figures(rows, scores)
        if fmean(topics.values()) != pytest.approx(expected, abs=ROUNDING)
    ]
    assert others == []


def test_topics_have_the_differences_of_the_claims(rows, scores):
    claims, _ = shipped_claims(registry().results, rows, ())
    others, claims_compared = [], 0
    for claim in claims:
        ids = [
            alone_name(id_) if claim.alone and alone_name(id_) in scores else id_
            for id_ in claim.rows
        ]
        if claim.expected is None or isinstance(claim.topics, str) or not scores.keys() >= {*ids}:
            continue
        better, worse = (scores[id_][claim.measure] for id_ in ids)
        difference = fmean(better[t] - worse[t] for t in claim.topics or better)
        claims_compared += 1
        if difference != pytest.approx(claim.expected[0], abs=ROUNDING):
            others.append((claim.id, difference, claim.expected[0]))
    assert others == []
    assert claims_compared > 400


def test_digests_are_those_of_the_run_files(tables):
    for folder, table in tables.items():
        files = {row.file: row.sha256 for row in table.rows.values()}
        assert {path.name for path in folder.glob("*.run.gz")} == files.keys()
        digests = {
            name: hashlib.sha256(gzip.decompress((folder / name).read_bytes())).hexdigest()
            for name in files
        }
        assert digests == files


def test_rows_are_of_one_version_and_few_megabytes(tables):
    assert len({row.version for table in tables.values() for row in table.rows.values()}) == 1
    assert sum(path.stat().st_size for path in PUBLISHED.rglob("*.*")) < 15_000_000
