"""Ours as transformers of PyTerrier and theirs in our runs: the same scores, both ways."""

import json
import warnings

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from pages import DOCS, fences
from small import chosen

import irplatform_pyterrier as bridge
from irplatform import RunSettings, run
from irplatform.data import Topic
from irplatform.errors import InputError, PluginError
from irplatform.plugin import Document, Documents
from irplatform.runs import read_run
from irplatform_pyterrier.frames import results_of, run_of, topics_of
from irplatform_pyterrier.theirs import PyTerrierReranker

pytestmark = pytest.mark.java

THEIRS = """
import pyterrier as pt

def _share(row):
    words = set(row["query"].lower().split())
    return len(words & set(row["text"].lower().split())) / len(words)

share = pt.apply.doc_score(_share)
cut = share % 2
boosted = lambda boost=1.0: pt.apply.doc_score(lambda row: boost * _share(row))
number = 3

class Broken(pt.Transformer):
    def transform(self, frame):
        raise KeyError("weights")

def nameless():
    return pt.apply.generic(lambda frame: frame.drop(columns="score"))

def pisa(index):
    from pyterrier_pisa import PisaIndex
    return PisaIndex(index).bm25(num_results=200)
"""
QUERIES = pd.DataFrame([("1", "lung cancer")], columns=["qid", "query"])


@pytest.fixture(scope="module")
def rankers(tmp_path_factory):
    """A file of transformers."""
    file = tmp_path_factory.mktemp("theirs") / "their_rankers.py"
    file.write_text(THEIRS)
    return file


@pytest.fixture(scope="module")
def runs(tmp_path_factory, rankers):
    """The runs of the platform: BM25, a reranker that learns, and a transformer."""
    folder = tmp_path_factory.mktemp("runs")
    settings = RunSettings(
        "demo",
        rerankers=["mbm", "pyterrier"],
        settings={"pyterrier.transformer": f"{rankers}:share"},
        rerank_depth=50,
        members=2,
        run_dir=folder,
        device="cpu",
    )
    run(settings)
    metadata = json.loads((folder / "pyterrier.run.meta.json").read_text())
    (read,) = metadata["data"]["inputs"]
    assert (read["role"], read["path"]) == ("file of pyterrier", str(rankers))
    return lambda name: read_run(folder / f"{name}.run")


@pytest.fixture(scope="module")
def bm25():
    return bridge.retriever("bm25", collection="demo")


def assert_same(frame, expected, depth=None):
    """A frame holds the first documents of a run, in its order, with its scores."""
    result = run_of(frame, "found")
    assert result.rankings.keys() == expected.rankings.keys()
    for topic, reference in expected.rankings.items():
        ranking = reference.top(depth or len(reference))
        assert result.rankings[topic].doc_ids == ranking.doc_ids
        assert result.rankings[topic].scores == pytest.approx(ranking.scores, abs=1e-6)
    assert (frame.groupby("qid")["rank"].apply(list).map(lambda r: r == [*range(len(r))])).all()


def test_our_retriever_finds_what_a_run_holds(bm25, runs):
    assert_same(bm25(bridge.topics("demo")), runs("bm25"))


def test_fewer_results_are_asked_for_where_the_pipeline_cuts(bm25, runs):
    pipeline = (bm25 % 7).compile()
    assert isinstance(pipeline, type(bm25))
    assert_same(pipeline(bridge.topics("demo")), runs("bm25"), depth=7)


@pytest.mark.parametrize(("share", "name"), [("auto", "mbm"), (0, "mbm-alone")])
def test_our_retriever_and_reranker_give_the_scores_of_a_run(bm25, runs, share, name):
    mbm = bridge.reranker(
        "mbm", collection="demo", interpolate=share, members=2, device="cpu", cached=False,
        rerank_depth=50,
    )  # fmt: skip
    frame = (bm25 % 50 >> mbm)(bridge.topics("demo"))
    assert_same(frame, runs(name), depth=50)


