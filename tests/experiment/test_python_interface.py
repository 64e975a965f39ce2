"""Python's functions: lazy names, keywords that are those of the command line, and objects."""

import inspect
import json
import subprocess
import sys
from dataclasses import fields

import pytest

import irplatform as ir
from irplatform.cli.run import run as run_command
from irplatform.data import Collection
from irplatform.errors import InputError
from irplatform.experiment.keywords import RunOptions
from irplatform.experiment.run_settings import RunSettings
from irplatform.registry.loading import registry

pytestmark = pytest.mark.usefixtures("restored_registry")
DATA = {"a": "BRAF in melanoma", "b": "EGFR", "c": "melanoma and its treatment"}
QRELS = {"1": {"a": 1}, "2": {"b": 1}}


class Corpus(ir.Corpus):
    name = "three"
    fields = ()
    fingerprint = "three documents"

    def __iter__(self):
        return iter(ir.Document(doc_id, abstract=text) for doc_id, text in DATA.items())


def _collection(name="three"):
    topics = [ir.Topic("1", "melanoma"), ir.Topic("2", "egfr")]
    measures = ("RR", "nDCG@20")
    return Collection(name, "Three", Corpus(), lambda: topics, lambda: QRELS, measures)


class Longest(ir.Reranker):
    """Ranks longer documents first."""

    class Options(ir.Options):
        sign: int = ir.Field(1, description="1, or -1 for shorter ones")

    def score(self, topic, documents):
        return [self.options.sign * len(document.text) for document in documents]


class Everything(ir.Retriever):
    """Finds all documents."""

    def retrieve(self, topics, depth, resources):
        ranking = ir.Ranking.of([*DATA], [3.0, 2.0, 1.0]).top(depth)
        return ir.Run("everything", {topic.id: ranking for topic in topics})


