"""Where a reranker breaks its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irplatform.conformance.answers import changes, difference
from irplatform.conformance.learning import learned, losses
from irplatform.errors import PluginError
from irplatform.plugin import Reranker, TrainableReranker
from irplatform.registry.answers import json_mapping
from irplatform.reranking.scoring import score_topics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.conformance.answers import Answers
    from irplatform.conformance.ground import Asked, Ground
    from irplatform.reranking.systems import RerankerChoice


def problems_of_reranker(choice: RerankerChoice, ground: Ground) -> Iterator[str]:
    """What breaks the contract, each in a line.

    Raises:
        InputError: its options name what is not there.
        PluginError: it fails.
    """
    at_work, resources = choice.registration.at_work, ground.resources

    def scores(reranker: Reranker, asked: Asked) -> Answers:
        topics, candidates = [topic for topic, _ in asked], {t.id: ids for t, ids in asked}
        found = score_topics(choice.registration, [reranker], topics, candidates, resources)
        return [found[topic.id] for topic in topics]

    def learner() -> TrainableReranker:
        made = choice.create(resources)
        assert isinstance(made, TrainableReranker)  # as `choice.trainable` says
        return made

    choice.check()
    if choice.trainable:
        trained = learned(learner, at_work, ground)
        yield from losses(trained, learner, at_work, scores, ground)
        member: Reranker = trained
    else:
        member = choice.create(resources)
        again = scores(choice.create(resources), ground.asked)
        if told := difference(ground.asked, scores(member, ground.asked), again):
            yield f"{told} by another instance"
    yield from changes(lambda asked: scores(member, asked), ground.asked)
    expected = scores(member, ground.asked)
    yield from _without_batches(choice, member, ground, expected)
    yield from _explanations(choice, member, ground, expected)


def _without_batches(
    choice: RerankerChoice, member: Reranker, ground: Ground, expected: Answers
) -> Iterator[str]:
    """`score` beside a `score_batch` of its own, which runs use."""
    if type(member).score_batch is Reranker.score_batch or type(member).score is Reranker.score:
        return
    found = []
    for topic, doc_ids in ground.asked:
        with choice.registration.at_work(f"scoring topic {topic.id}"):
            given = member.score(topic, ground.resources.documents(doc_ids))
        found.append(np.asarray(given, dtype=np.float64))
    if told := difference(ground.asked, expected, found):
        yield f"{told} by score() beside score_batch()"


def _explanations(
    choice: RerankerChoice, member: Reranker, ground: Ground, expected: Answers
) -> Iterator[str]:
    """The scores that it explains, where it does."""
    if type(member).explain is Reranker.explain:
        return
    topic, doc_ids = ground.asked[0]
    with choice.registration.at_work(f"explaining topic {topic.id}"):
        told = list(member.explain(topic, ground.resources.documents(doc_ids)))
    if len(told) != len(doc_ids):
        raise PluginError(
            f"{choice.registration.who} explained {len(told)} documents, not {len(doc_ids)}."
        )
    entries = [json_mapping(choice.registration.who, "explain", each) for each in told]
    if not all(isinstance(entry.get("score"), int | float) for entry in entries):
        yield "explain() tells no score of some documents"
        return
    explained = np.array([entry["score"] for entry in entries], dtype=np.float64)
    if wrong := difference(ground.asked[:1], expected[:1], [explained]):
        yield f"{wrong} in explain()"
