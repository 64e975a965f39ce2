"""Where candidates come from: retrievers, judgments, or a run file."""

import hashlib
import os
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest
from small_files import piped

from irplatform.collection_resources import CollectionResources
from irplatform.data import Collection
from irplatform.errors import InputError
from irplatform.plugin import Options, Retriever, Topic
from irplatform.registry.registration import Plugin, Registration
from irplatform.retrieval.first_stage import FirstStage
from irplatform.retrieval.retrievers import ChosenRetriever
from irplatform.runs import Ranking, Run
from irplatform.runs import run as run_module
from irplatform.runs.run import restrict

pytestmark = pytest.mark.usefixtures("fresh_home")

TOPICS = [Topic("1", "a"), Topic("2", "b"), Topic("3", "nobody judged it")]
QRELS = {"1": {"e": 1, "b": 0, "x": 2}, "2": {"c": 0, "a": -1, "lost": 1}, "9": {"a": 1}}
DOCUMENTS = set("abcdexyz")


class Indexed(CollectionResources):
    """Resources of an index that is a set of ids."""

    def index_artifact(self):
        return SimpleNamespace(fingerprint="index")

    def index(self):
        return SimpleNamespace(missing=lambda ids: {*ids} - {*DOCUMENTS}, count=len(DOCUMENTS))


def _ranking(ids):
    return Ranking.of(list(ids), [float(len(ids) - i) for i in range(len(ids))])


def _retriever(documents, name="one"):
    class Found(Retriever):
        def retrieve(self, topics, depth, resources):
            return Run(name, {t.id: _ranking(documents[t.id]).top(depth) for t in topics})

    return ChosenRetriever(
        Registration(name, "retriever", Found, {}, Plugin("p", "d", "1")), Options()
    )


ONE = _retriever({"1": "abcde", "2": "cba", "3": "a"})
TWO = _retriever({"1": "edx", "2": "", "3": "b"}, "two")


RESOURCES = Indexed(corpus=None, device="cpu", seed=1, threads=1)


def _collection(qrels=QRELS, topics=TOPICS, **more):
    load_qrels = (lambda: qrels) if qrels else None
    return Collection("c", "C", None, lambda: topics, load_qrels=load_qrels, **more)


def _stage(source, *choices, depth=4, rerank_depth=2):
    return FirstStage(source=str(source), choices=choices, depth=depth, rerank_depth=rerank_depth)


def _found(source, *choices, names=(), collection=None, **depths):
    stage = _stage(source, *choices, **depths)
    return stage.candidates(collection or _collection(), RESOURCES, names)


def _ids(candidates):
    return {topic: "".join(ids) for topic, ids in candidates.per_topic.items()}


def test_retrieved_candidates_are_the_first_documents():
    candidates = _found("retrieved", ONE)
    assert _ids(candidates) == {"1": "ab", "2": "cb", "3": "a"}
    assert "".join(candidates.first.rankings["1"].doc_ids) == "abcd"
    assert candidates.provenance.facts == {"protocol": "retrieved", "rerank_depth": 2}


def test_topics_are_drawn_from_those_with_a_relevant_document_and_keep_their_order():
    topics = [Topic(str(n), "words") for n in range(20)]
    qrels = {topic.id: {"a": int(topic.id) % 4} for topic in topics}
    candidates = _found("retrieved", ONE)
    original = replace(candidates, topics=topics, qrels=qrels)
    assert original.drawn(None, 1) is original
    drawn = [topic.id for topic in original.drawn(6, 1).judged_topics]
    assert len(drawn) == 6
    assert drawn == sorted(drawn, key=int)
    assert all(int(topic) % 4 for topic in drawn)
    assert [topic.id for topic in original.drawn(6, 1).judged_topics] == drawn
    assert [topic.id for topic in original.drawn(6, 2).judged_topics] != drawn
    assert len(original.drawn(15, 1).qrels) == 15  # all that have a relevant one


