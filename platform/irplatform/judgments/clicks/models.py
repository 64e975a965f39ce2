"""Click models: who looks at a rank, and who clicks on what they see.

A user who examines a document clicks on it with a probability that depends on its grade. What is
examined differs. In the position-based model every rank r is examined with probability r^−η, of its
own accord (Richardson, Dominowska and Ragno, WWW 2007; the decay as in Joachims, Swaminathan and
Schnabel, WSDM 2017). In the cascade model users go down from the first rank and stop at a click
(Craswell, Zoeter, Taylor and Ramsey, WSDM 2008); with `stop` below 1 they stop at a click only with
that probability, which is the simplified dynamic Bayesian network of Chapelle and Zhang (WWW 2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Model = Literal["position", "cascade"]

Clicks = npt.NDArray[np.bool_]
Probabilities = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Behaviour:
    """What simulated users do.

    Attributes:
        model: "position" or "cascade".
        decay: η, how fast examination falls with the rank (0: not at all); "position" only.
        stop: probability of ending a session at a click; "cascade" only.
        noise: probability of a click on an examined document that is not relevant.
        by_grade: probabilities of a click by grade, in place of those that noise makes.
        fulltext: probability that a click on a document of the highest grade goes on to its full
            text, where there is one; on another document it is less, as the click itself is.
    """

    model: Model = "position"
    decay: float = 1.0
    stop: float = 1.0
    noise: float = 0.1
    by_grade: Mapping[int, float] | None = None
    fulltext: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.decay < np.inf:
            raise InputError("the decay of examination must be 0 or more.")
        grade_chances = {f"of a click at grade {g}": p for g, p in (self.by_grade or {}).items()}
        for what, probability in {
            "of stopping": self.stop,
            "of noise": self.noise,
            "of going on to the full text": self.fulltext,
            **grade_chances,
        }.items():
            if not 0 <= probability <= 1:
                raise InputError(f"the probability {what} lies between 0 and 1, not {probability}.")

    def attraction(self, grades: npt.NDArray[np.float64], highest: float) -> Probabilities:
        """Probabilities of a click on documents that are examined.

        By default noise + (1 − noise)·(2^g − 1)/(2^highest − 1), as Chapelle, Metzler, Zhang and
        Grinspan (CIKM 2009) turn grades into probabilities of satisfaction. With `by_grade`, a
        grade that is not named has the probability of the next lower one that is, or noise.

        Args:
            grades: of the documents, any shape; below 0 counts as 0.
            highest: the highest grade of the collection.
        """
        clipped = np.minimum(np.maximum(grades, 0), highest)
        if self.by_grade is None:
            top = 1 - np.exp2(-max(highest, 1))
            gain = (np.exp2(clipped - highest) - np.exp2(-highest)) / top
            return np.asarray(self.noise + (1 - self.noise) * gain)
        chance_of = {-1: self.noise} | dict(self.by_grade)
        named_grades = sorted(chance_of)
        values = np.array([chance_of[grade] for grade in named_grades])
        next_lower = np.searchsorted(named_grades, clipped, side="right") - 1
        return np.asarray(values[next_lower])

    def click(self, attraction: Probabilities, random: np.random.Generator) -> Clicks:
        """Which documents are clicked on.

        Args:
            attraction: probability of a click on each document once it is examined, [sessions,
                ranks].
            random: drawn from twice as often as there are documents, whatever the model.
        """
        looks, stops = random.random((2, *attraction.shape))
        if self.model == "position":
            examined = np.arange(1.0, attraction.shape[1] + 1) ** -self.decay
            return np.asarray(looks < attraction * examined)
        would_click = looks < attraction
        ends = would_click & (stops < self.stop)
        ended_above = np.cumsum(ends, axis=1) - ends > 0
        return np.asarray(would_click & ~ended_above)


def parse_by_grade(texts: Iterable[str]) -> dict[int, float] | None:
    """Probabilities of a click written as `GRADE=P`; None where there are none.

    Raises:
        InputError: one is not of that form, or a grade comes twice.
    """
    chances: dict[int, float] = {}
    for text in texts:
        grade, _, probability = text.partition("=")
        try:
            number, chance = int(grade), float(probability)
        except ValueError as error:
            raise InputError(
                f"'{text}' is no probability of a click; write it as GRADE=P, such as 2=0.9."
            ) from error
        if number in chances or number < 0:
            raise InputError(f"'{text}': grades are 0 or more, and each is named once.")
        chances[number] = chance
    return chances or None
