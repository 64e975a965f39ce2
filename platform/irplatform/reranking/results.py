"""What a reranker made of candidates: two runs, and the facts that are kept of them.

The facts stand in the cache under all that the runs depend on. The runs themselves do not: a folder
that has them needs no others, and elsewhere they are made again from the scores.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from irplatform.collection_resources import UsageLog
from irplatform.files.code_digests import our_digest
from irplatform.files.costs import Work, measured
from irplatform.files.digests import fingerprint
from irplatform.files.facts import keep_fact, known_fact
from irplatform.reranking.systems import ChosenReranker, FittedReranker
from irplatform.runs import Run
from irplatform.runs.names import alone_name
from irplatform.runs.run import Later
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from irplatform.collection_resources import CollectionResources
    from irplatform.reranking.training_set import LearningPlan
    from irplatform.retrieval.candidates import Candidates

_KIND = "result"
_FORMAT = 1
"""Raise it when the runs of a system change with the same scores."""


@dataclass(frozen=True)
class RerankedRun:
    """The runs that a reranker makes of the candidates: alone, and mixed with the first stage.

    `weight` is the first stage's share, the mean over folds; `weights` has that of each fold. There
    is one system, without its members, or one per fold. The resources are those that made it. The
    identity stands for all that the runs depend on; "" if that is not known.
    """

    alone: Run
    final: Run
    weight: float
    systems: Sequence[FittedReranker]
    resources: CollectionResources
    warnings: Sequence[str] = ()
    weights: Sequence[float] = ()
    identity: str = ""

    def identity_of(self, part: str) -> str:
        """What stands for all that one of the two runs depends on."""
        return self.identity and fingerprint({"run": self.identity, "of": part})

    def with_suffix(self, suffix: str) -> RerankedRun:
        """Return the same, under longer names."""
        final = f"{self.final.name}{suffix}"
        return replace(
            self, alone=self.alone.renamed(alone_name(final)), final=self.final.renamed(final)
        )


def depends_on(
    choice: ChosenReranker,
    candidates: Candidates,
    learning: LearningPlan,
    resources: CollectionResources,
) -> dict[str, Any]:
    """All that a reranker's runs of candidates depend on, as JSON."""
    return {
        "format": _FORMAT,
        "irplatform": __version__,
        "code": our_digest(),
        "name": choice.name,
        "system": choice.describe(),
        "members": choice.members,
        "candidates": candidates.judged_identity if learning.folds else candidates.identity,
        "learned from": learning.describe(choice),
        "corpus": resources.corpus.fingerprint,
        "vectors": resources.source.describe(),
        "seed": resources.seed,
        "device": resources.device,
        "model_threads": resources.model_threads,
    }


def is_known(
    choice: ChosenReranker,
    candidates: Candidates,
    learning: LearningPlan,
    resources: CollectionResources,
) -> bool:
    """Tell if `known_or_made` would make nothing."""
    key = depends_on(choice, candidates, learning, resources)
    return known_fact(_KIND, choice.registration.name, key) is not None


def known_or_made(
    choice: ChosenReranker,
    candidates: Candidates,
    learning: LearningPlan,
    resources: CollectionResources,
    make: Callable[[Sequence[FittedReranker]], RerankedRun],
) -> RerankedRun:
    """Return what `make` returns, or the same with facts from the cache and runs that come later.

    `make` is given the systems, without members, if they are known.

    Notices that were shown when it was made are shown again. Nothing is kept of rerankers that keep
    their own answers.
    """
    if choice.traits.keeps_answers:
        return make(())
    key, label = depends_on(choice, candidates, learning, resources), choice.registration.name
    fact = known_fact(_KIND, label, key)
    work = Work("weigh", choice.registration.name, len(candidates.topics))
    if fact is None:
        with resources.record() as usage, measured(work):
            run = make(())
        keep_fact(_KIND, label, key, {**_facts(run), "used": asdict(usage)})
        return replace(run, identity=fingerprint(key))
    resources.replay(UsageLog(**fact["used"]))
    systems = [FittedReranker(choice, (), **system) for system in fact["systems"]]

    @cache
    def again() -> RerankedRun:
        with measured(work):
            return make(systems)

    return RerankedRun(
        Run(alone_name(choice.name), Later(lambda: again().alone.rankings)),
        Run(choice.name, Later(lambda: again().final.rankings)),
        fact["weight"],
        systems,
        resources,
        fact["warnings"],
        fact["weights"],
        fingerprint(key),
    )


def _facts(run: RerankedRun) -> dict[str, Any]:
    systems = [
        {
            "weight": system.weight,
            "fingerprint": system.fingerprint,
            "description": system.description,
            "chosen_on": system.chosen_on,
        }
        for system in run.systems
    ]
    return {
        "weight": run.weight,
        "weights": [*run.weights],
        "warnings": [*run.warnings],
        "systems": systems,
    }