@pytest.mark.parametrize(
    ("retrievers", "sentence"),
    [((ONE,), "the first 4 of one"), ((ONE, TWO), "the first 4 of one, two")],
)
def test_a_rerank_depth_beyond_the_depth_is_recorded_as_what_it_comes_to(retrievers, sentence):
    provenance = _found("retrieved", *retrievers, rerank_depth=500).provenance
    assert provenance.facts == {"protocol": "retrieved", "rerank_depth": 4}
    assert provenance.sentence == sentence


def test_judged_candidates_are_all_judged_documents_in_the_retrievers_order(capsys):
    candidates = _found("judged", ONE)
    assert _ids(candidates) == {"1": "bex", "2": "c", "3": ""}  # whatever the depths
    assert candidates.first.rankings["1"].doc_ids == ("b", "e", "x")
    facts = {"protocol": "judged", "documents": 4, "missing": 1}
    assert candidates.provenance.facts == facts
    messages = capsys.readouterr().err
    assert "1 of 5 judged documents are not in the collection and are not ranked, lost" in messages
    assert "topics without judged documents: 3" in messages


def test_several_retrievers_rank_the_same_judged_documents():
    candidates = _found("judged", ONE, TWO)
    for run in (*candidates.runs, candidates.first):
        assert {t: set(r.doc_ids) for t, r in run.rankings.items()} == {
            "1": set("bex"),
            "2": {"c"},
            "3": set(),
        }
    assert candidates.first.name == "fused"


def test_judged_runs_are_kept_apart_from_ordinary_ones_and_from_other_judgments():
    marks = [
        _found("retrieved", ONE).fingerprint,
        _found("judged", ONE).fingerprint,
        _found("judged", ONE, collection=_collection({"1": {"a": 1}})).fingerprint,
    ]
    assert len(set(marks)) == 3
    assert _found("judged", ONE).fingerprint == marks[1]


def test_topics_are_searched_in_parts_that_fit_memory(monkeypatch):
    candidates = _found("judged", ONE)
    monkeypatch.setattr(run_module, "HITS_AT_ONCE", 1)
    resources = RESOURCES
    run = run_module.rank_given(
        lambda topics, depth: ONE.registration.create({}).retrieve(topics, depth, resources),
        TOPICS,
        candidates.per_topic,
        resources.index().count,
    )
    assert {t: r.doc_ids for t, r in run.rankings.items()} == candidates.per_topic


def test_documents_that_are_not_found_come_last_by_decreasing_id():
    ranking = restrict(_ranking("abcd"), ["y", "d", "z", "b", "x"])
    assert ranking.doc_ids == ("b", "d", "z", "y", "x")
    assert len(set(ranking.scores[2:].tolist())) == 1
    assert ranking.scores[1] > ranking.scores[2]
    assert restrict(_ranking(""), ["a", "b"]).doc_ids == ("b", "a")
    tied = restrict(Ranking.of(["a"], [5.0]), ["a", "b"])
    assert tied.doc_ids == ("a", "b")


def test_judged_candidates_need_judgments():
    with pytest.raises(InputError, match="'c' has no judgments, which judged takes"):
        _stage("judged").refuse(_collection(None))


@pytest.fixture
def run_file(tmp_path):
    def write(lines, name="theirs.run"):
        path = tmp_path / name
        path.write_text("".join(f"{t} Q0 {d} {r} {s} {g}\n" for t, d, r, s, g in lines))
        return path

    return write


GOOD = [("1", "c", 1, 3, "tag"), ("1", "a", 2, 2, "tag"), ("1", "b", 3, 1, "tag")]


def test_runs_that_come_through_pipes_are_told_apart():
    first = []
    for number in "12":
        lines = f"1 Q0 a 1 {number} tag\n"
        first.append(_found(piped(lines), ONE))
    assert first[0].fingerprint != first[1].fingerprint
    assert first[1].describe()[0]["sha256"] == hashlib.sha256(lines.encode()).hexdigest()


def test_a_run_keeps_the_order_of_its_64_bits_where_documents_are_left_out(run_file):
    scores = {"a": 0.99999999, "c": 0.99999998, "lost": 0.5}
    source = run_file([("1", d, 1, s, "tag") for d, s in scores.items()])
    final = _found(source, ONE).first
    assert list(final.rankings["1"]) == [("a", 0.99999999), ("c", 0.99999998)]


