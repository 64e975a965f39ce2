"""Machines that judge a pool: what is written, what goes on later, what is refused."""

import json
import shutil
from pathlib import Path

import pytest
from sourced_judgments import ANN, judged, make_pool, write

import irplatform as ir
from irplatform.data import Collection
from irplatform.errors import InputError, PluginError
from irplatform.files.locks import lock
from irplatform.judging import machines
from irplatform.judging.judgments import Source, read_judgments
from irplatform.judging.page.opening import grown
from irplatform.judging.pool_folder import read_pool
from irplatform.judging.store import Store
from irplatform.plugin import Field, Judge, Options

pytestmark = pytest.mark.java
GRADES = {0: "not relevant", 1: "relevant"}
LINES = [("q1", "d1", 1, 1), ("q1", "d2", 1, 2), ("q1", "d3", 1, 0), ("q2", "d3", 1, 1)]


class EvenOptions(Options):
    unjudged: tuple[str, ...] = Field((), description="documents without a grade")
    fails: bool = Field(False, description="it fails at topic q2")


class Even(Judge):
    """Documents whose text has a word of the query are relevant."""

    Options = EvenOptions
    asked = 0

    def judge(self, topic, documents, grades):
        if self.options.fails and topic.id == "q2":
            raise KeyboardInterrupt
        Even.asked += len(documents)
        words = {*topic.query.lower().split()}
        return [
            None if d.id in self.options.unjudged else int(bool(words & {*d.text.lower().split()}))
            for d in documents
        ]

    def tokens(self, topic, documents, grades):
        return Judge.Tokens(1000 * len(documents), len(documents))

    def spent(self):
        return Judge.Tokens(900, 3)


@pytest.fixture(autouse=True)
def even():
    Even.asked = 0
    with ir.register("even", Even):
        yield


@pytest.fixture
def pool(tmp_path, beir_folder):
    qrels = beir_folder("test") / "qrels" / "test.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n")
    return make_pool(tmp_path / "pool", LINES)


@pytest.fixture
def judge(pool, tmp_path):
    def judge(name="even", **options):
        arguments = {"collection": tmp_path / "small", "grades": GRADES, **options}
        return ir.judge_pool(pool, name, **arguments)

    return judge


def test_its_judgments_are_in_a_file_of_the_pool_with_their_source(judge, pool):
    result = judge()
    assert (result.judged, result.before, result.unjudged) == (3, 0, 0)
    judgments = read_judgments(pool / "even.jsonl")
    assert [(j.topic, j.document, j.grade) for j in judgments] == [
        ("q1", "d1", 1),
        ("q1", "d2", 0),
        ("q2", "d3", 0),
    ]
    (source,) = {j.source for j in judgments}
    assert (source.kind, source.name) == ("machine", "even")
    assert source.version.startswith("options:")
    assert {j.pool for j in judgments} == {"p1"}


def test_a_file_that_nothing_was_written_to_is_not_named(judge, pool):
    result = judge(settings={"unjudged": ["d1", "d2", "d3"]})
    assert result.sentence.startswith("0 judgments by even")
    assert not (pool / "even.jsonl").exists()


