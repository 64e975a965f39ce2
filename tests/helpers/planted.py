"""A tiny task that only word vectors tell: relevant documents speak of the query's subject."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from small import labelled, small_resources, words
from small_files import files_of

from irplatform.plugin import TrainingData

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from small import SmallResources

    from irplatform.plugin import LabelledTopic, Reranker

SUBJECTS = 4
WORDS_OF_SUBJECT = 40
TOPICS = 100
CANDIDATES = 12
RELEVANT = 3
DIMENSIONS = 16
TITLE_WORDS = 4
FEW = 20
"""Topics, where nothing depends on what is learned."""

_WORDS = words(SUBJECTS * WORDS_OF_SUBJECT + 60)
OTHERS = _WORDS[SUBJECTS * WORDS_OF_SUBJECT :]


def subject_words(number: int) -> list[str]:
    """The words of a subject."""
    return _WORDS[number * WORDS_OF_SUBJECT :][:WORDS_OF_SUBJECT]


def planted_resources(folder: Path, *, titled: bool = False) -> SmallResources:
    """Documents and vectors: the words of a subject lie close to one another.

    Args:
        folder: for the forward index.
        titled: whether the first words of each document are its title.
    """
    random = np.random.default_rng(8)
    centers = 3 * np.linalg.qr(random.normal(size=(DIMENSIONS, SUBJECTS)))[0].T
    vectors = {word: random.normal(scale=0.3, size=DIMENSIONS) for word in OTHERS}
    for number, center in enumerate(centers):
        for word in subject_words(number):
            vectors[word] = center + random.normal(scale=0.2, size=DIMENSIONS)
    texts = {"glossary": " ".join(_WORDS)}  # a word that no document has is known to no model
    for topic in range(TOPICS):
        for number in range(CANDIDATES):
            wrong = (topic + random.integers(1, SUBJECTS)) % SUBJECTS
            about = topic % SUBJECTS if number < RELEVANT else wrong
            text = [*random.choice(OTHERS, 7), *random.choice(subject_words(about)[:-10], 2)]
            texts[f"t{topic}d{number}"] = " ".join(random.permutation(text))
    if not titled:
        return small_resources(folder, texts, vectors)
    parts = {doc_id: text.split() for doc_id, text in texts.items()}
    titles = {doc_id: " ".join(tokens[:TITLE_WORDS]) for doc_id, tokens in parts.items()}
    abstracts = {doc_id: " ".join(tokens[TITLE_WORDS:]) for doc_id, tokens in parts.items()}
    return replace(small_resources(folder, abstracts, vectors, titles=titles), texts=texts)


def planted_topics(numbers: Sequence[int]) -> list[LabelledTopic]:
    """Topics; their words are in no candidate, so that no word matches exactly."""
    return [
        labelled(
            f"t{n}",
            [f"t{n}d{d}" for d in np.random.default_rng(n).permutation(CANDIDATES)],
            {f"t{n}d{d}": 1 for d in range(RELEVANT)},
            query=subject_words(n % SUBJECTS)[-1 - n % 10],
        )
        for n in numbers
    ]


def longer_planted_topics(numbers: Sequence[int]) -> list[LabelledTopic]:
    """Topics whose queries have so many words."""
    queries = [topic.topic.query for topic in planted_topics(range(max(numbers)))]
    return [
        replace(topic, topic=replace(topic.topic, query=" ".join(queries[:number])))
        for topic, number in zip(planted_topics(range(len(numbers))), numbers, strict=True)
    ]


def planted_data(workspace: Path, topics: int = 70) -> TrainingData:
    """Topics to learn from, up to 70, and 10 to validate on; 20 are left."""
    workspace.mkdir(exist_ok=True)
    return TrainingData(planted_topics(range(topics)), planted_topics(range(70, 80)), workspace)


def scores(reranker: Reranker, resources: SmallResources, topic: LabelledTopic) -> np.ndarray:
    """Scores of a topic's candidates."""
    return np.array(reranker.score(topic.topic, resources.documents(topic.candidates)))


def hinge_loss(task, batch, score: Callable[[LabelledTopic], Sequence[float]]) -> float:
    """The weighted hinge of a batch's pairs, each scored alone as a topic's only candidates."""
    total = 0.0
    columns = batch.topic, batch.higher, batch.lower, batch.weight
    for number, high, low, weight in zip(*columns, strict=True):
        ids = task.sampler.pools[number].doc_ids
        pair = replace(task.sampler.topics[number], candidates=(ids[high], ids[low]))
        higher, lower = score(pair)
        total += weight * max(0.0, 1 - higher + lower)
    return total / batch.weight.sum()


def precision_at_1(
    reranker: Reranker,
    resources: SmallResources,
    topics: Sequence[LabelledTopic] = tuple(planted_topics(range(80, TOPICS))),
) -> float:
    """Over some topics, by default those that are left."""
    hits = [
        topic.candidates[int(scores(reranker, resources, topic).argmax())] in topic.judgments
        for topic in topics
    ]
    return float(np.mean(hits))


def saved(reranker: Reranker, folder: Path) -> dict[str, bytes]:
    """What a reranker saves into a new folder."""
    folder.mkdir()
    reranker.save(folder)
    return files_of(folder)


def check_independence(reranker: Reranker, resources: SmallResources, atol: float = 1e-5) -> None:
    """Scores do not change with the order and the number of a topic's documents."""
    (topic,) = planted_topics([85])
    together = scores(reranker, resources, topic)
    assert len(set(together.tolist())) > 1
    order = np.random.default_rng(0).permutation(len(together))
    shuffled = replace(topic, candidates=tuple(topic.candidates[i] for i in order))
    assert np.allclose(scores(reranker, resources, shuffled), together[order], atol=atol)
    for number, doc_id in enumerate(topic.candidates):
        alone = replace(topic, candidates=(doc_id,))
        assert np.allclose(scores(reranker, resources, alone), together[number], atol=atol)


class KilledError(Exception):
    """Stands for the end of a process."""


def check_resuming(make, resources: SmallResources, folder: Path, monkeypatch) -> None:
    """A training that is cut off after two epochs goes on to the same weights, to the byte.

    Args:
        make: returns a fresh reranker, not yet prepared.
        resources: to prepare it with.
        folder: for workspaces and weights.
        monkeypatch: pytest's.
    """
    from irplatform.training import validation

    undisturbed = make()
    undisturbed.prepare(resources)
    undisturbed.fit(planted_data(folder / "undisturbed", FEW))
    expected = saved(undisturbed, folder / "expected")

    calls = []
    validate = validation.Validator.__call__

    def until_killed(self, score):
        calls.append(1)
        if len(calls) == 3:
            raise KilledError
        return validate(self, score)

    cut_off = make()
    cut_off.prepare(resources)
    with monkeypatch.context() as patched:
        patched.setattr(validation.Validator, "__call__", until_killed)
        try:
            cut_off.fit(planted_data(folder / "work", FEW))
        except KilledError:
            pass
        else:
            raise AssertionError("training took fewer than three epochs")
    assert (folder / "work" / "state.safetensors").exists()
    again = make()
    again.prepare(resources)
    again.fit(planted_data(folder / "work", FEW))
    assert saved(again, folder / "resumed") == expected
