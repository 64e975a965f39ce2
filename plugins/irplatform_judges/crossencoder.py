"""The judge `cross-encoder`: a ranker's scores, and thresholds that turn them into grades.

A document has at least a grade if its score reaches the grade's threshold. Each threshold is the
one with the best agreement with people about "at least this grade": Cohen's kappa (Cohen, 1960),
which corrects for how rare a grade is. Thresholds do not fall from grade to grade.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pydantic reads annotations
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from irplatform.plugin import (
    Documents,
    Field,
    InputError,
    Judge,
    NamedSystem,
    Options,
    Reads,
    Topic,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.plugin import Resources

_NAME = "cross-encoder"
"""Of the judge, and of the reranker of models in Hugging Face format."""
_DIFFERENCE = 2e-5
"""Between scores that get different grades, of the largest one."""
_POOR = 0.1
"""A kappa that is close to chance."""


class CrossEncoderJudgeOptions(Options):
    """Options of the judge that has a ranker's scores."""

    model: Path | None = Field(
        None,
        description="a folder: a cross-encoder in Hugging Face format, or a checkpoint of `train`",
    )


class CrossEncoderJudge(Judge):
    """A cross-encoder's scores, by thresholds that are fitted on judged documents.

    The model is a folder: a sequence classifier of yours, or a checkpoint that `platform train`
    wrote, such as one of vanilla-bert.
    """

    Options = CrossEncoderJudgeOptions
    citation: ClassVar[str] = (
        "Rodrigo Nogueira, Kyunghyun Cho. Passage Re-ranking with BERT. arXiv:1901.04085, 2019."
    )
    options: CrossEncoderJudgeOptions
    _thresholds: Sequence[float] = ()

    def reads(self) -> Reads:
        """The model."""
        if self._is_checkpoint:
            return Reads(checkpoints=(self._folder,))
        return Reads(systems=(NamedSystem("reranker", _NAME, self._ranker, "model"),))

    def prepare(self, resources: Resources) -> None:
        """Open the model."""
        self._resources = resources
        if self._is_checkpoint:
            self._members = [*resources.checkpoint(self._folder)]
        else:
            self._members = [resources.reranker(_NAME, self._ranker)]

    def fit(self, judged: Sequence[Judge.Judged], grades: Judge.Grades) -> None:
        """Fit the thresholds, and say how well they tell grades apart."""
        scores = []
        with self._resources.progress("fitting", len(judged), "topics") as advance:
            for topic, documents, _ in judged:
                scores.append(self._scores(topic, documents))
                advance(1)
        people = np.concatenate([np.array(judgments, dtype=np.int64) for _, _, judgments in judged])
        fitted = fitted_thresholds(np.concatenate(scores), people, sorted(grades))
        self._thresholds = [float(f"{threshold:.5g}") for threshold, _ in fitted]
        levels = zip(sorted(grades)[1:], fitted, strict=True)
        said = ", ".join(f"{kappa:.2f} (at least {level})" for level, (_, kappa) in levels)
        said = f"thresholds fitted on {len(people):,} documents, with a kappa of {said}"
        if fitted[0][1] < _POOR:
            said += ": these scores hardly tell what people found relevant; take another model"
        self._resources.notice(said)

    def judge(self, topic: Topic, documents: Documents, grades: Judge.Grades) -> list[int | None]:
        """Grades by score; InputError if it is not fitted to these grades."""
        if len(self._thresholds) != len(grades) - 1:
            raise InputError(
                "'cross-encoder' has no thresholds for these grades: fit it on judged documents."
            )
        levels = sorted(grades)
        places = np.searchsorted(self._thresholds, self._scores(topic, documents), side="right")
        return [levels[place] for place in places]

    def version(self, grades: Judge.Grades) -> str:
        """The name of the model's folder, whose digest the platform adds, and the thresholds."""
        del grades
        thresholds = ",".join(f"{threshold:g}" for threshold in self._thresholds)
        return f"model:{'_'.join(self._folder.name.split())} thresholds:{thresholds}"

    def _scores(self, topic: Topic, documents: Documents) -> npt.NDArray[np.float64]:
        members = [np.asarray(member.score(topic, documents), float) for member in self._members]
        mean: npt.NDArray[np.float64] = np.mean(members, axis=0)
        return mean

    @property
    def _folder(self) -> Path:
        if self.options.model is None:
            raise InputError(
                "'cross-encoder' needs a model: its option `model` "
                f"({Options.spelled({'cross-encoder.model': 'FOLDER'})}), a folder."
            )
        return self.options.model.expanduser()

    @property
    def _is_checkpoint(self) -> bool:
        return (self._folder / "checkpoint.json").is_file()

    @property
    def _ranker(self) -> dict[str, str]:
        return {"model": str(self._folder)}


def fitted_thresholds(
    scores: npt.NDArray[np.float64], grades: npt.NDArray[np.int64], levels: Sequence[int]
) -> list[tuple[float, float]]:
    """Fit thresholds.

    Args:
        scores: of documents, [n].
        grades: theirs, [n].
        levels: all grades, ascending.

    Returns:
        The threshold of each grade but the lowest, ascending, and its kappa; infinite, and 0, from
        the first grade that no document reaches.
    """
    order = np.argsort(-scores, kind="stable")
    scores, grades = scores[order], grades[order]
    count, ranks = len(scores), np.arange(1, len(scores) + 1)
    # Scores that differ by rounding alone, as they do in another batch, get one grade.
    alike = _DIFFERENCE * np.abs(scores).max()
    ends = np.flatnonzero(np.diff(scores, append=-np.inf) < -alike)
    thresholds = []
    for level in reversed(levels[1:]):
        reached = np.cumsum(grades >= level)
        people = reached[-1]
        if not people:
            thresholds.append((np.inf, 0.0))
            continue
        chance = ranks * (count - people) + people * (count - ranks)
        kappa = 2 * (count * reached - ranks * people) / np.maximum(chance, 1)
        best = ends[np.argmax(kappa[ends])]
        ends = ends[ends >= best]
        thresholds.append((float(scores[best : best + 2].mean()), float(kappa[best])))
    return thresholds[::-1]