def test_a_folder_that_cannot_be_written_to_is_named(judge, monkeypatch):
    def refuse(**_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(InputError, match=r"pool: this folder cannot be written to: Read-only"):
        judge()


def test_what_it_has_judged_is_not_judged_again(judge, pool):
    judge()
    content = (pool / "even.jsonl").read_bytes()
    again = judge()
    assert (again.judged, again.before, Even.asked) == (0, 3, 3)
    assert (pool / "even.jsonl").read_bytes() == content


def test_with_other_options_it_is_another_source(judge, pool):
    judge(), judge(settings={"unjudged": ["d9"]})
    assert Even.asked == 6
    assert len({j.source for j in read_judgments(pool / "even.jsonl")}) == 2


def test_what_stays_unjudged_is_counted_and_asked_again(judge, pool):
    result = judge(settings={"unjudged": ["d2"]})
    assert (result.judged, result.unjudged) == (2, 1)
    again = judge(settings={"unjudged": ["d2"]})
    assert (again.judged, again.before, again.unjudged, Even.asked) == (0, 2, 1, 4)


def test_an_interruption_keeps_what_was_judged_and_says_what_was_spent(judge, pool, capsys):
    with pytest.raises(KeyboardInterrupt):
        judge(settings={"fails": True})
    assert "spent: 900 tokens read, 3 written" in capsys.readouterr().err
    assert len(read_judgments(pool / "even.jsonl")) == 2
    assert judge(settings={"fails": True}, estimate=True).before == 2


def test_an_estimate_judges_nothing_and_says_the_price(judge, pool, capsys):
    estimate = judge(estimate=True, prices=(2, 1000))
    assert (estimate.tokens, estimate.price, estimate.unjudged) == (Judge.Tokens(3000, 3), 0.009, 3)
    assert estimate.sentence.startswith("3 documents to judge by even options:")
    assert estimate.sentence.endswith("about 3,000 tokens read, 3 written, 0.01")
    assert Even.asked == 0
    assert not (pool / "even.jsonl").exists()
    assert capsys.readouterr().err == ""
    result = judge(prices=(2, 1000))
    assert (result.tokens, result.price) == (Judge.Tokens(900, 3), 0.0048)
    assert capsys.readouterr().err.splitlines() == [
        estimate.sentence,
        "spent: 900 tokens read, 3 written, 0.00",
    ]


def test_without_prices_tokens_alone_are_told(judge, capsys):
    assert judge().price == 0
    assert capsys.readouterr().err.rstrip().endswith("spent: 900 tokens read, 3 written")


def test_the_grades_are_those_by_which_people_judge_the_pool(judge, pool):
    with Store.open(pool, "p1") as store:
        store.write_setting("grades", json.dumps({0: "no", 1: "yes"}))
    with_grades_of_people = judge(grades=None).source
    assert with_grades_of_people == judge(grades="0=no,1=yes").source != judge().source


def test_a_collection_without_grades_asks_for_them(judge):
    with pytest.raises(InputError, match="does not define its grades: give grades="):
        judge(grades=None)


def test_documents_that_the_collection_lacks_stay_unjudged(judge, pool):
    with (pool / "pool.tsv").open("a") as file:
        file.write("q2\tgone\t1\t2\n")
    result = judge()
    assert (result.judged, result.unjudged) == (3, 1)


def test_topics_that_the_collection_lacks_are_an_error(judge, pool):
    with (pool / "pool.tsv").open("a") as file:
        file.write("q9\td1\t1\t1\n")
    with pytest.raises(InputError, match="'q9' is not a topic of the collection, but of the pool"):
        judge()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([0], r"returned \[0\] for topic q1; a list is needed: for each of 2 documents None or"),
        ([0, 7], r"returned \[0, 7\] for topic q1; .* one of the grades 0, 1"),
        ([0, 0.5], r"returned \[0, 0.5\] for topic q1"),
        ([0, "1"], r"returned \[0, '1'\] for topic q1"),
        ([0, []], "unhashable"),
        ("01", "returned '01' for topic q1"),
        (None, "returned None for topic q1"),
    ],
)
def test_a_judge_that_breaks_the_contract_is_named(judge, pool, answer, message):
    class Wrong(Judge):
        def judge(self, topic, documents, grades):
            return answer

    with ir.register("wrong", Wrong), pytest.raises(PluginError, match=message):
        judge("wrong")
    assert not (pool / "wrong.jsonl").exists()


def test_wrong_names_and_options_come_with_the_right_ones(judge):
    with pytest.raises(InputError, match=r"unknown judge 'evn'\. Did you mean 'even'\?"):
        judge("evn")
    with pytest.raises(InputError, match=r"Did you mean 'unjudged'\?"):
        judge(settings={"unjudge": []})


def test_two_at_once_are_refused(judge, pool):
    with (
        lock(pool / ".even.jsonl"),
        pytest.raises(InputError, match="another process judges this pool with this judge"),
    ):
        judge()


class ReadsOptions(Options):
    model: Path | None = Field(None, description="a folder, or a server's model")


class Reads(Even):
    """Even, of a model in a folder."""

    Options = ReadsOptions

    def judge(self, topic, documents, grades):
        return [0] * len(documents)


def test_the_version_has_the_files_of_a_model_and_of_those_that_it_was_trained_from(
    judge, tmp_path
):
    def write_checkpoint(name, base):
        options = {"loop": {"epochs": 2}, "inner": {"model": str(base)}}
        described = {"format": 2, "reranker": "r", "options": options, "members": 1, "queries": []}
        (tmp_path / name).mkdir()
        path = tmp_path / name / "checkpoint.json"
        path.write_text(json.dumps({**described, "interpolation": {"weight": 0.5}}))
        return tmp_path / name

    def marks(path):
        with ir.register("reads", Reads):
            return judge("reads", settings={"model": str(path)}).source.of

    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "weights").write_text("base")
    by_path = write_checkpoint("one", tmp_path / "base")
    assert len(marks(by_path)) == 4  # two names and two digests
    assert "base" in marks(tmp_path / "base") < marks(by_path)
    assert marks(shutil.copytree(by_path, tmp_path / "moved")) - marks(by_path) == {"moved"}
    assert "of-the/hub" in marks(write_checkpoint("two", "of-the/hub"))
    assert marks(tmp_path / "gone") == {str(tmp_path / "gone")}


@pytest.fixture
def learning(pool, tmp_path):
    """A pool that learns, of all six documents of both topics, two a round."""
    rankings = {t: ir.Ranking.of(["d1", "d2", "d3"], [3.0, 2.0, 1.0]) for t in ("q1", "q2")}
    folder, budget = tmp_path / "learning", {"method": "move-to-front", "budget": 5, "batch": 2}
    return ir.pool_runs([ir.Run("bm25", rankings)], folder, **budget).pool


