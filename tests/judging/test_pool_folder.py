"""A pool is a folder of two files: documents to judge in their order, and what decided them."""

import json

import numpy as np
import pytest

from irplatform.errors import InputError
from irplatform.files.columns import packed
from irplatform.judging.pool_folder import (
    Item,
    Lines,
    Pool,
    is_pool,
    read_pool,
    write_pool,
)

RUN = {"name": "a", "path": "a.run", "digest": "0"}
HEADER = "topic\tdocument\tstratum\tplace\n"


def pool_of(folder, rows, **settings):
    """A pool with rows of topic, document, stratum and place, topics together."""
    lines = {}
    for topic in dict.fromkeys(row[0] for row in rows):
        ids, *numbers = zip(*(row[1:] for row in rows if row[0] == topic), strict=True)
        lines[topic] = Lines(packed(ids), *map(np.array, numbers))
    placed = sum(place > 0 for *_, place in rows)
    return Pool(folder, "f1", "depth", settings, 7, [RUN], [placed], lines)


@pytest.fixture
def pool_folder(tmp_path):
    """The folder of a pool with two topics, one with a document that was not drawn."""
    rows = [("1", "a", 1, 2), ("1", "b", 2, 0), ("1", "c", 2, 1), ("x", "a", 1, 1)]
    write_pool(pool_of(tmp_path, rows, strata=["10:1", "20:0.5"]))
    return tmp_path


def test_documents_stand_in_the_order_of_judging_and_those_not_drawn_last(pool_folder):
    lines = ["1\tc\t2\t1", "1\ta\t1\t2", "1\tb\t2\t", "x\ta\t1\t1"]
    assert (pool_folder / "pool.tsv").read_text() == HEADER + "\n".join([*lines, ""])


def test_what_is_written_is_read(pool_folder):
    pool = read_pool(pool_folder)
    assert (pool.id, pool.method, pool.seed, pool.rounds) == ("f1", "depth", 7, [3])
    assert pool.runs == [RUN]
    assert pool.topics == ["1", "x"]
    assert pool.items("1") == [Item("c", 2, 1), Item("a", 1, 2)]
    assert pool.pooled("1")[-1] == Item("b", 2, 0)
    assert (pool.placed, pool.is_sample) == (3, True)


def test_counts_are_for_the_reader_of_the_file(pool_folder):
    facts = json.loads((pool_folder / "pool.json").read_text())
    assert facts["counts"] == {"topics": 2, "pooled": 4, "placed": 3}


def test_a_pool_that_is_read_and_written_has_the_same_bytes(pool_folder):
    before = [(pool_folder / name).read_bytes() for name in ("pool.tsv", "pool.json")]
    write_pool(read_pool(pool_folder))
    assert [(pool_folder / name).read_bytes() for name in ("pool.tsv", "pool.json")] == before


def test_ids_of_any_length_and_alphabet_are_kept(tmp_path):
    rows = [("q", "é" * 50, 1, 1), ("q", "文献-7", 1, 2), ("q", "a", 1, 3)]
    write_pool(pool_of(tmp_path, rows))
    assert [item.document for item in read_pool(tmp_path).items("q")] == [r[1] for r in rows]


def test_a_round_whose_documents_were_not_written_is_none(pool_folder):
    facts = json.loads((pool_folder / "pool.json").read_text())
    (pool_folder / "pool.json").write_text(json.dumps({**facts, "rounds": [3, 2]}))
    assert read_pool(pool_folder).rounds == [3]


def test_lines_about_a_topic_need_not_stand_together(pool_folder):
    lines = ["1\tc\t2\t1", "x\ta\t1\t1", "1\ta\t1\t2"]
    (pool_folder / "pool.tsv").write_text(HEADER + "\n".join([*lines, ""]))
    assert [item.document for item in read_pool(pool_folder).items("1")] == ["c", "a"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "it lacks its header or all documents"),
        ("1\ta\t1\n", "pool.tsv:2: this is no line of a pool"),
        ("1\ta\t1\t1\n1\tb c\t1\t2\n", "pool.tsv:3: this is no line of a pool"),
        ("1\ta\tone\t1\n", "pool.tsv:2: this is no line of a pool"),
        ("1\ta\t1\t-1\n", "pool.tsv:2: this is no line of a pool"),
        ("1\ta\t1\t1\n1\ta\t1\t2\n", "a topic has a document twice"),
    ],
)
def test_what_is_wrong_with_lines_is_told(pool_folder, lines, message):
    (pool_folder / "pool.tsv").write_text(HEADER + lines)
    with pytest.raises(InputError) as error:
        read_pool(pool_folder)
    assert message in str(error.value)


def test_a_file_without_the_header_is_refused(pool_folder):
    (pool_folder / "pool.tsv").write_text("1\ta\t1\t1\n")
    with pytest.raises(InputError, match="it lacks its header"):
        read_pool(pool_folder)


def test_line_ends_of_windows_are_read(pool_folder):
    content = (pool_folder / "pool.tsv").read_text()
    (pool_folder / "pool.tsv").write_text(content.replace("\n", "\r\n"), newline="")
    assert [item.document for item in read_pool(pool_folder).items("1")] == ["c", "a"]


@pytest.mark.parametrize("content", ["[]", "{}", '{"id": 3}', "{"])
def test_facts_that_are_not_a_pools_are_refused(pool_folder, content):
    (pool_folder / "pool.json").write_text(content)
    with pytest.raises(InputError, match=r"pool\.json"):
        read_pool(pool_folder)


def test_another_folder_is_no_pool(tmp_path):
    assert not is_pool(tmp_path)
    with pytest.raises(InputError, match="this is no pool"):
        read_pool(tmp_path)


def test_an_id_with_white_space_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="white space"):
        write_pool(pool_of(tmp_path, [("1", "a b", 1, 1)]))
    assert not (tmp_path / "pool.tsv").exists()
