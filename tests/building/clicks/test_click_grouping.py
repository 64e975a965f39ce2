"""Grouping on disk gives what a dictionary of everything gives, in the order of the ids."""

import random

import polars as pl
import pytest

from irplatform.building.click_judgments import QueryRules, query_id
from irplatform.building.click_log import COLUMNS, grouped, prepare

SCHEMA = dict.fromkeys(COLUMNS, pl.Int64) | dict.fromkeys(("query", "doc_id"), pl.String)


def frame(lines):
    return pl.DataFrame(lines, schema=SCHEMA, orient="row")


def lines(count, seed=1):
    rng = random.Random(seed)
    queries = ["Lung cancer", "lung  cancer", "a AND b", "", *(f"query {i}" for i in range(40))]
    return [
        (
            rng.choice(queries),
            f"d{rng.randint(1, 30)}",
            rng.randint(1, 20),
            rng.randint(0, 3),
            rng.randint(0, 2),
            rng.randint(0, 1),
        )
        for _ in range(count)
    ]


def plain(log_lines):
    """The dictionary of everything."""
    groups = {}
    for query, doc_id, _, abstract, fulltext, available in log_lines:
        name = " ".join(query.lower().split())
        refused = "no words" if not name else "boolean operators" if "AND" in query else ""
        key = (query_id(name), name, refused, "" if refused else doc_id)
        counts = groups.setdefault(key, [0, 0, 0, 0])
        counts[0] += 1
        if not refused:
            counts[1] += abstract
            counts[2] += fulltext
            counts[3] = max(counts[3], available, int(fulltext > 0))
    return [(*key, *counts) for key, counts in sorted(groups.items())]


@pytest.mark.parametrize("most_rows", [1_000_000, 200, 20, 1])
@pytest.mark.parametrize("block", [3, 500, 5000])
def test_it_is_the_dictionary_of_everything_however_little_is_held(tmp_path, most_rows, block):
    log_lines = lines(2_000)
    blocks = (
        prepare(frame(log_lines[start : start + block]), QueryRules())
        for start in range(0, len(log_lines), block)
    )
    frames = list(grouped(blocks, tmp_path, most_rows=most_rows))
    assert pl.concat(frames).rows() == plain(log_lines)
    assert (len(frames) > 1) == (most_rows < 1_000_000)
    id_sets = [set(frame["id"]) for frame in frames]
    assert sum(map(len, id_sets)) == len(set().union(*id_sets)), "no query is in two frames"


def test_the_parts_are_removed_when_they_have_been_read(tmp_path):
    list(grouped(iter([prepare(frame(lines(2_000)), QueryRules())]), tmp_path, most_rows=20))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_one_query_with_more_documents_than_are_held_is_grouped_all_the_same(tmp_path):
    log_lines = [("q", f"d{i % 300}", 1, 1, 0, 0) for i in range(900)]
    blocks = (prepare(frame(log_lines[i : i + 100]), QueryRules()) for i in range(0, 900, 100))
    (rows,) = grouped(blocks, tmp_path, most_rows=50)
    assert rows.height == 300
    assert set(rows["abstract"]) == {3}


def test_nothing_gives_nothing(tmp_path):
    assert list(grouped(iter([]), tmp_path)) == []
