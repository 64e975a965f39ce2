"""Machines that judge a pool: what is written, what goes on later, what is refused."""

import json

import pytest
from sourced_judgments import ANN, judged, make_pool, write

import irplatform as ir
from irplatform.data import Collection
from irplatform.errors import InputError, PluginError
from irplatform.judging import machines
from irplatform.judging.judgments import Source, read_judgments
from irplatform.judging.machines import Prices
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
        given = {"collection": tmp_path / "small", "grades": GRADES, **options}
        return ir.judge_pool(pool, name, **given)

    return judge


def test_its_judgments_are_in_a_file_of_the_pool_with_their_source(judge, pool):
    done = judge()
    assert (done.judged, done.before, done.unjudged, done.absent) == (3, 0, 0, 0)
    found = read_judgments(pool / "even.jsonl")
    assert [(j.topic, j.document, j.grade) for j in found] == [
        ("q1", "d1", 1),
        ("q1", "d2", 0),
        ("q2", "d3", 0),
    ]
    (source,) = {j.source for j in found}
    assert (source.kind, source.name) == ("machine", "even")
    assert source.version.startswith("options:")
    assert {j.pool for j in found} == {"p1"}


def test_what_it_has_judged_is_not_judged_again(judge, pool):
    judge()
    written = (pool / "even.jsonl").read_bytes()
    again = judge()
    assert (again.judged, again.before, Even.asked) == (0, 3, 3)
    assert (pool / "even.jsonl").read_bytes() == written


def test_with_other_options_it_is_another_source(judge, pool):
    judge(), judge(settings={"unjudged": ["d9"]})
    assert Even.asked == 6
    assert len({j.source for j in read_judgments(pool / "even.jsonl")}) == 2


def test_what_stays_unjudged_is_counted_and_asked_again(judge, pool):
    done = judge(settings={"unjudged": ["d2"]})
    assert (done.judged, done.unjudged) == (2, 1)
    again = judge(settings={"unjudged": ["d2"]})
    assert (again.judged, again.before, again.unjudged, Even.asked) == (0, 2, 1, 4)


def test_an_interruption_keeps_what_was_judged(judge, pool):
    with pytest.raises(KeyboardInterrupt):
        judge(settings={"fails": True})
    assert len(read_judgments(pool / "even.jsonl")) == 2
    assert judge(settings={"fails": True}, estimate=True).before == 2


def test_an_estimate_judges_nothing_and_says_the_price(judge, pool, capsys):
    prices = Prices(2, 1000)
    told = judge(estimate=True, prices=prices)
    assert prices.told(told.expected) == "3,000 tokens read, 3 written, 0.01"
    assert Even.asked == 0
    assert not (pool / "even.jsonl").exists()
    assert capsys.readouterr().err == ""
    judge(prices=prices)
    said = capsys.readouterr().err
    assert "3 documents to judge by even options:" in said
    assert "about 3,000 tokens read, 3 written, 0.01" in said


def test_without_prices_tokens_alone_are_told(judge, capsys):
    done = judge()
    assert (done.spent, done.price) == (Judge.Tokens(900, 3), 0)
    assert capsys.readouterr().err.rstrip().endswith("3,000 tokens read, 3 written")


def test_the_grades_are_those_by_which_people_judge_the_pool(judge, pool):
    with Store.open(pool, "p1") as store:
        store.write_setting("grades", json.dumps({0: "no", 1: "yes"}))
    with_grades_of_people = judge(grades=None).source
    assert with_grades_of_people == judge(grades="0=no,1=yes").source != judge().source


def test_a_collection_without_grades_asks_for_them(judge):
    with pytest.raises(InputError, match="does not define its grades: give grades="):
        judge(grades=None)


def test_documents_that_the_collection_lacks_are_left_out_and_counted(judge, pool):
    with (pool / "pool.tsv").open("a") as file:
        file.write("q2\tgone\t1\t2\n")
    done = judge()
    assert (done.judged, done.absent) == (3, 1)


def test_topics_that_the_collection_lacks_are_an_error(judge, pool):
    with (pool / "pool.tsv").open("a") as file:
        file.write("q9\td1\t1\t1\n")
    with pytest.raises(InputError, match="lacks topics of the pool: q9"):
        judge()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([0], "returned 1 grade for 2 documents of topic q1"),
        ([0, 7], "gave 7 for topic q1; a grade is None or one of 0, 1"),
        ([0, True], "gave True for topic q1"),
        ([0, "1"], "gave '1' for topic q1"),
        ("01", "returned str from judge"),
        (None, "returned NoneType from judge"),
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
        machines._alone(pool / "even.jsonl"),
        pytest.raises(InputError, match="another process judges this pool with this judge"),
    ):
        judge()


class Learner(Judge):
    """Gives the most frequent grade of the documents that it was fitted on."""

    def fit(self, judged, grades):
        given = [grade for _, _, own in judged for grade in own]
        self.usual = max({*given}, key=given.count)

    def judge(self, topic, documents, grades):
        return [self.usual] * len(documents)

    def version(self, grades):
        return f"usual:{self.usual}"


def test_the_topics_that_it_is_fitted_on_are_in_its_version(judge, tmp_path):
    people = write(
        tmp_path / "ann.jsonl", judged(ANN, "q1", {"d1": 1, "d2": 1}), judged(ANN, "q2", {"d3": 0})
    )
    with ir.register("learner", Learner):
        done = judge("learner", fit_on=people, fit_topics="q1")
        assert done.source == Source("machine", "learner", "usual:1 fitted-on:q1")
        assert done.source.fitted_on == {"q1"}
        assert judge("learner", fit_on=people).source.fitted_on == {"q1", "q2"}
        with pytest.raises(InputError, match="no person judged topic q3"):
            judge("learner", fit_on=people, fit_topics="q3")
    with pytest.raises(InputError, match="Even does not learn from judged documents"):
        judge(fit_on=people)


def test_agree_leaves_out_the_topics_that_it_was_fitted_on(judge, pool):
    write(pool / "ann.jsonl", judged(ANN, "q1", {"d1": 1, "d2": 0}), judged(ANN, "q2", {"d3": 0}))
    with ir.register("learner", Learner):
        judge("learner", fit_on=pool, fit_topics="q1")
    found = ir.agree_judges(pool, samples=100)
    assert found.of_grades.documents == 1


def test_a_collection_object_stands_where_its_name_can(judge, tmp_path):
    collection = ir.collection(tmp_path / "small")
    assert isinstance(collection, Collection)
    assert judge(collection=collection).judged == 3
