"""Sampled judgments from files: five columns, and one line about whatever is wrong with them."""

import gzip

import pytest
from small_files import a_file

from irplatform.errors import InputError
from irplatform.evaluation.qrels import read_qrels
from irplatform.evaluation.sampled import is_sampled, judged_documents, read_sampled_qrels

TEXT = "1 0 a 1 2\n1 0 b 2 -1\n2\t0\tc\t7\t0\r\n\n1 0 c 2 0\n"


def test_pools_are_read_with_strata_and_grades(tmp_path):
    pools = read_sampled_qrels(a_file(tmp_path, TEXT))
    assert list(pools) == ["1", "2"]
    assert dict(pools["1"].positions) == {"a": 0, "b": 1, "c": 2}
    assert pools["1"].strata.tolist() == [0, 1, 1]
    assert pools["1"].grades.tolist() == [2, -1, 0]
    assert pools["1"].pooled.tolist() == [1, 2]
    assert pools["1"].judged.tolist() == [1, 1]


def test_a_topics_own_strata_are_numbered_whatever_they_are_called(tmp_path):
    pool = read_sampled_qrels(a_file(tmp_path, "1 0 a 10 0\n1 0 b 3 1\n1 0 c 10 -1\n"))["1"]
    assert pool.pooled.tolist() == [2, 1]


def test_a_stratum_of_which_nothing_was_judged_is_kept(tmp_path):
    pool = read_sampled_qrels(a_file(tmp_path, "1 0 a 1 1\n1 0 b 2 -1\n"))["1"]
    assert pool.judged.tolist() == [1, 0]


def test_gzipped_judgments_are_read(tmp_path):
    (tmp_path / "s.gz").write_bytes(gzip.compress(TEXT.encode()))
    assert list(read_sampled_qrels(tmp_path / "s.gz")) == ["1", "2"]
    assert is_sampled(tmp_path / "s.gz")


@pytest.mark.parametrize(
    ("text", "sampled"),
    [
        (TEXT, True),
        ("1 0 a 1\n", False),
        ("query-id\tcorpus-id\tscore\n", False),
        ("", False),
        ('{"questions": [{"id": "1", "documents": ["12"],\n', False),
    ],
)
def test_the_first_line_shows_whether_judgments_are_sampled(tmp_path, text, sampled):
    assert is_sampled(a_file(tmp_path, text)) is sampled


def test_judged_documents_are_ordinary_judgments(tmp_path):
    pools = read_sampled_qrels(a_file(tmp_path, TEXT))
    assert judged_documents(pools) == {"1": {"a": 2, "c": 0}, "2": {"c": 0}}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("1 0 a 1\n", 1, "4 columns. Every line needs five columns: topic 0 docid stratum grade"),
        ("1 0 a 1 1\n\n1 0 b 1\n", 3, "Four are ordinary judgments, without strata"),
        ("1 0 a 1 1 x\n", 1, "6 columns"),
        ("1 0 a 1 0.5\n", 1, "the grade '0.5' is not a whole number of 0 or more, of at most six"),
        ("1 0 a 1 1\n1 0 b 1 high\n", 2, "the grade 'high' is not a whole number"),
        ("1 0 a 1 -2\n", 1, "the grade '-2'"),
        ("1 0 a top 1\n", 1, "the stratum 'top' is not a whole number"),
        ("1 0 a -1 1\n", 1, "the stratum '-1' is not a whole number"),
        ("1 0 a 1 1\n2 0 a 1 1\n1 0 a 2 1\n", 3, "topic '1' has document 'a' a second time"),
        ("1 0 a 1 1\n1 0 a 1 1\n", 2, "topic '1' has document 'a' a second time"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, line, words):
    path = a_file(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_sampled_qrels(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_text_that_is_not_utf8_is_named(tmp_path):
    (tmp_path / "s").write_bytes(b"1 0 a 1 1\n1 0 \xe9 1 1\n")
    with pytest.raises(InputError, match=r"s:2: this line is not UTF-8"):
        read_sampled_qrels(tmp_path / "s")


def test_a_file_without_judgments_is_refused(tmp_path):
    with pytest.raises(InputError, match="no judgments"):
        read_sampled_qrels(a_file(tmp_path, "\n"))


@pytest.mark.real
@pytest.mark.parametrize("year", [2017, 2018])
def test_the_tracks_ordinary_judgments_are_the_judged_documents_of_the_sampled_ones(
    test_data, year
):
    folder = test_data / "trec-pm" / "qrels"
    sampled = read_sampled_qrels(folder / f"qrels-sample-abstracts.{year}.txt")
    assert judged_documents(sampled) == read_qrels(folder / f"qrels-treceval-abstracts.{year}.txt")


def test_five_columns_of_another_kind_are_no_sampled_judgments(tmp_path):
    path = tmp_path / "prels.txt"
    for last in ("0.5", "1"):
        path.write_text(f"7 web-0001 1 1 {last}\n")
        with pytest.raises(
            InputError, match="the second column is 'web-0001', not 0: these are not"
        ):
            read_sampled_qrels(path)
    path.write_text("7 Q0 d1 1 1\n8 3 d1 1 0\n")
    assert read_sampled_qrels(path).keys() == {"7", "8"}