def test_names_are_found_by_completion_and_imported_at_first_use():
    code = (
        "import sys, json, irplatform as ir; names = dir(ir)\n"
        "loaded = [m for m in sys.modules if m.startswith('irplatform')]\n"
        "heavy = {'numpy', 'pydantic', 'click', 'pluggy'} & {*sys.modules}\n"
        "print(json.dumps([names, loaded, sorted(heavy)]))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    names, loaded, heavy = json.loads(process.stdout)
    functions = (
        "run evaluate compare search explain train tune read_run reranker retriever collection"
    )
    assert {*functions.split(), "register", "load_plugin", "Reranker", "Topic"} <= {*names}
    assert not {"TYPE_CHECKING", "configure_libraries"} & {*names}
    assert len(loaded) <= 9
    assert heavy == []


def test_every_name_is_there_and_documented():
    for name in ir.__all__:
        assert inspect.getdoc(getattr(ir, name)), name
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        _ = ir.runn


def test_keywords_are_the_settings_of_a_run():
    mine = {"collection", "collections", "command", "experiment", "rerankers"}
    assert {*RunOptions.__annotations__} == {f.name for f in fields(RunSettings)} - mine
    parameters = inspect.signature(ir.run).parameters
    assert {*RunOptions.__annotations__, "collection", "rerankers"} <= {*parameters}
    assert str(parameters["device"].annotation) == "Device"


def test_every_option_of_the_command_is_a_keyword():
    of_output = {"as_json", "compare", "html", "only_plan", "plugin", "quiet", "verbose"}
    options = {parameter.name for parameter in run_command.params} - of_output
    assert options - {*inspect.signature(ir.run).parameters} <= {"collections", "experiment"}


@pytest.mark.parametrize("name", ["run", "train", "explain", "tune", "reranker", "retriever"])
def test_a_wrong_keyword_is_told_with_the_right_one(name):
    arguments = {"explain": ("demo", "1", "d"), "tune": ("demo", "b")}.get(name, ("demo", "demo"))
    with pytest.raises(InputError, match="Did you mean 'threads'"):
        getattr(ir, name)(*arguments, thread=3)


def test_errors_name_keywords_and_not_options(tmp_path, fresh_home):
    options = {"first_stages": Everything, "run_dir": tmp_path, "interpolate": 0}
    ir.run(_collection(), {"mine": Longest}, **options)
    with pytest.raises(InputError) as raised:
        ir.run(_collection(), {"mine": Longest(sign=-1)}, **options)
    assert "mine.sign 1 -> -1" in str(raised.value)
    assert "Name another run_dir=, or replace it with force=True." in str(raised.value)


def test_runs_of_changed_session_code_are_replaced(tmp_path, fresh_home):
    def ranker(sign):
        class Mine(ir.Reranker):
            """Mine."""

            def score(self, topic, documents):
                return [sign * len(document.text) for document in documents]

        return Mine

    options = {"first_stages": Everything, "run_dir": tmp_path, "interpolate": 0}
    first = ir.run(_collection(), ranker(1), **options).runs["mine"]
    again = ir.run(_collection(), ranker(-1), **options).runs["mine"]
    assert first.rankings["1"].doc_ids == ("c", "a", "b")
    assert again.rankings["1"].doc_ids == ("b", "a", "c")


def test_objects_and_classes_stand_where_names_do(tmp_path, fresh_home):
    report = ir.run(
        _collection(),
        {"long": Longest, "short": Longest(sign=-1)},
        first_stages=Everything,
        run_dir=tmp_path,
        interpolate=0,
    )
    assert [system.name for system in report.systems] == ["everything", "long", "short"]
    runs = report.runs
    assert runs["long"].rankings["1"].doc_ids == ("c", "a", "b")
    assert runs["short"].rankings["1"].doc_ids == ("b", "a", "c")
    metadata = json.loads((tmp_path / "short.run.meta.json").read_text())
    described = metadata["method"]["retrieval"][-1]
    assert described["distribution"] == "this Python session"
    assert described["options"] == {"sign": -1}
    assert len(described["source"]) == 16


def test_a_name_is_that_of_the_class_and_is_found_afterwards(fresh_home):
    settings = RunSettings("demo", rerankers=[Longest, "delta"], first_stages=[Everything, "bm25"])
    assert settings.rerankers == ("longest", "delta")
    assert settings.first_stages == ("everything", "bm25")
    settings = RunSettings("demo", first_stages="everything+bm25")
    assert settings.first_stage.retrievers == ("everything", "bm25")
    assert RunSettings("demo", rerankers="longest").rerankers == ("longest",)
    delta = registry().reranker("delta").system
    assert RunSettings("demo", rerankers=[delta]).rerankers == ("delta",)


@pytest.mark.parametrize(
    ("rerankers", "message"),
    [
        ([Longest, Longest(sign=-1)], "two of the rerankers would be called 'longest'"),
        ([Everything], "it takes names, and classes or objects of irplatform.Reranker"),
        ({"delta": Longest}, "reranker 'delta' is registered by plugin 'delta'"),
        ([len], "it takes names, and classes or objects"),
    ],
)
def test_what_cannot_be_a_reranker_is_told(rerankers, message):
    with pytest.raises(InputError, match=message):
        RunSettings("demo", rerankers=rerankers)


def test_a_collection_that_was_opened_keeps_its_name():
    assert RunSettings(ir.collection("demo")).collection == "demo"
    assert RunSettings(_collection("mine")).collection == "mine"
    assert registry().collection("mine").title == "Three"
    assert RunSettings([ir.collection("demo"), "other"]).collections == ("demo", "other")


def test_a_file_of_settings_lies_beneath_those_given(tmp_path, fresh_home):
    path = tmp_path / "tuned.toml"
    path.write_text("[longest]\nsign = -1\n")
    report = ir.run(
        _collection(),
        Longest,
        config=path,
        first_stages=Everything,
        interpolate=0,
        run_dir=tmp_path,
    )
    assert report.runs["longest"].rankings["1"].doc_ids == ("b", "a", "c")


def test_runs_in_memory_are_scored_and_compared():
    one = ir.Run("one", {t: ir.Ranking.of(["a", "b"], [2.0, 1.0]) for t in "12"})
    other = ir.Run("other", {t: ir.Ranking.of(["b", "a"], [2.0, 1.0]) for t in "12"})
    scores = ir.evaluate([one, other], qrels=QRELS, measures="RR")
    assert {name: evaluation.aggregate["RR"] for name, evaluation in scores.items()} == {
        "one": 0.75,
        "other": 0.75,
    }
    comparison = ir.compare({"x": one, "y": other}, collection=_collection(), measures="RR")
    assert [system.name for system in comparison.systems] == ["x", "y"]
    assert comparison.pairs[0].difference == 0.0
    with pytest.raises(InputError, match="the run one is named more than once"):
        ir.compare([one, one], qrels=QRELS)


def test_texts_are_scored_without_a_collection():
    ready = ir.reranker(Longest(sign=-1))
    assert ready.score("melanoma", ["aa", "a", ir.Document("x", "aaa")]) == [-2.0, -1.0, -3.0]
    for wrong, message in (("aa", "they must be a list"), ([3], "it must be a text or a Document")):
        with pytest.raises(InputError, match=message):
            ready.score("melanoma", wrong)
    with pytest.raises(InputError, match="it must be some words"):
        ready.score(" ", ["a"])


def test_a_reranker_that_learns_or_reads_an_index_tells_what_it_needs():
    with pytest.raises(InputError, match=r"'delta' learns: name a trained one \(checkpoint=FOLDER"):
        ir.reranker("delta")
    with pytest.raises(InputError, match=r"the words of a collection: name one \(collection=NAME"):
        ir.reranker("bm25-text")


@pytest.mark.java
def test_a_reranker_that_reads_an_index_scores_documents_of_its_collection(fresh_home):
    ready = ir.reranker("bm25-text", _collection())
    (topic, _) = _collection().topics
    scores = ready.scores([topic], {"1": ["a", "b", "c"]})["1"]
    assert scores[0] > scores[2] > scores[1] == 0
    assert min(ready.score("melanoma", ["BRAF in melanoma"])) > 0
