"""Curves of systems: precision over recall, and gain over ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.evaluation.judgments import Judgments
from irplatform.evaluation.scoring import evaluations_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.data import Qrels
    from irplatform.runs.run import Run

_RECALLS = tuple(n / 10 for n in range(11))
_CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)


@dataclass(frozen=True)
class Curve:
    """A curve for each system.

    Attributes:
        name: the curve's name, such as "Precision over recall".
        x: what the horizontal axis shows.
        y: what the vertical axis shows.
        points: system to points (x, y), from left to right.
        logarithmic: whether the horizontal axis is.
    """

    name: str
    x: str
    y: str
    points: Mapping[str, tuple[tuple[float, float], ...]]
    logarithmic: bool = False


def curves(qrels: Qrels, runs: Mapping[str, Run]) -> list[Curve]:
    """Return the curves of runs, as means over topics.

    Precision is interpolated, at eleven levels of recall, as trec_eval does it. Gain is nDCG with
    the cutoffs 1 to 100.

    Args:
        qrels: judgments.
        runs: system to run.

    Examples:
        >>> from irplatform.runs import Ranking, Run
        >>> run = Run("one", {"1": Ranking.of(["a", "b"], [2, 1])})
        >>> precision, gain = curves({"1": {"b": 1}}, {"one": run})
        >>> precision.points["one"][0], round(gain.points["one"][1][1], 2)
        ((0.0, 0.5), 0.63)
    """
    by_recall = {f"IPrec@{recall:.1f}": recall for recall in _RECALLS}
    by_cutoff = {f"nDCG@{cutoff}": float(cutoff) for cutoff in _CUTOFFS}
    measures = [*by_recall, *by_cutoff]
    judgments = Judgments(qrels, None, measures)
    scored = evaluations_of(judgments, runs, measures, None, "drawing curves")
    means = {name: evaluation.aggregate for name, evaluation in scored.items()}

    def points(places: Mapping[str, float]) -> dict[str, tuple[tuple[float, float], ...]]:
        return {
            name: tuple((x, values[measure]) for measure, x in places.items())
            for name, values in means.items()
        }

    return [
        Curve("Precision over recall", "recall", "precision (interpolated)", points(by_recall)),
        Curve("Gain over ranks", "first documents", "nDCG", points(by_cutoff), logarithmic=True),
    ]
