"""Judgments from files."""

import gzip

import pytest
from small_files import a_file

from irplatform.data import subtopics_of
from irplatform.errors import InputError
from irplatform.evaluation.qrels import read_qrels

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


def test_truth_is_one_and_zero_as_autojudge_has_it(tmp_path):
    path = a_file(tmp_path, "q1 Q0 d1 True\nq1 Q0 d2 False\n")
    assert read_qrels(path) == {"q1": {"d1": 1, "d2": 0}}


def test_negative_grades_are_kept(tmp_path):
    assert read_qrels(a_file(tmp_path, "1 0 a -1\n1 0 b -2\n")) == {"1": {"a": -1, "b": -2}}


@pytest.mark.parametrize(
    "text",
    [
        "qid\tcid\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t100\n",
        "query_id\tcorpus_id\tscore\nq1\td1\t2.0\nq1\td2\t0\nq2\td1\t100\n",
        "Frage\tArtikel\tNote\nq1\td1\t2\nq1\td2\t0\nq2\td1\t100\n",
        "# ours\nRelevance\tDoc ID\tTopic\tby\n2\td1\tq1\tA\n0\td2\tq1\tA\n100\td1\tq2\tB\n",
        "topic\titer\tdocno\trel\nq1\t0\td1\t2\nq1\t0\td2\t0\nq2\t0\td1\t100\n",
        '{"query-id":"q1","corpus-id":"d1","score":2.0}\n{"query-id":"q1","corpus-id":"d2","score":0}'
        '\n\n{"corpus-id":"d1","query-id":"q2","score":"100"}\n',
        '{"qid": "q1", "query": "?", "docid": "d1", "label": 2}\n'
        '{"qid": "q1", "docid": "d2", "label": 0}\n{"qid": "q2", "docid": "d1", "label": 100}\n',
        "# judged by NIST again\nq1 0 d1 2\n  # second pass\nq1 0 d2 0\nq2 0 d1 100\n#",
        '{"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 100.0}}',
        '\ufeff{\r\n "q1": {\r\n "d1": 2, "d2": 0 },\r\n\r\n "q2": {"d1": "100"}\r\n}',
        '[{"query_id": "q1", "doc_id": "d1", "relevance": 2, "iteration": "0"},\n'
        ' {"query_id": "q1", "doc_id": "d2", "relevance": 0, "iteration": "0"},\n'
        ' {"query_id": "q2", "doc_id": "d1", "relevance": 100, "iteration": "0"}]\n',
        '[{"q":"q1","did":"d1","rel":2},{"q":"q1","did":"d2","rel":0},{"q":"q2","did":"d1","rel":100}]',
    ],
)
def test_other_headers_keys_and_comments_are_read(tmp_path, text):
    assert read_qrels(a_file(tmp_path, text)) == EXPECTED


def test_ids_in_json_lines_may_be_whole_numbers(tmp_path):
    path = a_file(tmp_path, '{"query_id": 7, "corpus_id": 28522256, "score": 1.0}\n')
    assert read_qrels(path) == {"7": {"28522256": 1}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("topic\tby\tdoc\trel\tat\n1\tA\ta\t1\t-\n", "ignored columns: by, at"),
        ("Frage\tArtikel\tNote\n1\ta\t1\n", "read as a header: Frage, Artikel, Note"),
        ('{"qid":"1","docid":"a","rel":1,"by":"A"}', "ignored keys: by (1 judgment)"),
        ("# a\n#b\n1 0 a 1\n", "ignored as comments: 2 lines beginning with '#'"),
        ("1 s a 1\n1 t a 0\n", "subtopics judge 1 document differently; measures without sub"),
    ],
)
def test_what_is_passed_over_is_said_once(tmp_path, capsys, text, words):
    path = a_file(tmp_path, text)
    assert read_qrels(path) == read_qrels(path) == {"1": {"a": 1}}
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{path}: ")
    assert words in line


def test_judgments_of_subtopics_keep_them_beside_the_best_grades(tmp_path):
    qrels = read_qrels(a_file(tmp_path, "1 1 a 0\n1 1 b -1\n2 1 a 1\n1 2 a 2\n1 2 b -2\n1 3 a 1\n"))
    assert qrels == {"1": {"a": 2, "b": -1}, "2": {"a": 1}}
    assert subtopics_of(qrels) == {
        "1": {"1": {"a": 0, "b": -1}, "2": {"a": 2, "b": -2}, "3": {"a": 1}},
        "2": {"1": {"a": 1}},
    }


def test_a_second_column_that_differs_between_topics_alone_is_no_subtopic(tmp_path):
    assert not subtopics_of(read_qrels(a_file(tmp_path, "1 1 a 0\n2 2 a 1\n1 1 b 1\n")))


BEIR = "query-id\tcorpus-id\tscore\n"


