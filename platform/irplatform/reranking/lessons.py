"""What systems are fitted on: judged topics with their candidates."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.plugin import LabelledTopic, Topic
from irplatform.storage import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.runs import Ranking


@dataclass(frozen=True)
class Example:
    """A judged topic with its candidates and what the first stage thinks of them."""

    labelled: LabelledTopic
    first: Ranking

    @property
    def topic(self) -> Topic:
        """The topic."""
        return self.labelled.topic


@dataclass(frozen=True)
class Lessons:
    """What systems are fitted on.

    Attributes:
        label: where it comes from, for messages and names: the training collection's id.
        training: judged topics.
        validation: judged topics apart, where the collection has them.
    """

    label: str
    training: Sequence[Example]
    validation: Sequence[Example] | None = None

    def digest(self) -> str:
        """Stands for topics, candidates, first-stage scores and judgments."""
        mark = hashlib.sha256()
        for part in (self.training, self.validation or ()):
            mark.update(b"\0part")
            for example in part:
                held = example.labelled
                mark.update(fingerprint({"topic": held.topic.describe()}).encode())
                mark.update(repr(held.candidates).encode())
                mark.update(repr(sorted(held.judgments.items())).encode())
                mark.update(example.first.scores.tobytes())
        return mark.hexdigest()[:16]


def examples(
    topics: Sequence[Topic],
    judgments: Mapping[str, Mapping[str, int]],
    first: Mapping[str, Ranking],
    candidates: Mapping[str, tuple[str, ...]],
) -> list[Example]:
    """The topics that have judgments, with their candidates."""
    found = []
    for topic in topics:
        if topic.id in judgments:
            scores = dict(first[topic.id])
            held = candidates[topic.id]
            labelled = LabelledTopic(
                topic, held, judgments[topic.id], tuple(scores[d] for d in held)
            )
            found.append(Example(labelled, first[topic.id]))
    return found
