"""The dual encoder as a retriever: the rerankers' scores, of models that never saw the topic."""

import numpy as np
import pytest
import torch
from checkpoints import described
from small import chosen, small_resources, words

from irplatform.errors import InputError
from irplatform.plugin import Reads, Topic
from irplatform.training.text_pairs import PairsOfTopics
from irplatform.training.weights import WeightFile
from irplatform_encoders.dual_encoder import Learned
from irplatform_encoders.dual_ranking import DualEncoder, DualEncoderSearch, shares_of
from irplatform_encoders.options import DualOptions, DualSearchOptions

VOCABULARY = words(120)


@pytest.fixture
def resources(tmp_path):
    random = np.random.default_rng(2)
    texts = {f"d{n:03}": " ".join(random.choice(VOCABULARY, 8)) for n in range(200)}
    texts["empty"] = ""
    vectors = {word: random.normal(size=16) for word in VOCABULARY}
    stand_in = small_resources(tmp_path / "forward", texts, vectors)
    stand_in.notices = []
    stand_in.notice = stand_in.notices.append
    return stand_in


def _member(resources, seed, queries=()):
    """A model with weights of its own, that learned from some queries."""
    import torch

    member = DualEncoder(DualOptions(words="fixed", projection=8, stored_documents=0))
    member.prepare(resources)
    torch.manual_seed(seed)
    with torch.no_grad():
        for parameter in member.encoder.network.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    member.learned = Learned.of(PairsOfTopics.of([Topic("1", query) for query in queries]))
    return member


TOPICS = [Topic(f"t{n}", " ".join(VOCABULARY[n : n + 3])) for n in range(6)]


def _retrieve(resources, members, tmp_path, depth=30, **options):
    resources.checkpoint = lambda _folder: members
    folder = described(tmp_path / "checkpoint", "dual-encoder")
    retriever = DualEncoderSearch(DualSearchOptions(checkpoint=folder, **options))
    return retriever.retrieve(TOPICS, depth, resources)


def _expected(resources, members, topic):
    """The mean of the rerankers' scores of every document, best first."""
    doc_ids = list(resources.texts)
    scores = np.mean([m.score(topic, resources.documents(doc_ids)) for m in members], axis=0)
    return sorted(zip(scores, doc_ids, strict=True), reverse=True)


def _agree(ranking, expected, depth):
    assert len(ranking) == depth
    assert np.allclose(ranking.scores, [score for score, _ in expected[:depth]], atol=1e-5)
    scores = {doc_id: score for score, doc_id in expected}
    assert np.allclose([scores[d] for d in ranking.doc_ids], ranking.scores, atol=1e-5)


def test_it_ranks_by_the_mean_of_the_rerankers_scores(resources, tmp_path):
    members = [_member(resources, seed) for seed in (1, 2, 3)]
    run = _retrieve(resources, members, tmp_path)
    for topic in TOPICS:
        _agree(run.rankings[topic.id], _expected(resources, members, topic), 30)


def test_clusters_that_are_all_looked_at_find_the_same(resources, tmp_path):
    members = [_member(resources, 1)]
    run = _retrieve(resources, members, tmp_path, index="ivf", probes=10_000)
    for topic in TOPICS:
        expected = _expected(resources, members, topic)
        ranking = run.rankings[topic.id]
        assert np.allclose(ranking.scores, [score for score, _ in expected[:30]], atol=5e-3)


def test_a_topic_is_searched_with_the_members_that_did_not_learn_from_it(resources, tmp_path):
    members = [
        _member(resources, 1, [TOPICS[0].query, TOPICS[2].query]),
        _member(resources, 2, [TOPICS[1].query, TOPICS[2].query]),
    ]
    run = _retrieve(resources, members, tmp_path)
    _agree(run.rankings["t0"], _expected(resources, members[1:], TOPICS[0]), 30)
    _agree(run.rankings["t1"], _expected(resources, members[:1], TOPICS[1]), 30)
    _agree(run.rankings["t2"], _expected(resources, members, TOPICS[2]), 30)
    _agree(run.rankings["t3"], _expected(resources, members, TOPICS[3]), 30)
    assert resources.notices == []


def test_what_all_members_learned_from_is_told_of_every_search(resources, tmp_path):
    folder = described(tmp_path / "checkpoint", "dual-encoder", members=2)
    for number, places in enumerate(([0, 2], [1, 2])):
        (folder / f"member-{number}").mkdir()
        Learned.of(PairsOfTopics.of([TOPICS[n] for n in places])).save(folder / f"member-{number}")
    retriever = DualEncoderSearch(DualSearchOptions(checkpoint=folder))
    warning = retriever.describe_run(TOPICS, resources)["warning"]
    assert warning.startswith(
        "WARNING: the dual encoder was trained on 1 of these 6 topics: what it"
    )
    assert resources.notices == [warning]
    assert retriever.describe_run(TOPICS[:2], resources) == {}
    assert retriever.reads().checkpoints == (folder,)
    pairs = DualEncoderSearch(DualSearchOptions.model_validate({"pairs": {"passages": 3}}))
    assert pairs.describe_run(TOPICS, resources) == {}
    assert pairs.reads().checkpoints == ()


