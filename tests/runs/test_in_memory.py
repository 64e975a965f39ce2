"""Runs and judgments in memory: the forms of other libraries, right or refused in a short line."""

import math

import numpy as np
import pytest

import irplatform as ir
from irplatform.errors import InputError
from irplatform.runs import Ranking, Run
from irplatform.runs.in_memory import is_results, qrels_of, run_of

SCORES = {"7": {"31": 2.5, "32": 1.0}, "8": {"33": 4.0, "34": 3.0}}
GRADES = {"7": {"32": 1}, "8": {"33": 2, "34": 0}}
ROWS = [(topic, doc, score) for topic, docs in SCORES.items() for doc, score in docs.items()]


def frame_of(columns, rows=ROWS, library="pandas"):
    library = pytest.importorskip(library)
    return library.DataFrame({name: [row[at] for row in rows] for at, name in enumerate(columns)})


def records():
    import ir_measures

    return [ir_measures.ScoredDoc(*row) for row in ROWS]


def numbered(kind):
    return {kind(t): {kind(d): s for d, s in docs.items()} for t, docs in SCORES.items()}


RUNS = {
    "mapping": lambda: SCORES,
    "whole numbers": lambda: numbered(int),
    "numbers of numpy": lambda: numbered(np.int32),
    "floats": lambda: numbered(float),
    "scores of numpy": lambda: {t: dict.fromkeys(d, 0) | d for t, d in SCORES.items()},
    "records": records,
    "dictionaries": lambda: [{"qid": t, "docid": d, "score": s} for t, d, s in ROWS],
    "pyterrier": lambda: frame_of(["qid", "docno", "score"]),
    "ranx": lambda: frame_of(["q_id", "doc_id", "score"]),
    "ir_measures": lambda: frame_of(["query_id", "doc_id", "score"]),
    "polars": lambda: frame_of(["qid", "docno", "score"], library="polars"),
    "lazy": lambda: frame_of(["qid", "docno", "score"], library="polars").lazy(),
    "numbers in a frame": lambda: frame_of(
        ["qid", "docno", "score"], [(int(t), float(d), s) for t, d, s in ROWS]
    ),
    "internal docids": lambda: frame_of(
        ["qid", "docid", "docno", "score"], [(t, i, d, s) for i, (t, d, s) in enumerate(ROWS)]
    ),
    "ranks alone": lambda: frame_of(["qid", "docno", "rank"], [(t, d, -s) for t, d, s in ROWS]),
}


@pytest.mark.parametrize("form", RUNS)
def test_a_run_is_read_in_the_forms_of_other_libraries(form):
    results = RUNS[form]()
    assert is_results(results)
    run = run_of(results, "mine")
    assert run.name == "mine"
    ids = {topic: ranking.doc_ids for topic, ranking in run.rankings.items()}
    assert ids == {"7": ("31", "32"), "8": ("33", "34")}
    evaluations = ir.evaluate(results, qrels=GRADES, measures="RR")
    assert {name: evaluation.aggregate for name, evaluation in evaluations.items()} == {
        "run": {"RR": 0.75}
    }
    assert ir.evaluate({"a": results}, qrels=GRADES, measures="RR")["a"].aggregate == {"RR": 0.75}


@pytest.mark.parametrize(
    "scores",
    [
        {"7": {"31": 3, "32": 2, "33": 1}},
        {"7": {"31": 5, "32": 7}, "8": {"33": 1}},
        {"7": {"31": 0.5, "32": 1.5, "33": 0.7}},
        {"7": {"31": 1}, "8": {"32": 1}},
        {"7": {"31": 1, "32": 1}},
        {"7": {}},
    ],
)
def test_scores_that_fall_repeat_or_do_not_count_are_scores(scores):
    run = run_of(scores)
    best = {
        topic: max(docs, key=lambda doc: (docs[doc], doc)) for topic, docs in scores.items() if docs
    }
    assert {topic: ranking.doc_ids[0] for topic, ranking in run.rankings.items()} == best


