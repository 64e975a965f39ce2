"""`platform explain`: what it tells, of which system, and what it refuses."""

import json
import re

import pytest

from irplatform.plugin import Reranker, TrainableReranker
from irplatform.queries import explain as explaining
from irplatform.registry.loading import registry
from irplatform.registry.registration import Registration

TOPICS = [f"q{n}" for n in range(12)]


class Telling(Reranker):
    """Counts the topic's words in titles, and says which."""

    def score(self, topic, documents):
        return [float(len(self.shared_words(topic, document))) for document in documents]

    def explain(self, topic, documents):
        return [
            {"score": len(self.shared_words(topic, d)), "shared": self.shared_words(topic, d)}
            for d in documents
        ]

    @staticmethod
    def shared_words(topic, document):
        return sorted(set(topic.query.lower().split()) & set(document.title.lower().split()))


class Lowering(Telling):
    """Scores that depend on those of all candidates."""

    def rescore(self, topic, documents, scores):
        return [score - max(scores) - 2 for score in scores]


class Silent(Telling):
    """Explains too few documents."""

    def explain(self, topic, documents):
        return []


class Vague(Telling):
    """Explains without a score."""

    def explain(self, topic, documents):
        return [{"why": "so"} for _ in documents]


class Wordy(Telling):
    """Explains with a score in words."""

    def explain(self, topic, documents):
        return [{"score": "1.5"} for _ in documents]


class Absent(Telling):
    """Explains with nothing."""

    def explain(self, topic, documents):
        return None


class Learning(TrainableReranker):
    """Scores with the number of topics that it learned from, and the seed of its member."""

    def prepare(self, resources):
        self.seed = resources.seed

    def fit(self, data):
        self.known = sorted(t.topic.id for t in data.training)

    def score(self, topic, documents):
        return [float(self.seed % 10) for _ in documents]

    def explain(self, topic, documents):
        return [{"score": float(self.seed % 10), "knows": self.known} for _ in documents]

    def save(self, folder):
        (folder / "known.json").write_text(json.dumps([self.known, self.seed]))

    def load(self, folder):
        self.known, self.seed = json.loads((folder / "known.json").read_text())


class Mute(Reranker):
    """Has nothing to tell."""

    def score(self, topic, documents):
        return [0.0 for _ in documents]


@pytest.fixture(autouse=True)
def rerankers(monkeypatch):
    plugin = registry().reranker("lexical").plugin
    for reranker in (Telling, Lowering, Silent, Vague, Absent, Wordy, Learning, Mute):
        name = reranker.__name__.lower()
        registration = Registration(name, "reranker", reranker, {}, plugin)
        monkeypatch.setitem(registry().rerankers, name, registration)


@pytest.fixture
def explain(platform):
    def call(reranker, *arguments, topic="q1", collection="small"):
        system = ("--collection", collection, "--reranker", reranker, "--topic", topic)
        return platform("explain", *system, *arguments)

    return call


@pytest.fixture
def many_topics(folder):
    """Enough to cross-validate."""
    topics = "".join(json.dumps({"_id": t, "text": f"crizotinib {t}"}) + "\n" for t in TOPICS)
    (folder / "small" / "queries.jsonl").write_text(topics)
    (folder / "small" / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join(f"{t}\td1\t1\n" for t in TOPICS)
    )


@pytest.mark.java
def test_it_tells_rank_grade_and_explanation_of_any_document(explain):
    answer = explain("telling", "--doc", "d1", "--doc", "d2", "--json").json
    assert answer["topic"]["query"] == "crizotinib"
    document, other = answer["documents"]
    assert document["title"] == "Crizotinib in lung cancer"
    assert document["grade"] == 1
    assert document["first_stage"]["rank"] == document["reranker"]["rank"] == 1
    assert document["explanation"] == {"score": 1, "shared": ["crizotinib"]}
    assert other["grade"] is None
    assert other["first_stage"] == {"rank": None, "score": None}
    assert other["reranker"] == {
        "rank": None,
        "score": 0.0,
        "among_candidates": None,
        "members": [0.0],
    }


@pytest.mark.java
def test_a_report_has_explanations_as_far_as_the_cache_goes(platform, folder, monkeypatch):
    run = ("run", "--collection", "small", "--reranker", "telling", "--run-dir", "r")
    assert platform(*run, "--html", "r/report.html").err.endswith(
        "report: r/report.html\nruns and scores: r\n"
    )

    def page():
        return (folder / "r" / "report.html").read_text(encoding="utf-8")

    match = re.search(r'"explanations":(\{"telling".*?\}\})', page())
    (text,) = json.loads(match[1])["telling"].values()
    assert text.split() == ["score", "1", "shared", "crizotinib"]
    assert platform("report", "r", "--no-explain").code == 0
    assert '"telling":{' not in page()
    monkeypatch.setenv("IRPLATFORM_HOME", str(folder / "empty"))
    assert platform("report", "r").code == 0
    lacking = page()
    assert '"telling":{' not in lacking
    assert re.search(r"telling explains no scores here: .* is not in the cache\.", lacking)
    assert "Crizotinib in lung cancer" in lacking  # the documents are few enough to read
    assert not (folder / "empty" / "index").exists()