def test_a_run_is_the_first_stage_and_its_first_documents_the_candidates(run_file, capsys):
    source = run_file([*GOOD, ("2", "a", 1, 1, "tag")])
    candidates = _found(source, ONE)
    assert [run.name for run in candidates.runs] == ["tag"]
    assert candidates.first.rankings["1"].doc_ids == ("c", "a", "b")
    assert _ids(candidates) == {"1": "ca", "2": "a", "3": ""}
    assert candidates.provenance.facts["protocol"] == "run"
    assert candidates.provenance.facts["missing"] == 0
    assert "no candidates for topics: 3" in capsys.readouterr().err


def test_a_run_is_written_to_the_depth_and_reranked_to_the_other_depth(run_file, capsys):
    lines = [("1", doc_id, rank, 10 - rank, "tag") for rank, doc_id in enumerate("abcdex", 1)]
    candidates = _found(run_file(lines), ONE, rerank_depth=5)
    (run,) = candidates.runs
    assert run.rankings["1"].doc_ids == tuple("abcd")
    assert _ids(candidates) == {"1": "abcde", "2": "", "3": ""}
    reranked = Run("x", {"1": _ranking("edcbax")})
    assert candidates.cut(reranked).rankings["1"].doc_ids == tuple("edcb")
    message = "topics have up to 6 results; the first 4 (depth=) are written and scored."
    assert message in capsys.readouterr().err
    _found(run_file(GOOD), ONE)
    assert "depth=" not in capsys.readouterr().err


def test_a_run_to_another_depth_is_another_first_stage(run_file):
    source = run_file(GOOD)
    marks = {_found(source, depth=n).fingerprint for n in (2, 3)}
    assert len(marks) == 2


def test_how_many_are_reranked_is_said_where_something_is(run_file):
    source = run_file(GOOD)
    sentence = _found(source, names=["delta"]).provenance.sentence
    assert sentence == f"the first 2 of {source.name}"
    assert _found(source).provenance.sentence == source.name


def test_documents_that_the_collection_lacks_are_left_out_and_counted(run_file, capsys):
    candidates = _found(run_file([("1", "gone", 0, 9, "tag"), *GOOD]))
    assert candidates.first.rankings["1"].doc_ids == ("c", "a", "b")
    assert candidates.provenance.facts["missing"] == 1
    assert "1 of 4 results are not among the documents of 'c'" in capsys.readouterr().err
    assert "1 of its 4 results left out" in candidates.provenance.sentence


def test_a_run_of_other_documents_is_refused(run_file):
    lines = [*GOOD, *(("2", f"gone{n}", n, 1, "tag") for n in range(4))]
    with pytest.raises(InputError, match=r"theirs.run: 4 of its 7 documents are not in 'c', gone0"):
        _found(run_file(lines))


def test_a_run_of_other_topics_is_refused_with_the_line(run_file):
    source = run_file([*GOOD, ("7", "a", 1, 1, "tag")])
    with pytest.raises(InputError, match=r"theirs.run: 'c' has no topic 7; its 3 topics are 1"):
        _stage(source).refuse(_collection())


@pytest.mark.parametrize(
    ("tag", "rerankers", "name"),
    [
        ("tag", (), "tag"),
        ("delta", ("delta",), "theirs"),
        ("../up", (), "theirs"),
        ("delta", ("delta", "theirs"), "theirs-candidates"),
        ("delta-alone", ("delta",), "theirs"),
        ("delta-seed42-alone", ("delta", "theirs"), "theirs-candidates"),
        ("delta-alone", ("mbm",), "delta-alone"),
    ],
)
def test_the_row_of_a_run_has_a_name_of_its_own(run_file, tag, rerankers, name):
    source = run_file([("1", "a", 1, 1, tag)])
    assert _found(source, names=rerankers).first.name == name


def test_other_topics_have_judgments_but_no_run(run_file):
    training = _collection()
    assert _stage("judged").for_training(training) == _stage("judged")
    assert _stage(run_file(GOOD)).for_training(training) == _stage("retrieved")


