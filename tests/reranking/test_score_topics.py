"""The rerank loop: what it accepts of a plugin, resumes, and does when memory runs out."""

import re

import numpy as np
import pytest
import torch
from small import SmallResources, registration

from irplatform.errors import PlatformError, PluginError
from irplatform.files.journals import read_journal
from irplatform.plugin import Reranker, Topic
from irplatform.registry.plugin_calls import plugin_call
from irplatform.reranking import scoring
from irplatform.reranking.scoring import rescore_topics, score_topics

TOPICS = [Topic(f"t{n}", "query") for n in range(5)]
CANDIDATES = {f"t{n}": [f"d{n}{i}" for i in range(3 + n)] for n in range(5)}
WHO = r"reranker 'ranker' of plugin 'strange' \(strange-distribution 1.2\)"


def _value(topic_id, doc_id):
    return float(sum(map(ord, topic_id + doc_id)) % 17) / 7


class Sound(Reranker):
    """Scores by the ids; remembers what it was asked."""

    def __init__(self, options=None):
        super().__init__(options)
        self.asked = []

    def score(self, topic, documents):
        self.asked.append(topic.id)
        return [_value(topic.id, document.id) for document in documents]


def _score(*members, topics=TOPICS, journal=None, candidates=CANDIDATES):
    kind = type(members[0])
    return score_topics(
        registration(kind), members, topics, candidates, SmallResources(), journal=journal
    )


def _expected():
    return {t: [_value(t, d) for d in documents] for t, documents in CANDIDATES.items()}


def _lists(scores):
    return {topic: values.tolist() for topic, values in scores.items()}


def test_every_candidate_of_every_topic_is_scored_in_order():
    scores = _score(Sound())
    assert list(scores) == [topic.id for topic in TOPICS]
    assert _lists(scores) == _expected()


class Careless(Sound):
    """Changes what it is given."""

    def score_batch(self, batch):
        scores = super().score_batch(batch)
        for topic, _ in batch:
            object.__setattr__(topic, "query", "")
            object.__setattr__(topic, "fields", {})
        return scores


def test_what_a_reranker_does_to_topics_is_seen_by_nobody_else():
    before = [topic.describe() for topic in TOPICS]
    _score(Careless())
    assert [topic.describe() for topic in TOPICS] == before


@pytest.mark.parametrize("size", [1, 4, 9, 10_000])
def test_batches_do_not_change_scores(monkeypatch, size):
    monkeypatch.setattr(scoring, "BATCH_DOCUMENTS", size)
    assert _lists(_score(Sound())) == _expected()


def test_the_order_of_topics_does_not_change_scores():
    assert _lists(_score(Sound(), topics=TOPICS[::-1])) == _expected()


def test_what_a_reranker_makes_of_all_candidates_scores_is_checked():
    class Halving(Sound):
        def rescore(self, topic, documents, scores):
            return [score / 2 for score in scores]

    class Short(Sound):
        def rescore(self, topic, documents, scores):
            return scores[1:]

    def changed(kind):
        arguments = kind(), TOPICS, CANDIDATES, _score(Sound()), SmallResources()
        return _lists(rescore_topics(registration(kind), *arguments))

    assert changed(Sound) == _expected(), "by default nothing"
    halved = {t: [value / 2 for value in values] for t, values in _expected().items()}
    assert changed(Halving) == halved
    with pytest.raises(PluginError, match=f"{WHO} returned 2 scores for the 3 documents"):
        changed(Short)


def test_a_topic_without_candidates_is_not_compared_with_itself():
    class ByTheBest(Sound):
        def rescore(self, topic, documents, scores):
            return [score - max(scores) for score in scores]

    candidates = {**CANDIDATES, "t2": []}
    scores = _score(Sound(), candidates=candidates)
    arguments = ByTheBest(), TOPICS, candidates, scores, SmallResources()
    changed = rescore_topics(registration(ByTheBest), *arguments)
    assert changed["t2"].shape == (0,)
    assert all(max(changed[t.id]) == 0 for t in TOPICS if t.id != "t2")


def test_members_are_averaged():
    class Other(Sound):
        def score(self, topic, documents):
            return [3.0] * len(documents)

    assert _lists(_score(Sound(), Other())) == {
        t: [(value + 3.0) / 2 for value in values] for t, values in _expected().items()
    }


