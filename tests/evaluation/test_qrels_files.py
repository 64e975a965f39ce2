"""Judgments from files."""

import gzip

import pytest
from files import a_file

from irplatform.errors import InputError
from irplatform.evaluation import read_qrels

EXPECTED = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 100}}


def test_four_columns_of_trec_are_read(tmp_path):
    path = a_file(tmp_path, "q1 0 d1 2\nq1\t0\td2 0\r\n\nq2 0 d1 100")
    assert read_qrels(path) == EXPECTED


def test_three_columns_of_beir_are_read(tmp_path):
    path = a_file(tmp_path, "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t100\n")
    assert read_qrels(path) == EXPECTED


def test_ids_of_beir_may_have_blanks(tmp_path):
    path = a_file(tmp_path, "query-id\tcorpus-id\tscore\na query\ta document\t1\n")
    assert read_qrels(path) == {"a query": {"a document": 1}}


def test_gzipped_judgments_are_read(tmp_path):
    (tmp_path / "q.gz").write_bytes(gzip.compress(b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 100\n"))
    assert read_qrels(tmp_path / "q.gz") == EXPECTED


def test_topics_may_be_interleaved_and_judgments_repeated(tmp_path):
    path = a_file(tmp_path, "q1 0 d1 2\nq2 0 d1 100\nq1 0 d2 0\nq1 0 d1 2\n")
    assert read_qrels(path) == EXPECTED


def test_negative_grades_are_kept(tmp_path):
    assert read_qrels(a_file(tmp_path, "1 0 a -1\n1 0 b -2\n")) == {"1": {"a": -1, "b": -2}}


BEIR = "query-id\tcorpus-id\tscore\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("1 0 a 1\n1 0 b\n", 2, "3 columns. Every line needs four columns, parted by white"),
        ("1 0 a 1\n\n1 0 b 0 1\n", 3, "Sampled judgments have five: topic 0"),
        ("1 0 1 29456789\n", 1, "the grade '29456789' is not a whole number of at most six digits"),
        ("1 0 a 0.5\n", 1, "the grade '0.5' is not a whole number"),
        ("1 0 a 1\n1 0 b high\n", 2, "the grade 'high' is not a whole number"),
        ("1 0 a 1_0\n", 1, "not a whole number"),
        ("1 0 a 1\n2 0 a 0\n1 0 a 2\n", 3, "as 2 here but as 1 in line 1"),
        ("1 a\n", 1, "or three, parted by tabs, below BEIR's header 'query-id corpus-id score'. "),
        ("1 a\n", 1, "have five: topic 0 docid stratum grade"),
        ("query-id corpus-id score\n1 a 1\n", 1, "BEIR's header without tabs. Every line needs"),
        ("Query-ID, corpus-id, score\n", 1, "needs three columns parted by tabs: query-id "),
        ("q1,d1,1\n", 1, "1 column. Every line needs four columns, parted by white space: "),
        (BEIR + "1\ta\n", 2, "2 columns. Every line needs three columns"),
        (BEIR + "\ta\t1\n", 2, "an id is empty. Every line needs three columns"),
        (BEIR + "1\t \t1\n", 2, "an id is empty. Every line needs three columns"),
        (BEIR + "1\ta\t1.0\n", 2, "the grade '1.0' is not a whole number"),
        (BEIR + "1\ta\t1\n1\ta\t0\n", 3, "as 0 here but as 1 in line 2"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, line, words):
    path = a_file(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_qrels(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n", BEIR])
def test_a_file_without_judgments_is_refused(tmp_path, text):
    with pytest.raises(InputError, match="no judgments"):
        read_qrels(a_file(tmp_path, text))


def test_text_that_is_not_utf8_is_named(tmp_path):
    (tmp_path / "q").write_bytes(b"1 0 a 1\n1 0 \xe9 1\n")
    with pytest.raises(InputError, match=":2: this line is not UTF-8"):
        read_qrels(tmp_path / "q")


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("utf-16", "q: this file is UTF-16. Save the file as UTF-8."),
        ("utf-16-le", "q:1: this file has NUL bytes, as UTF-16 and binary files have. Save the "),
        ("utf-16-be", "q:1: this file has NUL bytes"),
    ],
)
@pytest.mark.parametrize("text", ["1 0 a 1\n", BEIR + "1\ta\t1\n"])
def test_a_file_in_utf_16_is_named_and_no_nul_is_printed(tmp_path, text, encoding, words):
    (tmp_path / "q").write_bytes(text.encode(encoding))
    with pytest.raises(InputError) as caught:
        read_qrels(tmp_path / "q")
    assert words in str(caught.value)
    assert "\0" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_qrels(tmp_path / "none.txt")


LEVELS = "query-id\tcorpus-id\tlevel\n"


def test_levels_are_read_with_their_decimals(tmp_path):
    path = a_file(tmp_path, LEVELS + "q\ta\t5.5\nq\tb\t100\nq\tc\t0\nr\ta\t-1\n")
    qrels = read_qrels(path)
    assert qrels == {"q": {"a": 5.5, "b": 100.0, "c": 0.0}, "r": {"a": -1.0}}
    assert all(type(grade) is float for grades in qrels.values() for grade in grades.values())


@pytest.mark.parametrize("level", ["1e3", "nan", ".5", "5.", "1,5", "1234567.0", ""])
def test_a_level_that_is_no_number_is_refused(tmp_path, level):
    with pytest.raises(InputError, match=r":2: the level '.*' is not a number with at most six"):
        read_qrels(a_file(tmp_path, f"{LEVELS}q\ta\t{level}\n"))


def test_decimals_elsewhere_are_refused_and_the_header_for_levels_is_named(tmp_path):
    for text in ("q 0 a 1.5\n", f"{BEIR}q\ta\t1.5\n"):
        with pytest.raises(InputError, match="below the header 'query-id corpus-id level'"):
            read_qrels(a_file(tmp_path, text))