def test_their_retriever_feeds_our_reranker_as_in_a_run(tmp_path, rankers):
    pisa = pytest.importorskip("pyterrier_pisa")
    index = pisa.PisaIndex(str(tmp_path / "pisa"), text_field=["title", "abstract"])
    index.index(bridge.documents("demo"))
    settings = RunSettings(
        "demo",
        first_stages="pyterrier",
        rerankers="bm25-title",
        settings={
            "pyterrier.transformer": f"{rankers}:pisa",
            "pyterrier.arguments": {"index": str(tmp_path / "pisa")},
        },
        depth=200,
        interpolate=0.25,
        run_dir=tmp_path / "runs",
    )
    run(settings)
    ranker = bridge.reranker("bm25-title", collection="demo", interpolate=0.25, cached=False)
    frame = (index.bm25(num_results=200) >> ranker)(bridge.topics("demo"))
    assert_same(frame, read_run(tmp_path / "runs" / "bm25-title.run"))


def test_their_transformer_reranks_in_a_run_with_the_scores_of_their_pipeline(bm25, runs):
    namespace = {}
    exec(THEIRS, namespace)
    frame = (bm25 % 50 >> bridge.texts("demo") >> namespace["share"])(bridge.topics("demo"))
    for topic, rows in frame.groupby("qid"):
        scores = dict(zip(rows["docno"], rows["score"], strict=True))
        ranking = runs("pyterrier-alone").rankings[topic].top(50)
        values = np.array([scores[doc_id] for doc_id in ranking.doc_ids])
        standard = (values - values.mean()) / values.std() if values.std() else values * 0
        assert ranking.scores == pytest.approx(standard, abs=1e-6)


def test_our_own_scores_are_those_of_the_reranker(bm25):
    frame = (bm25 % 5 >> bridge.reranker("revdocid", collection="demo"))(QUERIES)
    assert [*frame["docno"]] == sorted(frame["docno"], reverse=True)


def test_columns_of_documents_stay_and_equal_scores_go_by_document_id(bm25):
    before = (bm25 % 3 >> bridge.texts("demo"))(QUERIES).assign(score=1.0)
    after = bridge.reranker("bm25-title", collection="demo", interpolate=1.0)(before)
    assert {"title", "abstract", "text", "query"} <= {*after.columns}
    assert [*after["docno"]] == sorted(before["docno"], reverse=True)
    titles = dict(zip(before["docno"], before["title"], strict=True))
    assert all(titles[row.docno] == row.title for row in after.itertuples())


def test_a_pipeline_can_be_inspected(bm25):
    pipeline = bm25 >> bridge.reranker("bm25-title", collection="demo")
    columns = pt.inspect.transformer_outputs(pipeline, ["qid", "query"])
    assert [*columns] == ["qid", "query", "docno", "score", "rank"]


def test_an_experiment_of_pyterrier_agrees_with_our_measures(bm25, runs):
    from irplatform.evaluation.gain import ndcg_of

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = pt.Experiment(
            [bm25], bridge.topics("demo"), bridge.qrels("demo"), ["ndcg_cut_20"], names=["bm25"]
        )
    grades = bridge.qrels("demo").groupby("qid")[["docno", "label"]]
    judged = {q: dict(zip(rows["docno"], rows["label"], strict=True)) for q, rows in grades}
    values = [ndcg_of(r.doc_ids, judged[q]) for q, r in runs("bm25").rankings.items()]
    assert table["ndcg_cut_20"][0] == pytest.approx(np.mean(values), abs=1e-6)


class _Known:
    topics = (Topic("41", "breast cancer", {"gene": "ERBB2"}),)


def test_a_topic_of_the_collection_keeps_its_fields_where_its_query_was_rewritten():
    rewritten = pd.DataFrame(
        [("41", "breast cancer tumour", "breast cancer", "x"), ("42", "other", "other", "y")],
        columns=["qid", "query", "query_0", "drug"],
    )
    first, second = topics_of(rewritten, _Known(), ["drug"])
    assert (first.query, dict(first.fields)) == (
        "breast cancer tumour",
        {"gene": "ERBB2", "drug": "x"},
    )
    assert dict(second.fields) == {"drug": "y"}
    (other,) = topics_of(pd.DataFrame([("41", "colon")], columns=["qid", "query"]), _Known(), [])
    assert dict(other.fields) == {}