def test_scores_that_count_are_taken_where_they_are_called_so():
    scores = {"7": {"31": 1, "32": 3, "33": 2}}
    rows = [{"qid": "7", "docid": d, "score": s} for d, s in scores["7"].items()]
    for source in (Run("x", scores), rows):
        assert run_of(source).rankings["7"].doc_ids == ("32", "33", "31")


def test_several_runs_and_iterators_of_them_are_told_apart_from_one():
    pairs = [SCORES, Run("own", run_of(SCORES).rankings)]
    assert [*ir.evaluate(iter(pairs), qrels=GRADES, measures="RR")] == ["run-1", "own"]
    assert [*ir.evaluate(pairs, qrels=GRADES, measures="RR", names=["a", "b"])] == ["a", "b"]
    assert [*ir.evaluate(iter(records()), qrels=GRADES, measures="RR")] == ["run"]
    compared = ir.compare({"a": SCORES, "b": SCORES}, qrels=GRADES, measures="RR")
    assert compared.pairs[0].difference == 0


def judged(kind=int):
    return [(t, d, kind(g)) for t, docs in GRADES.items() for d, g in docs.items()]


def qrel_records():
    import ir_measures

    return [ir_measures.Qrel(*row) for row in judged()]


QRELS = {
    "numbers": lambda: {int(t): {int(d): g for d, g in docs.items()} for t, docs in GRADES.items()},
    "numpy": lambda: {t: {d: np.int64(g) for d, g in docs.items()} for t, docs in GRADES.items()},
    "floats": lambda: {t: {d: float(g) for d, g in docs.items()} for t, docs in GRADES.items()},
    "records": qrel_records,
    "iterator": lambda: iter(qrel_records()),
    "pyterrier": lambda: frame_of(["qid", "docno", "label"], judged()),
    "ir_measures": lambda: frame_of(["query_id", "doc_id", "relevance"], judged(float)),
    "polars": lambda: frame_of(["qid", "docid", "rel"], judged(), "polars"),
}


@pytest.mark.parametrize("form", QRELS)
def test_judgments_are_read_in_the_forms_of_other_libraries(form):
    read = qrels_of(QRELS[form]())
    assert read == GRADES
    assert {type(g) for grades in read.values() for g in grades.values()} == {int}
    evaluations = ir.evaluate(SCORES, qrels=QRELS[form](), measures="RR")
    assert evaluations["run"].aggregate == {"RR": 0.75}


def test_truth_values_are_grades_and_levels_keep_their_decimals():
    assert qrels_of({"7": {"31": True, "32": False}}) == {"7": {"31": 1, "32": 0}}
    assert qrels_of({"7": {"31": 0.5, "32": 1}}) == {"7": {"31": 0.5, "32": 1.0}}


MANY = {str(t): {f"d{i}": 1.0 / (i + 1) for i in range(100)} for t in range(50)}
WRONG_RUNS = [
    ({"7": {"31": "2.5"}}, "the score of '31' for '7' is '2.5'; it must be a number."),
    ({"7": {"31": math.nan}}, "the score of '31' for '7' is nan; it must be a number."),
    ({"7": {"31": None}}, "the score of '31' for '7' is None; it must be a number."),
    ({"7": {None: 1.0}}, "the id of a document is None. Write it as text."),
    ({7.5: {"31": 1.0}}, "the id of a topic is 7.5. Write it as text."),
    ({True: {"31": 1.0}}, "the id of a topic is True. Write it as text."),
    ({7: {"31": 2.0}, "7": {"32": 1.0}}, "topic 7 comes as text and as a number"),
    ({"7": {"31": 1.0, 31: 2.5}}, "document '31' comes twice for topic '7'."),
    ({"": {"31": 1.0}}, "the id of a topic is ''. Write it as text."),
    ({"7": {"31": 1, "32": 2, "33": 3}}, "count 1, 2, 3, … (1, 2, 3, …): they may be ranks"),
    ({"7": {"31": 2, "32": 3, "33": 1}}, "they may be ranks, or distances. Give scores as"),
    ({"7": {"31": 0, "32": 1}, "8": {"33": 0.0}}, "they may be ranks"),
    ({"7": {str(d): d / 9 for d in range(6)}}, "the numbers of each topic rise (0.0, "),
    ([{"qid": 7, "docid": d, "score": d + 1} for d in range(3)], "they may be ranks"),
    ([{"qid": "7", "docid": "31"}], "the run need columns such as query_id, doc_id and score"),
    (3, "runs is 3; it must be a path, a Run, a mapping of topic to"),
    ({"a": None}, "runs is None; it must be a path, a Run"),
    ([[("7", "31", 1.0)]], "no mapping of topic to document to score"),
    ({"a": MANY, "b": {"7": ["31"] * 1000}}, "does not map documents to scores"),
]