@contextmanager
def readable_pipe(content):
    """What `<(…)` of a shell gives: a path that can be read once."""
    reading, writing = os.pipe()
    try:
        os.write(writing, content)
        os.close(writing)
        yield f"/dev/fd/{reading}"
    finally:
        os.close(reading)


def test_a_run_may_come_through_a_pipe(run_file):
    with readable_pipe(run_file(GOOD).read_bytes()) as pipe:
        assert FirstStage.parse(pipe).run.name == "tag"


SCORES = {"1": {"a": 0.5, "e": 2.0, "nix": 1.0, "b": 0.5}, "9": {"a": 1.0}}


def _bringing(scores=SCORES):
    return _collection(load_scored=lambda: scores)


def test_the_scored_documents_of_a_collection_are_its_first_stage(capsys):
    candidates = _found("scoreddocs", names=("delta",), collection=_bringing())
    assert _ids(candidates) == {"1": "eb", "2": "", "3": ""}  # the first two, ties by id
    assert candidates.first.name == "scoreddocs"
    assert list(candidates.first.rankings["1"].scores) == [2.0, 0.5, 0.5]
    facts = candidates.provenance.facts
    assert (facts["protocol"], facts["documents"], facts["missing"]) == ("scoreddocs", 3, 1)
    messages = capsys.readouterr().err
    assert "c's scoreddocs: 1 of 4 results are not among the documents" in messages
    assert "no candidates for topics: 2, 3" in messages


def test_scored_documents_without_an_order_are_told_of(capsys):
    _found("scoreddocs", collection=_bringing({"1": {"a": 0.0, "b": 0.0}}))
    assert "c: its scoreddocs all have the same score" in capsys.readouterr().err


def test_a_collection_without_scored_documents_is_refused():
    with pytest.raises(InputError, match=r"'c' brings no candidates \(scoreddocs\)"):
        _stage("scoreddocs").refuse(_collection())
    assert _stage("scoreddocs").for_training(_collection()) == _stage("retrieved")
    assert _stage("scoreddocs").for_training(_bringing()) == _stage("scoreddocs")


def test_a_perfect_reranking_orders_candidates_by_grade_and_leaves_the_rest():
    candidates = replace(_found("retrieved", ONE, rerank_depth=3), qrels={"1": {"c": 2, "b": 1}})
    best = candidates.best_reranking().rankings
    assert "".join(best["1"].doc_ids) == "cbad"  # a is unjudged, d was not among the candidates
    assert "".join(best["2"].doc_ids) == "cba"  # without judgments, as it was


def test_topics_that_are_left_out_may_be_in_a_run_file(run_file):
    source = run_file([("1", "a", 1, 1, "tag"), ("2", "b", 1, 1, "tag")])
    collection = _collection(topics=TOPICS[:1])
    with pytest.raises(InputError, match="'c' has no topic 2"):
        _stage(source).refuse(collection)
    subset = replace(collection, topics_left_out=frozenset("2"))
    assert _ids(_found(source, collection=subset)) == {"1": "a"}


def test_a_retriever_named_as_a_reranker_finds_under_another_name():
    candidates = _found("retrieved", ONE, TWO, names=("two", "three"))
    assert [run.name for run in candidates.runs] == ["one", "two-retriever"]
    alone = _found("retrieved", TWO, names=("two",))
    assert alone.first.name == "two-retriever"


def test_documents_that_a_topic_leaves_out_are_no_candidates_and_the_next_ones_move_up(tmp_path):
    topics = [Topic("1", "a", left_out=("b",)), Topic("2", "b"), Topic("3", "c")]
    collection = _collection(topics=topics, load_scored=lambda: {"1": {"b": 2.0, "c": 1.0}})

    def ids(source):
        return _ids(_found(source, ONE, collection=collection, depth=3, rerank_depth=3))

    assert ids("retrieved") == {"1": "acd", "2": "cba", "3": "a"}
    assert set(ids("judged")["1"]) == {"e", "x"}
    path = tmp_path / "given.run"
    path.write_text("1 Q0 b 1 3 t\n1 Q0 a 2 2 t\n2 Q0 b 1 1 t\n")
    assert ids(path) == {"1": "a", "2": "b", "3": ""}
    assert ids("scoreddocs")["1"] == "c"