@pytest.mark.java
def test_as_text(explain):
    lines = explain("telling", "--doc", "d1", "--doc", "d3").out.splitlines()
    assert lines[0] == "topic q1: crizotinib"
    start = lines.index("document d1: Crizotinib in lung cancer")
    assert lines[start + 1].startswith("  grade 1; first stage: 1 (")
    assert lines[start + 1].endswith("telling: 1 of 1 (1.0000); mixed: 1")
    assert lines[start + 3] == "  shared  crizotinib"
    assert "  not judged; first stage: not found; telling would give it 0.0000" in lines


@pytest.mark.java
def test_scores_that_depend_on_other_candidates_are_told_before_and_after(explain):
    arguments = ("lowering", "--doc", "d1")
    (document,) = explain(*arguments, "--json").json["documents"]
    assert document["reranker"]["score"] == 1
    assert document["reranker"]["among_candidates"] == -2
    assert "lowering: 1 of 1 (-2.0000; 1.0000 by itself); mixed: 1" in explain(*arguments).out


@pytest.mark.java
def test_a_title_keeps_its_line(explain, folder):
    document = {"_id": "d1", "title": "Crizotinib\tand\nmore", "text": "ALK."}
    (folder / "small" / "corpus.jsonl").write_text(json.dumps(document) + "\n")
    lines = explain("telling", "--doc", "d1").out.splitlines()
    assert "document d1: Crizotinib and more" in lines


@pytest.mark.java
def test_of_a_title_that_is_a_whole_text_the_beginning_is_shown(explain, folder):
    document = {"_id": "d1", "title": "Crizotinib " * 1000, "text": "ALK."}
    (folder / "small" / "corpus.jsonl").write_text(json.dumps(document) + "\n")
    (line,) = (text for text in explain("telling", "--doc", "d1").out.splitlines() if "d1:" in text)
    assert len(line) < 330
    assert line.endswith(" …")


@pytest.mark.java
def test_a_document_without_title_is_told_by_its_id(explain, folder):
    document = {"_id": "d1", "title": "", "text": "Crizotinib."}
    (folder / "small" / "corpus.jsonl").write_text(json.dumps(document) + "\n")
    assert "document d1" in explain("telling", "--doc", "d1").out.splitlines()


@pytest.mark.java
@pytest.mark.usefixtures("many_topics")
def test_the_system_is_the_one_that_never_saw_the_topic_and_the_member_a_typical_one(explain):
    answer = explain("learning", "--doc", "d1", "--json", topic="q3").json
    (document,) = answer["documents"]
    scores = document["reranker"]["members"]
    assert len(scores) == answer["members"] > 1
    assert document["reranker"]["score"] == pytest.approx(sum(scores) / len(scores))
    nearest = min(scores, key=lambda score: abs(score - sum(scores) / len(scores)))
    assert document["explanation"]["score"] == nearest
    assert "q3" not in document["explanation"]["knows"]
    first = explain("learning", "--doc", "d1", "--member", "1", "--json", topic="q3").json
    assert first["documents"][0]["explanation"]["score"] == scores[0]


@pytest.mark.usefixtures("many_topics")
def test_a_member_that_there_cannot_be_is_refused_before_anything_is_built(explain, monkeypatch):
    def build(*_args, **_kwargs):
        raise AssertionError("an index was built")

    monkeypatch.setattr(explaining, "refuse_broken_corpus", build)
    arguments = ("--doc", "d1", "--interpolate", "0", "--member")
    single = explain("telling", *arguments, "2")
    assert (single.code, single.err) == (
        2,
        "platform: --member 2: 'telling' has one member alone.\n",
    )
    several = explain("learning", *arguments, "9", "--members", "3")
    assert several.code == 2
    assert several.err.endswith("platform: --member 9: 'learning' has the members 1 to 3.\n")


@pytest.mark.java
@pytest.mark.usefixtures("many_topics")
def test_a_member_that_too_few_topics_leave_no_room_for_is_refused(explain):
    arguments = ("--members", "12", "--member", "12")
    outcome = explain("learning", "--doc", "d1", *arguments, topic="q3")
    assert (outcome.code, "'learning' has the members 1 to 9." in outcome.err) == (2, True)


@pytest.mark.java
@pytest.mark.parametrize(
    ("reranker", "message"),
    [
        ("silent", "explained 0 documents, not 1."),
        ("absent", "explained 1 document with NoneType; a list with a mapping for each is needed"),
        ("wordy", "not JSON with a score: TypeError: the score '1.5' is not a number"),
        ("vague", "explained document d1 with something that is not JSON with a score"),
    ],
)
def test_a_plugin_that_breaks_the_contract_is_named(explain, reranker, message):
    outcome = explain(reranker, "--doc", "d1")
    assert outcome.code == 1
    assert f"reranker '{reranker}'" in outcome.err
    assert message in outcome.err


def test_a_reranker_that_explains_nothing_is_refused_before_any_work(explain):
    outcome = explain("mute", "--doc", "d1")
    assert outcome.code == 2
    assert "reranker 'mute' does not explain its scores. Those that do: " in outcome.err
    assert "telling" in outcome.err


def test_an_unknown_topic_is_refused_with_the_nearest(explain):
    outcome = explain("telling", "--doc", "d1", topic="q11")
    assert outcome.code == 2
    assert "'q11' is not a topic of 'small-test'. Did you mean 'q1'?" in outcome.err


@pytest.mark.java
def test_an_unknown_document_is_refused_with_a_hint(explain):
    outcome = explain("telling", "--doc", "d9")
    assert outcome.code == 2
    assert "'small-test' has no document 'd9'" in outcome.err
    assert "platform search --collection small --topic q1" in outcome.err
