"""The contract of first-stage retrievers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from irplatform.options import Options as BaseOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Topic
    from irplatform.plugin.resources import Resources
    from irplatform.runs import Run


class Retriever:
    """Finds candidates for topics. Subclass it and override `retrieve`.

    Attributes:
        Options: the class of its options.
        citation: where the method comes from.
        on_device: whether it computes on the device of the resources, such as a GPU; its rankings
            are then kept for each, and for each number of `model_threads`.
        seeded: whether its rankings may depend on the seed of the resources; they are then kept for
            each. One that draws nothing says False, so that runs with other seeds share them.
        limits_dates: whether it leaves out what a topic's field `published_before` excludes.
            Otherwise the platform does, and searches deeper where that takes documents away.
    """

    Options: ClassVar[type[BaseOptions]] = BaseOptions
    citation: ClassVar[str] = ""
    on_device: ClassVar[bool] = False
    seeded: ClassVar[bool] = True
    limits_dates: ClassVar[bool] = False

    def __init__(self, options: BaseOptions | None = None) -> None:
        self.options: BaseOptions = options if options is not None else type(self).Options()

    @property
    def needs(self) -> Sequence[str]:
        """Modules that the platform's core does not bring and that it imports: `("torch",)`.

        Where one is missing, a command says so before it begins. A plain attribute will do.
        """
        return ()

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        """Rank at most `depth` documents for every topic.

        Returns:
            A run with an entry for every topic, empty where nothing was found.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define retrieve()")

    def depends_on(self) -> Mapping[str, object]:
        """The cache key of its runs, beside what the platform knows, as JSON.

        Name whatever can change a ranking and is not among the options, the index, the topics and
        the source of the plugin, such as the digest of another file. If something is missing here,
        runs of before are used again.
        """
        return {}

    def checkpoints(self) -> Sequence[Path]:
        """Folders of the checkpoints that it searches with, which its options name.

        Whoever reads its scores as features has learned from what these learned from: a run that
        evaluates on such topics says so. What a search itself should say of them, `about` says.
        Called on an instance that is not prepared.
        """
        return ()

    def remark(self) -> str:
        """A line under the table, where the method is not quite what its name says; or ""."""
        return ""

    def check_topics(self, topics: Sequence[Topic]) -> None:
        """Raise an InputError where options do not fit the topics of a collection.

        It is asked before any work; topics that are only learned from need not fit.
        """
        del topics

    def about(self, topics: Sequence[Topic], resources: Resources) -> Mapping[str, object]:
        """What the metadata of a run should say of how its topics are searched, as JSON.

        It is asked for runs of the cache too: what their reader must know is told here, with
        `resources.notice`. A text under "warning" is also among the warnings of the report.
        """
        del topics, resources
        return {}

    def explain(self, topic: Topic, resources: Resources) -> Mapping[str, object]:
        """The query that it makes of a topic, as JSON; see `irplatform.expansion`."""
        del resources
        return {"kind": "words", "field": "contents", "text": topic.query}