def test_frames_and_runs_are_the_same_thing():
    frame = pd.DataFrame(
        [("2", "b", 1.0), ("2", "a", 3.0), ("1", "c", 2.0)], columns=["qid", "docno", "score"]
    )
    result = run_of(frame, "run")
    assert [*result.rankings["2"]] == [("a", 3.0), ("b", 1.0)]
    back = results_of(pd.DataFrame({"qid": ["1", "2"], "query": ["x", "y"]}), result)
    assert back.to_dict("list") == {
        "qid": ["1", "2", "2"], "query": ["x", "y", "y"], "docno": ["c", "a", "b"],
        "score": [2.0, 3.0, 1.0], "rank": [0, 0, 1],
    }  # fmt: skip
    with pytest.raises(InputError, match="topic 2 are not a ranking: document 'a' comes twice"):
        run_of(frame.assign(docno="a"), "run")


# Their transformer, asked without an index.

TEXTS = {"a": "lung disease", "b": "lung cancer", "c": "mice"}
ASKED = Topic("1", "lung cancer"), Documents.of([Document(k, v) for k, v in TEXTS.items()])


def reranker(place, **options):
    choice = chosen("pyterrier", transformer=str(place), **options)
    ready = PyTerrierReranker(choice.options)
    ready.prepare(None)
    return ready


def test_scores_are_those_of_the_transformer_in_the_order_of_the_documents(rankers):
    assert reranker(f"{rankers}:share").score(*ASKED) == [0.5, 1.0, 0.0]


def test_a_function_that_makes_a_transformer_gets_its_arguments(rankers):
    ready = reranker(f"{rankers}:boosted", arguments={"boost": 4})
    assert ready.score(*ASKED) == [2.0, 4.0, 0.0]


def test_a_module_of_the_working_directory_is_found(rankers, monkeypatch):
    monkeypatch.chdir(rankers.parent)
    assert reranker("their_rankers:share").score(*ASKED) == [0.5, 1.0, 0.0]


def test_documents_that_a_comparing_transformer_leaves_out_come_last_in_the_given_order(rankers):
    with pytest.raises(
        InputError, match=r"no score for document c of topic 1.*'pyterrier\.compares': True"
    ):
        reranker(f"{rankers}:cut").score(*ASKED)
    ready = reranker(f"{rankers}:cut", compares=True)
    scores = ready.score(*ASKED)
    assert scores == [0.0, 0.0, 0.0]
    rescored = ready.rescore(*ASKED, scores)
    assert rescored[:2] == [0.5, 1.0]
    assert rescored[2] < 0.5


@pytest.mark.parametrize(
    ("place", "options", "error", "message"),
    [
        ("", {}, InputError, "needs a transformer"),
        ("share", {}, InputError, "'share' is not the place of a transformer"),
        ("{file}:missing", {}, InputError, "there is no 'missing' in"),
        ("absent.py:share", {}, InputError, "absent.py: there is no such file"),
        ("absent:share", {}, InputError, "no module 'absent': it is not installed, and there is"),
        ("{file}:number", {}, InputError, "gives int, not a transformer"),
        ("{file}:share", {"arguments": {"k": 1}}, InputError, "arguments has no effect"),
        ("{file}:boosted", {"arguments": {"k": 1}}, PluginError, "unexpected keyword argument 'k'"),
        ("{file}:Broken", {}, PluginError, r"KeyError: 'weights'.*their_rankers.py:\d+"),
        ("{file}:nameless", {}, InputError, "returns no column 'score'"),
    ],
)
def test_what_is_wrong_with_a_transformer_is_said_in_a_line(
    rankers, place, options, error, message
):
    with pytest.raises(error, match=message) as raised:
        reranker(place.format(file=rankers), **options).score(*ASKED)
    assert "\n" not in str(raised.value)