LINE = '{"qid": "1", "docid": "a", "rel": 1}\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("1 0 a 1\n1 0 b\n", 2, "3 columns. Every line needs four columns, separated by white"),
        ("1 0 a 1\n\n1 0 b 0 1\n", 3, "Sampled judgments have five: topic 0"),
        ("1 0 1 29456789\n", 1, "the grade '29456789' is not a whole number of at most six digits"),
        ("1 0 a 0.5\n", 1, "the grade '0.5' is not a whole number"),
        ("1 0 a 1\n1 0 b high\n", 2, "the grade 'high' is not a whole number"),
        ("1 0 a 1_0\n", 1, "not a whole number"),
        ("1 0 a 1\n2 0 a 0\n1 0 a 2\n", 3, "as 2 here but as 1 in line 1"),
        (
            "1 a\n",
            1,
            "or three, separated by tabs, below BEIR's header 'query-id corpus-id score'. ",
        ),
        ("1 a\n", 1, "have five: topic 0 docid stratum grade"),
        ("1 s a 1\n1 t a 0\n1 s a 0\n", 3, "as 0 here but as 1 in line 1"),
        ("1\ta\t1\n2\ta\t1\n", 1, "there is no header. BEIR's programs take the first line"),
        (
            "query-id corpus-id score\n1 a 1\n",
            1,
            "the names of this header are not separated by tabs",
        ),
        ("Query-ID, corpus-id, score\n", 1, "the names of this header are not separated by tabs"),
        ("q1,d1,1\n", 1, "1 column. Every line needs four columns, separated by white space: "),
        (BEIR + "1\ta\n", 2, "2 columns. The header has 3, separated by tabs"),
        (BEIR + "\ta\t1\n", 2, "an id is empty"),
        (BEIR + "1\t \t1\n", 2, "an id is empty"),
        (BEIR + "1\ta\t1.5\n", 2, "the grade '1.5' is not a whole number"),
        (LINE + '{"qid": "1"}\n', 2, "document or grade is missing (keys: qid). Judgments in JSON"),
        (
            LINE + "[1]\n",
            2,
            "a judgment is not a JSON object. Judgments in JSON are objects with the",
        ),
        (LINE + "{\n", 2, "this line is not JSON"),
        (LINE + '{"qid": "1", "docid": "b", "rel": 0.5}\n', 2, "the grade '0.5' is not a whole"),
        (
            LINE + '{"qid": "1", "docid": 2.5, "rel": 1}\n',
            2,
            "the id under 'docid' is 2.5. Write it",
        ),
        (
            LINE + '{"qid": null, "docid": "b", "rel": 1}\n',
            2,
            "the id under 'qid' is None. Write it",
        ),
        (LINE + '{"qid": "1", "docid": "a", "rel": 0}\n', 2, "as 0 here but as 1 in line 1"),
        (BEIR + "1\ta\t1\n1\ta\t0\n", 3, "as 0 here but as 1 in line 2"),
    ],
)
def test_a_bad_line_is_named(tmp_path, text, line, words):
    path = a_file(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_qrels(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"q1": {"d1": 0.5}}', "topic 'q1', document 'd1': the grade '0.5' is not a whole number"),
        ('{"q1": {"d1": 1},\n "q2": 1}', "'q2' has no documents with grades. Judgments in"),
        ('[{"qid": "1", "docid": "a"}]', "document or grade is missing (keys: qid, docid)"),
        (f"[{LINE}, {LINE.replace('1}', '0}')}]", "judges document 'a' as 0 here but as 1 before"),
        ('{"q1": {"d1": 1}}\n{"q2": {"d1": 1}}\n', "is not JSON"),
        ('[\n{"qid": "1", "docid": "a", "rel": 1},\n2]', "a judgment is not a JSON object"),
        ('[\n{"qid": "1"', "is not JSON"),
    ],
)
def test_what_is_wrong_in_a_whole_json_file_is_named(tmp_path, text, words):
    path = a_file(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_qrels(path)
    assert str(caught.value).startswith(f"{path}:")
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", BEIR])
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
        (
            "utf-16",
            "q:1: this file has NUL bytes, as UTF-16 and binary files have. Save the file as",
        ),
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


@pytest.mark.parametrize(
    "text", ["1 0 a 1\r1 0 b 1\r", "# ours\r1 0 a 1\r", BEIR[:-1] + "\r1\ta\t1\r"]
)
def test_lines_that_end_in_carriage_returns_alone_are_refused_in_a_sentence(tmp_path, text):
    with pytest.raises(InputError, match=r"as if lines ended in CR alone. Convert the file: tr "):
        read_qrels(a_file(tmp_path, text))


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


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "lines",
    [
        ["1 0 a 1", "1 0 b 0", "2 0 a -1"],
        ["1\t0\ta\t1", "2\t0\tb\t2"],
        ["query-id\tcorpus-id\tscore", "1\ta\t1", "1\tb\t0", "2\té\t2"],
        ["query-id\tcorpus-id\tscore", "1\ta b\t1"],
        ["query-id\tcorpus-id\tscore", "1\ta\t1", "", "2\tb\t1"],
        ["query-id\tcorpus-id\tscore", "1\ta\t1", "2\tb\t1", "1\tc\t3"],
        ["query-id\tcorpus-id\tscore", "1\ta\t1", "# a comment", "2\tb\t1.0"],
        ["query-id\tcorpus-id\tscore", "query-id\ta\t1"],
    ],
)
def test_columns_read_at_once_are_those_read_line_by_line(tmp_path, monkeypatch, lines, end):
    path = a_file(tmp_path, end.join(lines) + end)
    at_once = read_qrels(path)
    monkeypatch.setattr("irplatform.evaluation.qrels._of_columns", lambda path: None)
    assert read_qrels(path) == at_once
    assert [*read_qrels(path)] == [*at_once]