def test_a_topic_without_candidates_is_not_asked_about():
    sound = Sound()
    scores = _score(sound, candidates={**CANDIDATES, "t2": []})
    assert scores["t2"].shape == (0,)
    assert "t2" not in sound.asked


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([1.0], f"{WHO} returned 1 score for the 5 documents of topic t2"),
        ([1.0] * 6, f"{WHO} returned 6 scores for the 5 documents"),
        ([[1.0]] * 5, rf"{WHO} returned numbers of shape \(5, 1\) for topic t2; a number for each"),
        ([1, 2, float("nan"), 4, 5], f"{WHO} gave document d22 of topic t2 the score nan"),
        ([1, 2, 3, 4, float("inf")], f"{WHO} gave document d24 of topic t2 the score inf"),
        (
            [1, 2, 3, 4, -1e300],
            f"{WHO} gave document d24 of topic t2 the score -1e\\+300; .* 32-bit",
        ),
        (["a"] * 5, f"{WHO} returned no numbers for topic t2"),
        (["1.5"] * 5, f"{WHO} returned no numbers for topic t2: TypeError: '1.5' is not a number"),
        (
            [None, 1.0, 2.0, 3.0, 4.0],
            f"{WHO} returned no numbers for topic t2: .*None is not a number",
        ),
        ("1" * 80, rf"{WHO} returned no numbers for topic t2: .*: '1+\.\.\.1+' is not a number"),
        (b"1" * 80, rf"{WHO} returned no numbers for topic t2: .*: b'1+\.\.\.1+' is not a number"),
        (
            [1, 2, 3, 4, "5"],
            f"{WHO} returned no numbers for topic t2: TypeError: '5' is not a number",
        ),
        (
            np.ones(5, complex),
            rf"{WHO} returned no numbers for topic t2: .*\(1\+0j\) is not a number",
        ),
        ([None] * 5, f"{WHO} returned no numbers for topic t2: .*None is not a number"),
        ([10**400] * 5, f"{WHO} returned no numbers for topic t2: OverflowError"),
        (None, f"{WHO} returned None for topic t2; a number for each of its 5 documents is needed"),
        (7.0, f"{WHO} returned one float for topic t2; a number for each"),
        ({}, f"{WHO} returned no numbers for topic t2"),
    ],
    ids=str,
)
def test_anything_but_a_finite_number_per_document_names_the_plugin(returned, message):
    class Unsound(Sound):
        def score(self, topic, documents):
            return returned if topic.id == "t2" else super().score(topic, documents)

    with pytest.raises(PluginError, match=message):
        _score(Unsound())


def test_a_batch_must_come_back_whole():
    class Forgetful(Sound):
        def score_batch(self, batch):
            return super().score_batch(batch)[:-1]

    with pytest.raises(PluginError, match=f"{WHO} returned scores for 4 topics, not 5"):
        _score(Forgetful())


def test_a_batch_is_the_rerankers_own():
    class Consuming(Sound):
        def score_batch(self, batch):
            return [self.score(*batch.pop(0)) for _ in range(len(batch))]

    assert _lists(_score(Consuming())) == _expected()


def test_a_tensor_with_gradients_is_no_list_of_numbers():
    class Differentiable(Sound):
        def score(self, topic, documents):
            return torch.ones(len(documents), requires_grad=True)

    with pytest.raises(PluginError, match=f"{WHO} returned no numbers for topic t0: .*grad"):
        _score(Differentiable())


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda scores: None, "None from score_batch; a list with the scores of each topic is"),
        (lambda scores: (one for one in scores), "one generator from score_batch"),
        (lambda scores: dict(enumerate(scores)), "one dict from score_batch"),
    ],
)
def test_a_batch_comes_back_as_a_list(returned, message):
    class Odd(Sound):
        def score_batch(self, batch):
            return returned(super().score_batch(batch))

    with pytest.raises(PluginError, match=f"{WHO} returned {message}"):
        _score(Odd())


def test_a_batch_may_come_back_as_a_tuple_or_an_array():
    class Even(Sound):
        def score_batch(self, batch):
            return tuple(map(np.array, super().score_batch(batch)))

    assert _lists(_score(Even())) == _expected()


class Small(Sound):
    """Cannot hold more than four documents at once."""

    error: Exception = RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")

    def score_batch(self, batch):
        if sum(len(documents) for _, documents in batch) > 4:
            raise self.error
        return super().score_batch(batch)