def test_shares_are_even_over_what_did_not_learn():
    learned = np.array([[True, False, False], [False, False, False], [True, True, True]])
    third = 1 / 3
    assert np.allclose(shares_of(learned), [[0, 0.5, 0.5], [third] * 3, [third] * 3])


def test_more_than_there_is_and_nothing_to_ask(resources, tmp_path):
    resources.checkpoint = lambda _folder: [_member(resources, 1)]
    folder = described(tmp_path / "checkpoint", "dual-encoder")
    retriever = DualEncoderSearch(DualSearchOptions(checkpoint=folder))
    topics = [TOPICS[0], Topic("strange", "nobodyknowsthis")]
    run = retriever.retrieve(topics, 1000, resources)
    assert len(run.rankings["t0"]) == len(resources.texts)
    assert len(run.rankings["strange"]) == 0


def test_of_a_file_of_pairs_every_topic_is_searched_without_its_source(resources, tmp_path):
    random = np.random.default_rng(5)
    lines = ["citing_id\tsentence\tcited_title\n"]
    for number in range(300):
        asks, finds = (" ".join(random.choice(VOCABULARY, 4)) for _ in range(2))
        lines.append(f"s{number // 3}\t{asks}\t{finds}\n")
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(lines), encoding="utf-8")
    options = DualSearchOptions.model_validate(
        {"pairs": {"file": file, "loop": {"epochs": 1}}, "folds": 2, "projection": 8}
    )
    retriever = DualEncoderSearch(options)
    topics = [Topic("new", TOPICS[0].query), Topic("old", TOPICS[0].query, {"citing_id": "s7"})]
    run = retriever.retrieve(topics, 20, resources)
    members = retriever._members(resources)
    assert resources.built.count("dual-encoder-pairs") == 2
    unseen = [encoder for encoder, marks in members if not marks.knows(topics[1], "citing_id")]
    assert len(unseen) == 1
    rows = np.arange(resources.index.count)
    for topic, encoders in ((topics[0], [e for e, _ in members]), (topics[1], unseen)):
        scores = np.mean([e.documents(rows) @ e.queries([topic.query])[0] for e in encoders], 0)
        ranking = run.rankings[topic.id]
        assert np.allclose(ranking.scores, np.sort(scores)[::-1][:20], atol=1e-5)


def test_passages_alone_train_one_model(resources):
    options = DualSearchOptions.model_validate(
        {"pairs": {"passages": 2, "loop": {"epochs": 1}}, "projection": 8}
    )
    retriever = DualEncoderSearch(options)
    assert retriever.reads() == Reads()
    with pytest.raises(InputError, match="too few pairs"):  # these documents have no titles
        retriever.retrieve(TOPICS, 20, resources)


def test_what_it_depends_on_follows_the_files(tmp_path):
    folder = tmp_path / "checkpoint" / "member-0"
    folder.mkdir(parents=True)
    weights = folder / "dual-encoder.safetensors"
    WeightFile(weights).save({"a": torch.zeros(1)}, {})
    described(folder.parent, "dual-encoder")
    retriever = chosen("dual-encoder", "retriever", checkpoint=folder.parent)
    before = retriever.describe_reads()
    WeightFile(weights).save({"a": torch.ones(1)}, {})
    assert retriever.describe_reads() != before
    weights.write_bytes(b"2")
    with pytest.raises(
        InputError, match=r"dual-encoder\.safetensors: this is not a safetensors file"
    ):
        retriever.describe_reads()


def test_without_a_model_or_with_two_it_says_what_it_needs(resources, tmp_path):
    with pytest.raises(InputError, match=r"checkpoint': FOLDER.*pairs\.file': FILE.*passages': 3"):
        DualEncoderSearch().reads()
    options = {"checkpoint": tmp_path, "pairs": {"file": tmp_path / "x"}}
    with pytest.raises(InputError, match="not both"):
        DualEncoderSearch(DualSearchOptions.model_validate(options)).reads()
    other = described(tmp_path / "other", "delta")
    with pytest.raises(InputError, match="a checkpoint of 'delta'; retriever 'dual-encoder'"):
        DualEncoderSearch(DualSearchOptions(checkpoint=other)).reads()
    with pytest.raises(InputError, match="no checkpoint here"):
        DualEncoderSearch(DualSearchOptions(checkpoint=tmp_path / "none")).reads()