def test_results_depend_on_the_code_of_the_transformer_and_on_what_it_reads(tmp_path):
    file, index = tmp_path / "ranker.py", tmp_path / "index"
    file.write_text(THEIRS)
    index.write_text("1")

    def described():
        choice = chosen("pyterrier", transformer=f"{file}:share", files=[str(index)])
        return [choice.describe_reads(), choice.registration.describe(choice.options)]

    first = described()
    assert described() == first
    assert first[0]["versions"]["pyterrier"] == pt.__version__
    file.write_text(THEIRS + "\n# changed\n")
    second = described()
    assert second != first
    index.write_text("2")
    assert described() != second


def test_documents_and_indexes_of_other_collections_are_refused(bm25, tmp_path):
    strange = QUERIES.assign(docno="MED-1", score=1.0, rank=0)
    with pytest.raises(InputError, match="'demo' has no document 'MED-1'"):
        bridge.reranker("bm25-title", collection="demo")(strange)
    file = tmp_path / "fixed.py"
    file.write_text(
        "import pandas as pd, pyterrier as pt\n"
        "fixed = pt.Transformer.from_df(pd.DataFrame("
        "[['41', 'MED-1', 1.0]], columns=['qid', 'docno', 'score']), uniform=True)\n"
    )
    settings = {"pyterrier.transformer": f"{file}:fixed"}
    run_settings = RunSettings(
        "demo", first_stages="pyterrier", settings=settings, run_dir=tmp_path / "runs"
    )
    with pytest.raises(InputError, match="found document MED-1 for topic 41"):
        run(run_settings)


def test_texts_without_a_collection_are_reranked(rankers, tmp_path):
    settings = {"pyterrier.transformer": f"{rankers}:share"}
    frame = pd.DataFrame(
        [("1", "lung cancer", doc, 1.0, text) for doc, text in TEXTS.items()],
        columns=["qid", "query", "docno", "score", "text"],
    )
    ranker = bridge.reranker("pyterrier", collection=None, settings=settings)
    assert [*ranker(frame)[["docno", "score"]].itertuples(index=False, name=None)] == [
        ("b", 1.0), ("a", 0.5), ("c", 0.0)
    ]  # fmt: skip
    parts = frame.assign(title="cancer", abstract=frame["text"])
    assert [*ranker(parts)["score"]] == [1.0, 1.0, 0.5]
    mixed = bridge.reranker("pyterrier", collection=None, settings=settings, interpolate=0.5)
    assert [*mixed(frame)["docno"]] == ["b", "a", "c"]
    with pytest.raises(pt.validate.InputValidationError):
        ranker(frame.drop(columns="text"))
    with pytest.raises(InputError, match=r"reads the words of a collection.*collection=NAME"):
        bridge.reranker("bm25-title", collection=None)(frame)
    with pytest.raises(InputError, match="'mbm' learns: name a trained one"):
        bridge.reranker("mbm", collection=None)
    with pytest.raises(InputError, match="interpolate='auto' needs a checkpoint"):
        bridge.reranker("bm25-title", collection=None, interpolate="auto")


@pytest.mark.parametrize("share", [-1, 2, "half"])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(InputError, match="interpolate is"):
        bridge.reranker("bm25-title", collection="demo", interpolate=share)


def test_a_reranker_that_learns_needs_something_to_learn_from(beir_folder):
    with pytest.raises(InputError):
        bridge.reranker("mbm", collection=f"{beir_folder('test')}:test")


def test_the_examples_of_the_page_run(tmp_path, monkeypatch, rankers):
    pytest.importorskip("pyterrier_pisa")
    monkeypatch.chdir(tmp_path)
    examples = [code for _, code in fences(DOCS / "bridges.md", "python")]
    (tmp_path / "my_rankers.py").write_text(examples.pop())
    namespace = {}
    for code in examples:
        exec(code.replace('"delta"', '"bm25-title"'), namespace)  # which need not be trained
    assert [*namespace["table"]["name"]] == ["BM25", "BM25 > delta", "PISA > delta"]
    assert reranker("my_rankers:title_words").score(*ASKED) == [1.0, 2.0, 0.0]