CUBLAS = RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")


def _torchs_own_error():
    try:
        torch.empty(10**15)
    except RuntimeError as error:
        return error
    return None


@pytest.mark.parametrize(
    "error", [Small.error, CUBLAS, MemoryError(), _torchs_own_error()], ids=repr
)
def test_when_memory_runs_out_less_is_scored_at_a_time(error):
    member = Small()
    member.error = error
    assert _lists(_score(member)) == _expected()
    assert member.asked.count("t4") == 2  # seven documents, in two halves


def test_one_document_that_does_not_fit_is_an_error():
    class Tiny(Small):
        def score_batch(self, batch):
            raise MemoryError

    with pytest.raises(PlatformError, match="not enough memory to score one document"):
        _score(Tiny())


@pytest.mark.parametrize("error", [Small.error, MemoryError()], ids=repr)
def test_who_needs_the_memory_within_a_reranker_is_named(error):
    class Nested(Small):
        def score_batch(self, batch):
            with plugin_call("feature group 'wide'", "computing", __name__):
                raise error

    message = f"feature group 'wide' failed computing: {type(error).__name__}"
    with pytest.raises(PlatformError, match=message):
        _score(Nested())


def test_what_a_reranker_asks_of_others_is_halved_when_memory_runs_out_there():
    class Nested(Small):
        def score_batch(self, batch):
            with plugin_call("feature group 'wide'", "computing", __name__):
                return super().score_batch(batch)

    assert _lists(_score(Nested())) == _expected()


def test_other_errors_of_a_reranker_are_not_taken_for_lack_of_memory():
    class Failing(Sound):
        def score(self, topic, documents):
            raise RuntimeError("shape mismatch")

    with pytest.raises(PluginError, match="RuntimeError: shape mismatch") as caught:
        _score(Failing())
    assert "reranker 'ranker' of plugin 'strange' (strange-distribution 1.2)" in str(caught.value)
    assert re.search(r"test_score_topics\.py:\d+, in score\)$", str(caught.value))


class Interrupted(Sound):
    def score(self, topic, documents):
        if topic.id == "t3":
            raise KeyboardInterrupt
        return super().score(topic, documents)


@pytest.fixture
def journal(tmp_path, monkeypatch):
    """The journal of a reranking that was interrupted at the fourth of five topics."""
    monkeypatch.setattr(scoring, "BATCH_DOCUMENTS", 1)
    path = tmp_path / "journal.jsonl"
    with pytest.raises(KeyboardInterrupt):
        _score(Interrupted(), journal=path)
    return path


def test_an_interrupted_reranking_goes_on_where_it_stopped(journal):
    sound = Sound()
    assert _lists(_score(sound, journal=journal)) == _expected()
    assert sound.asked == ["t3", "t4"]


@pytest.mark.parametrize("cut", [1, 2, 10])
def test_a_line_that_a_kill_cut_short_is_scored_again(journal, cut):
    content = journal.read_bytes()
    journal.write_bytes(content[:-cut])
    sound = Sound()
    assert _lists(_score(sound, journal=journal)) == _expected()
    assert sound.asked == ["t2", "t3", "t4"]
    assert read_journal(journal, lambda entry: entry["topic"]) == [f"t{n}" for n in range(5)]


def test_nothing_after_a_damaged_line_is_trusted(journal):
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + b'{"topic": "t1", "sco\n' + lines[2])
    sound = Sound()
    assert _lists(_score(sound, journal=journal)) == _expected()
    assert sound.asked == ["t1", "t2", "t3", "t4"]


def test_scores_of_other_candidates_are_not_reused(journal):
    sound = Sound()
    changed = {**CANDIDATES, "t1": ["d10"]}
    assert _score(sound, journal=journal, candidates=changed)["t1"].shape == (1,)
    assert sound.asked[0] == "t1"


def test_the_journal_keeps_every_bit(tmp_path):
    values = np.array([1 / 3, 1e-300, -2.5e17])

    class Odd(Sound):
        def score(self, topic, documents):
            self.asked.append(topic.id)
            return values

    only = {"topics": TOPICS[:1], "journal": tmp_path / "journal"}
    _score(Odd(), **only)
    again = Odd()
    assert _score(again, **only)["t0"].tobytes() == values.tobytes()
    assert again.asked == []