def test_a_pool_that_learns_gets_its_rounds_until_its_budget_is_spent(learning, tmp_path, capsys):
    arguments = {"collection": tmp_path / "small", "grades": GRADES}
    estimate = ir.judge_pool(learning.folder, "even", estimate=True, **arguments)
    assert estimate.unjudged == 2
    assert estimate.sentence.endswith("2 written; up to 3 more in later rounds")
    result = ir.judge_pool(learning.folder, "even", **arguments)
    assert (result.judged, result.unjudged, Even.asked) == (5, 0, 5)
    assert read_pool(learning.folder).rounds == [2, 2, 1]
    again = ir.judge_pool(learning.folder, "even", **arguments)
    assert (again.judged, again.before, Even.asked) == (0, 5, 5)


def test_its_rounds_are_those_of_the_page_where_people_judge_the_same(learning, tmp_path):
    other = shutil.copytree(learning.folder, tmp_path / "other")
    result = ir.judge_pool(learning.folder, "even", collection=tmp_path / "small", grades=GRADES)
    by_machine = read_judgments(result.path)
    with Store.open(other, learning.id) as store:
        round_pool = read_pool(other)
        while round_pool:
            placed = {
                (topic, item.document)
                for topic in round_pool.topics
                for item in round_pool.items(topic)
            }
            for j in by_machine:
                if (j.topic, j.document) in placed:  # the same click twice is one
                    click = f"click on {j.topic} {j.document}"
                    store.judge(j.topic, j.document, ANN, j.grade, request=click)
            round_pool = grown(round_pool)
    assert (other / "pool.tsv").read_bytes() == (learning.folder / "pool.tsv").read_bytes()


def test_documents_that_stay_unjudged_do_not_hold_up_a_round(learning, tmp_path):
    arguments = {"collection": tmp_path / "small", "grades": GRADES}
    settings = {"unjudged": ["d1", "d2", "d3"]}
    result = ir.judge_pool(learning.folder, "even", settings=settings, **arguments)
    assert (result.judged, result.unjudged) == (0, 5)
    assert not result.path.exists()


def test_people_go_first_where_a_pool_learns(learning, tmp_path, monkeypatch):
    (topic, *_), calls = learning.topics, []
    document = learning.items(topic)[0].document
    with Store.open(learning.folder, learning.id) as store:
        store.judge(topic, document, ANN, 7, request="click-of-ann")
    monkeypatch.setattr(machines, "next_batch", lambda folder, judged: calls.append(judged))
    ir.judge_pool(learning.folder, "even", collection=tmp_path / "small", grades=GRADES)
    (judgments,) = calls
    assert judgments[topic][document] == 7
    assert sum(map(len, judgments.values())) == 2


class Learner(Judge):
    """Gives the most frequent grade of the documents that it was fitted on."""

    def fit(self, judged, grades):
        all_grades = [grade for _, _, topic_grades in judged for grade in topic_grades]
        self.usual = max({*all_grades}, key=all_grades.count)

    def judge(self, topic, documents, grades):
        return [self.usual] * len(documents)

    def version(self, grades):
        return f"usual:{self.usual}"


def test_the_topics_that_it_is_fitted_on_are_in_its_version(judge, tmp_path):
    people = write(
        tmp_path / "ann.jsonl", judged(ANN, "q1", {"d1": 1, "d2": 1}), judged(ANN, "q2", {"d3": 0})
    )
    with ir.register("learner", Learner):
        result = judge("learner", fit_on=people, fit_topics="q1")
        assert result.source == Source("machine", "learner", "usual:1 fitted-on:q1")
        assert result.source.fitted_on == {"q1"}
        assert judge("learner", fit_on=people).source.fitted_on == {"q1", "q2"}
        with pytest.raises(InputError, match="cannot be fitted on topic q3: no person"):
            judge("learner", fit_on=people, fit_topics="q3")
    with pytest.raises(InputError, match=r"Even does not learn .*: leave out fit_on="):
        judge(fit_on=people)


def test_agree_leaves_out_the_topics_of_the_pool_that_it_was_fitted_on(judge, pool):
    write(pool / "ann.jsonl", judged(ANN, "q1", {"d1": 1, "d2": 0}), judged(ANN, "q2", {"d3": 0}))
    with ir.register("learner", Learner):
        judge("learner", fit_topics="q1")
    agreement = ir.agree_judges(pool, samples=100)
    assert agreement.of_grades.documents == 1


def test_a_collection_object_stands_where_its_name_can(judge, tmp_path):
    collection = ir.collection(tmp_path / "small")
    assert isinstance(collection, Collection)
    assert judge(collection=collection).judged == 3
