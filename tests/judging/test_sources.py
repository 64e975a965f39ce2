"""Whose judgments count, and the qrels that are written of them."""

import json

import pytest
from sourced_judgments import ANN, BOB, BOSS, LLM, judged, make_pool, write

from irplatform.errors import InputError
from irplatform.evaluation.judgments import of_files
from irplatform.evaluation.qrels import read_qrels
from irplatform.evaluation.sampled import read_sampled_qrels
from irplatform.judging.judgments import Source, read_judgments
from irplatform.judging.sources import Gathered, choose, gather, write_qrels
from irplatform.judging.store import Store

MIXED = [*judged(ANN, "1", {"a": 2, "b": None}), *judged(LLM, "1", {"a": 0, "b": 1, "c": 1})]
LINES = [("1", "a", 1, 1), ("1", "b", 2, 2), ("1", "c", 2, 0), ("2", "d", 1, 1)]


def choice_of(judgments, sources=None):
    return choose(Gathered(judgments, name="j.jsonl"), sources)


def test_people_count_alone_and_what_is_left_out_is_told():
    choice = choice_of(MIXED)
    assert (choice.grades, choice.machine) == ({"1": {"a": 2}}, {})
    assert choice.notes == (
        "judgments: 1 document by ann",
        "left out: judgments of machines (llm gpt-x 1); sources='people-first' takes them where no "
        "person judged",
    )


def test_people_go_first_and_machines_grades_are_marked():
    choice = choice_of(MIXED, "people-first")
    assert choice.grades == {"1": {"a": 2, "b": 1, "c": 1}}
    assert choice.machine == {"1": {"b", "c"}}
    assert choice.notes == (
        "judgments: 3 documents by ann, llm gpt-x 1, 2 of them by machines alone",
    )


def test_machines_count_alone_if_that_is_asked():
    choice = choice_of(MIXED, "machines")
    assert choice.grades == {"1": {"a": 0, "b": 1, "c": 1}}
    assert choice.machine == {"1": {"a", "b", "c"}}


def test_sources_are_named_in_the_order_of_preference():
    judgments = [*MIXED, *judged(BOB, "1", {"a": 1, "d": 3})]
    assert choice_of(judgments, "bob,ann").grades == {"1": {"a": 1, "d": 3}}
    assert choice_of(judgments, "llm gpt-x 1,people").grades["1"]["a"] == 0
    with pytest.raises(InputError, match=r"unknown source 'anna'\. Did you mean 'ann'\?"):
        choice_of(judgments, "anna")


def test_of_people_who_differ_the_lower_median_counts_until_somebody_decides():
    differing = [*judged(ANN, "1", {"a": 2, "b": 1}), *judged(BOB, "1", {"a": 0, "b": 1})]
    choice = choice_of(differing)
    assert choice.grades == {"1": {"a": 0, "b": 1}}
    assert "sources differ about 1 document and nobody settled it" in choice.notes[1]
    several = choose(Gathered(differing, name="pool, bob.jsonl")).notes[1]
    assert "(`platform agree pool bob.jsonl` lists them)" in several
    settled = choice_of([*differing, *judged(BOSS, "1", {"a": 2})])
    assert settled.grades == {"1": {"a": 2, "b": 1}}
    assert len(settled.notes) == 1


def test_judgments_of_machines_alone_are_never_taken_for_peoples():
    with pytest.raises(InputError, match="no grade by people; there are judgments of llm gpt-x 1"):
        choice_of(judged(LLM, "1", {"a": 1}))


def test_a_pool_has_the_judgments_of_its_folder(tmp_path):
    pool = make_pool(tmp_path / "pool", LINES)
    with pytest.raises(InputError, match="nobody has judged yet"):
        choose(gather([pool]))
    write(pool / "llm.jsonl", judged(LLM, "1", {"a": 1}))
    write(tmp_path / "ann.jsonl", judged(ANN, "2", {"d": 2}))
    choice = choose(gather([pool, tmp_path / "ann.jsonl"]), "people-first")
    assert choice.grades == {"1": {"a": 1}, "2": {"d": 2}}


def test_a_pool_has_the_judgments_of_its_page(tmp_path):
    pool = make_pool(tmp_path / "pool", LINES)
    with Store.open(pool, "p1") as store:
        store.judge("1", "a", ANN, 2, request="r1")
        store.judge("1", "b", ANN, None, request="r2")
        assert choose(gather([pool])).grades == {"1": {"a": 2}}


def test_qrels_have_a_line_for_each_document(tmp_path):
    write(tmp_path / "j.jsonl", MIXED)
    write_qrels(tmp_path / "j.jsonl", tmp_path / "q.txt", sources="people-first")
    assert (tmp_path / "q.txt").read_text() == "1 0 a 2\n1 0 b 1\n1 0 c 1\n"
    assert read_qrels(tmp_path / "q.txt") == {"1": {"a": 2, "b": 1, "c": 1}}


