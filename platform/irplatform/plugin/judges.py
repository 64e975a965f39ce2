"""The contract of judges, machines that judge documents. Subclass `Judge` and define `judge`.

    class TitleJudge(Judge):
        '''Documents whose title has all words of the query get the highest grade.'''

        def judge(self, topic: Topic, documents: Documents, grades: Judge.Grades) -> list[int]:
            asked = set(topic.query.lower().split())
            best, worst = max(grades), min(grades)
            return [best if asked <= {*d.title.lower().split()} else worst for d in documents]

`platform qrels judge` judges the documents of a pool with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from irplatform.errors import InputError
from irplatform.plugin.declarations import Declared
from irplatform.spelling import option

if TYPE_CHECKING:
    from irplatform.data import Documents, Topic
    from irplatform.plugin.resources import Resources

Grades: TypeAlias = Mapping[int, str]


@dataclass(frozen=True)
class Tokens:
    """Tokens that a service counts: those that it reads, and those that it writes."""

    read: int = 0
    written: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.read + other.read, self.written + other.written)


class RegisterJudge(Protocol):
    """Registers a judge under a name, as `RegisterReranker` does."""

    def __call__(self, name: str, system: type[Judge] | str, /, **defaults: object) -> None: ...  # noqa: D102


class Judge(Declared):
    """Gives grades to documents for a topic.

    Attributes:
        Grades: grades with their definitions: `{0: "not relevant", 1: "relevant"}`.
        Judged: documents of a topic with the grade of each: (topic, documents, grades).
        Tokens: what a service counts: `Judge.Tokens(read=1200, written=8)`.
        Register: the argument of `register_judges`: `register(name, class_or_place, **defaults)`.
    """

    Grades: TypeAlias = Grades
    Judged: TypeAlias = "tuple[Topic, Documents, Sequence[int]]"
    Tokens: TypeAlias = Tokens
    Register: TypeAlias = RegisterJudge

    def prepare(self, resources: Resources) -> None:
        """Take resources; called once, before all else."""

    def fit(self, judged: Sequence[Judged], grades: Grades) -> None:
        """Learn from judged documents, such as thresholds; called if the user names some.

        The platform adds these topics to the version. InputError if this judge learns nothing.
        """
        del judged, grades
        raise InputError(
            f"{type(self).__name__} does not learn from judged documents: leave out "
            f"{option('fit_on')} and {option('fit_topics')}."
        )

    def judge(self, topic: Topic, documents: Documents, grades: Grades) -> Sequence[int | None]:
        """Judge documents for a topic.

        Args:
            topic: the topic.
            documents: documents of the topic, from one to a few dozen.
            grades: the grades to choose from, with their definitions, two at least.

        Returns:
            One of the grades per document, or None where it stays unjudged. A grade does not
            depend on the other documents or their order.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define judge()")

    def version(self, grades: Grades) -> str:
        """Return what decides beside the judge's name, in words; called after `fit`.

        It changes whenever grades may: `model:NAME`, by which a ranker of the same model is told,
        thresholds, a mark of the prompt. The platform adds digests of the files that an option
        `model` names. The default is the version of its package and a mark of code and options.
        """
        del grades
        return ""

    def tokens(self, topic: Topic, documents: Documents, grades: Grades) -> Tokens:
        """Return about how many tokens `judge` would pay for; none by default."""
        del topic, documents, grades
        return Tokens()

    def spent(self) -> Tokens:
        """Return the tokens that were paid for since `prepare`."""
        return Tokens()
