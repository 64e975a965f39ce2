"""The judge `cross-encoder`: a ranker's scores, and thresholds that turn them into grades."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pydantic reads annotations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from irplatform.kit import Checkpoint, digests, fingerprint
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
from irplatform_judges.thresholds import fitted_thresholds, grade_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from irplatform.plugin import Resources

_NAME = "cross-encoder"
_RERANKER = "cross-encoder"
_DESCRIPTION = "checkpoint.json"
_DIGITS = 5


class CrossEncoderJudgeOptions(Options):
    """Options of the judge that has a ranker's scores."""

    model: Path | None = Field(
        None,
        description="a folder: a cross-encoder in Hugging Face format, or a checkpoint of `train`",
    )
    settings: dict[str, Any] = Field(
        {}, description="options of the reranker `cross-encoder`, such as max_length"
    )
    thresholds: tuple[float, ...] = Field(
        (), description="the score of each grade but the lowest, ascending; none: they are fitted"
    )


class CrossEncoderJudge(Judge):
    """A cross-encoder's scores, by thresholds that are fitted on judged documents.

    The model is a folder: a sequence classifier of yours, or a checkpoint that `platform train`
    wrote, such as one of vanilla-bert. Thresholds are fitted on judged documents, or given.
    """

    Options = CrossEncoderJudgeOptions
    citation: ClassVar[str] = (
        "Rodrigo Nogueira, Kyunghyun Cho. Passage Re-ranking with BERT. arXiv:1901.04085, 2019."
    )
    options: CrossEncoderJudgeOptions

    def reads(self) -> Reads:
        """The model."""
        if sorted(self.options.thresholds) != [*self.options.thresholds]:
            raise InputError("cross-encoder.thresholds are ascending numbers.")
        folder = self._folder()
        if self._is_checkpoint(folder):
            return Reads(checkpoints=(folder,))
        settings = {**self.options.settings, "model": str(folder)}
        system = NamedSystem("reranker", _RERANKER, settings, "model", "settings")
        return Reads(systems=(system,))

    def prepare(self, resources: Resources) -> None:
        """Open the model."""
        folder = self._folder()
        if self._is_checkpoint(folder):
            Checkpoint.read(folder)
            self._members = [*resources.checkpoint(folder)]
        else:
            settings = {**self.options.settings, "model": str(folder)}
            self._members = [resources.reranker(_RERANKER, settings)]
        self._thresholds = [*self.options.thresholds]
        self._resources = resources

    def fit(self, judged: Sequence[Judge.Judged], grades: Judge.Grades) -> None:
        """Fit the thresholds.

        Raises:
            InputError: thresholds are given.
        """
        if self.options.thresholds:
            raise InputError("cross-encoder.thresholds are given: leave them out to fit them.")
        scores = []
        with self._resources.progress("fitting", len(judged), "topics") as done:
            for topic, documents, _ in judged:
                scores.append(self._scores(topic, documents))
                done(1)
        levels = sorted(grades)
        given = np.concatenate([np.array(own, dtype=np.int64) for _, _, own in judged])
        thresholds = fitted_thresholds(np.concatenate(scores), given, levels)
        self._thresholds = [float(f"{each:.{_DIGITS}g}") for each in thresholds]
        if np.inf in self._thresholds:
            lacking = [str(level) for level in levels[1:] if not (given >= level).any()]
            self._resources.notice(
                f"cross-encoder: no judged document reaches {', '.join(lacking)}, which no "
                "document gets"
            )

    def judge(self, topic: Topic, documents: Documents, grades: Judge.Grades) -> list[int | None]:
        """Grades by score.

        Raises:
            InputError: there are no thresholds, or not one for each grade but the lowest.
        """
        levels = sorted(grades)
        if len(self._thresholds) != len(levels) - 1:
            raise InputError(
                f"cross-encoder has {len(self._thresholds)} thresholds for {len(levels)} grades: "
                f"fit it on judged documents, or give {len(levels) - 1} with "
                f"{Options.spelled({'cross-encoder.thresholds': '[…]'})}."
            )
        scores = self._scores(topic, documents)
        return [grade_of(score, self._thresholds, levels) for score in scores.tolist()]

    def version(self, grades: Judge.Grades) -> str:
        """The model's folder, and the thresholds."""
        del grades
        folder = self._folder()
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        mark = fingerprint({"model": [*digests(files)], "settings": self.options.settings})
        shown = ",".join(f"{each:.{_DIGITS}g}" for each in self._thresholds)
        return f"model:{'_'.join(folder.name.split())} {mark[:8]} thresholds:{shown}"

    def _scores(self, topic: Topic, documents: Documents) -> npt.NDArray[np.float64]:
        members = [np.asarray(each.score(topic, documents), float) for each in self._members]
        mean: npt.NDArray[np.float64] = np.mean(members, axis=0)
        return mean

    def _folder(self) -> Path:
        if self.options.model is None:
            raise InputError(
                "'cross-encoder' needs a model: its option `model` "
                f"({Options.spelled({'cross-encoder.model': 'FOLDER'})}), a folder."
            )
        return self.options.model.expanduser()

    @staticmethod
    def _is_checkpoint(folder: Path) -> bool:
        return (folder / _DESCRIPTION).is_file()