@pytest.mark.parametrize(("runs", "message"), WRONG_RUNS)
def test_other_runs_are_refused_in_a_short_line(runs, message):
    with pytest.raises(InputError) as raised:
        ir.evaluate(runs, qrels=GRADES, measures="RR")
    line = str(raised.value)
    assert message in line
    assert len(line) < 300
    assert "\n" not in line


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ({"7": {"31": "1"}}, "the grade of '31' for '7' is '1'; it must be a number."),
        ({"7": {"31": math.nan}}, "the grade of '31' for '7' is nan; it must be a number."),
        ({"7": ["31"]}, "the judgments of topic '7': ['31'] does not map documents to grades."),
        ({"7": {"31": [1, 2]}}, "the grade of '31' for '7' is [1, 2]; it must be a number."),
        ([["7", "0", "31", 1]], "no list of records with names"),
        (5, "the judgments: 5 is no mapping"),
    ],
)
def test_other_judgments_are_refused_in_a_short_line(qrels, message):
    with pytest.raises(InputError) as raised:
        ir.evaluate(SCORES, qrels=qrels, measures="RR")
    assert message in str(raised.value)
    assert len(str(raised.value)) < 300


def test_a_frame_without_a_column_names_those_that_it_has():
    with pytest.raises(InputError, match=r"need columns .* score; they have qid, text\."):
        run_of(frame_of(["qid", "text"], [("7", "words")]))


def test_a_large_object_is_not_in_the_message():
    for wrong in (
        lambda: ir.evaluate("x.run", qrels=GRADES, measures=[MANY]),
        lambda: ir.fuse_runs([MANY, MANY], "out.run"),
        lambda: ir.run(MANY),
    ):
        with pytest.raises(InputError) as raised:
            wrong()
        assert len(str(raised.value)) < 300


def test_a_ranking_is_checked_and_ordered_however_it_is_made():
    ranking, of = Ranking(("a", "b", "c"), [1.0, 2.0, 2.0]), Ranking.of("abc", [1.0, 2.0, 2.0])
    assert (ranking.doc_ids, ranking.scores.tolist()) == (of.doc_ids, of.scores.tolist())
    for ids, scores, message in [
        (("a", "a"), [2.0, 1.0], "comes twice"),
        (("a",), [math.nan], "is nan"),
        (("a",), [1.0, 2.0], "1 documents but"),
        (("a",), ["1"], "text"),
    ]:
        with pytest.raises(ValueError, match=message):
            Ranking(ids, scores)


def test_a_run_holds_rankings_by_texts():
    run = Run("x", {7: Ranking.of([31, np.int64(32)], [2.0, 1.0])})
    assert {t: r.doc_ids for t, r in run.rankings.items()} == {"7": ("31", "32")}
    other = Run("x", {"7": {"31": 1.0, "32": 2.0}, "8": Ranking.of((), ())})
    assert {t: r.doc_ids for t, r in other.rankings.items()} == {"7": ("32", "31"), "8": ()}
    with pytest.raises(InputError, match="a topic comes as text and as a number"):
        Run("x", {7: {"31": 1.0}, "7": {"32": 1.0}})
    with pytest.raises(ValueError, match=r"topic '7' are \['31'\], not a Ranking: Ranking.of"):
        Run("x", {"7": ["31"]})
    with pytest.raises(ValueError, match="is nan"):
        Run("x", {"7": {"31": math.nan}})