def test_qrels_of_a_sample_have_its_strata_and_what_was_not_judged(tmp_path, capsys):
    pool = make_pool(tmp_path / "pool", LINES, strata=True)
    write(pool / "ann.jsonl", judged(ANN, "1", {"a": 2}), judged(ANN, "2", {"d": -2, "z": 1}))
    write_qrels(pool, tmp_path / "q.txt")
    lines = "1 0 a 1 2\n1 0 b 2 -1\n1 0 c 2 -1\n2 0 d 1 0\n"
    assert (tmp_path / "q.txt").read_text() == lines
    warning = "left out: 1 judged document that the sample has not drawn"
    assert warning in capsys.readouterr().err
    read = read_sampled_qrels(tmp_path / "q.txt")["1"]
    sample = choose(gather([pool])).sampled["1"]
    assert (read.positions, read.strata.tolist(), read.grades.tolist()) == (
        *(sample.positions, sample.strata.tolist(), sample.grades.tolist()),
    )


def test_documents_that_were_not_drawn_count_only_with_their_whole_stratum(tmp_path):
    pool = make_pool(tmp_path / "pool", LINES, strata=True)
    write(pool / "ann.jsonl", judged(ANN, "1", {"c": 1}), judged(ANN, "2", {"d": 1}))
    choice = choose(gather([pool]))
    assert choice.sampled["1"].grades.tolist() == [-1, -1, -1]
    assert choice.notes[1] == "left out: 1 judged document that the sample has not drawn"
    write(pool / "ann.jsonl", judged(ANN, "1", {"b": 0, "c": 1}))
    assert choose(gather([pool])).sampled["1"].grades.tolist() == [-1, 0, 1]


def test_two_samples_cannot_be_one(tmp_path):
    pools = [make_pool(tmp_path / name, LINES, strata=True) for name in "ab"]
    with pytest.raises(InputError, match="two pools are samples"):
        gather(pools)


@pytest.mark.parametrize("name", ["pool.json", "pool.tsv", "judgments.sqlite", "earlier.jsonl"])
def test_no_file_of_a_pool_is_overwritten(tmp_path, name):
    pool = make_pool(tmp_path / "pool", LINES)
    before = (pool / "pool.json").read_bytes()
    write(pool / "ann.jsonl", judged(ANN, "1", {"a": 1}))
    with pytest.raises(InputError, match="this is a file of the pool itself"):
        write_qrels(pool, pool / name, form="json")
    assert (pool / "pool.json").read_bytes() == before


def test_every_judgment_is_written_with_its_source_if_asked(tmp_path):
    write(tmp_path / "j.jsonl", MIXED)
    (tmp_path / "nist.txt").write_text("1 0 a 1\n")
    paths = [tmp_path / "j.jsonl", tmp_path / "nist.txt"]
    write_qrels(paths, tmp_path / "all.jsonl", form="json", by="person:nist")
    judgments = read_judgments(tmp_path / "all.jsonl")
    assert judgments == [*MIXED, *judged(Source("person", "nist"), "1", {"a": 1}, time="")]
    write_qrels(paths, tmp_path / "llm.jsonl", form="json", by="person:nist", sources="machines")
    assert {j.source for j in read_judgments(tmp_path / "llm.jsonl")} == {LLM}


def test_examples_for_doccano_have_the_texts_of_the_collection(tmp_path):
    pool = make_pool(tmp_path / "pool", [("41", "demo0001", 1, 1), ("41", "demo0007", 1, 2)])
    write(pool / "ann.jsonl", judged(ANN, "41", {"demo0007": 1}))
    with pytest.raises(InputError, match="name their collection, collection="):
        write_qrels(pool, tmp_path / "d.jsonl", form="doccano")
    write_qrels(pool, tmp_path / "d.jsonl", form="doccano", collection="demo")
    examples = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()]
    assert [(line["document"], line["label"]) for line in examples] == [
        ("demo0001", []),
        ("demo0007", ["1"]),
    ]
    assert all(line["text"] and line["query"] for line in examples)


def test_an_id_that_qrels_cannot_hold_is_refused(tmp_path):
    write(tmp_path / "j.jsonl", judged(ANN, "1", {"a b": 1}))
    with pytest.raises(InputError, match="the id 'a b' has white space"):
        write_qrels(tmp_path / "j.jsonl", tmp_path / "q.txt")


def test_qrels_are_not_read_as_if_all_sources_were_one(tmp_path):
    path = write(tmp_path / "j.jsonl", MIXED)
    with pytest.raises(InputError, match="these judgments name their sources, people or machines"):
        of_files(path, [], {}, usual=["AP"])
